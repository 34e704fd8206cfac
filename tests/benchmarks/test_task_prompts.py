"""Every task has a way from its documents to its prompts."""

import pytest
import v2_prompts as longbench_v2_prompts
from longbench_pro_facts import BY_CODE
from longbench_v2_facts import DOMAINS

from lm_eval_longbench.benchmarks.registry import benchmark_of, find_task
from lm_eval_longbench.benchmarks.v1 import V1, E
from lm_eval_longbench.errors import PromptError
from lm_eval_longbench.prompts.truncation import RULE_PRO, RULE_V1, RULE_V2


def rows_of(name):
    task = find_task(name)
    return benchmark_of(task).load(task, "sample").rows


def render(name, row):
    task = find_task(name)
    return benchmark_of(task).render(task, row)


def rule_of(name):
    return benchmark_of(find_task(name)).rule


@pytest.mark.parametrize("task", [*V1.tasks, *E.tasks])
def test_v1(task):
    row = rows_of(task)[0]
    assert row["context"] in render(task, row)
    assert rule_of(task) == RULE_V1


@pytest.mark.parametrize("code", BY_CODE)
def test_pro_in_both_forms(code):
    plain, thinking = f"longbench_pro_{code}", f"longbench_pro_thinking_{code}"
    row = rows_of(plain)[0]
    assert row["secondary_task"] == BY_CODE[code].name
    assert render(plain, row).endswith(row["question_nonthinking"].strip())
    assert render(thinking, row).endswith(row["question_thinking"].strip())
    assert rule_of(plain) == rule_of(thinking) == RULE_PRO


@pytest.mark.parametrize("task", ["longbench_v2", *(f"longbench_v2_{name}" for name in DOMAINS)])
def test_v2(task):
    rows = rows_of(task)
    assert len(rows) == (18 if task == "longbench_v2" else 3)
    assert render(task, rows[0]) == longbench_v2_prompts.render(
        rows[0], longbench_v2_prompts.ZERO_SHOT
    )
    assert rule_of(task) == RULE_V2


def test_v2_modes():
    row = rows_of("longbench_v2")[0]
    no_context = render("longbench_v2_no_context", row)
    assert no_context == longbench_v2_prompts.render(row, longbench_v2_prompts.NO_CONTEXT)
    assert render("longbench_v2_cot", row) == longbench_v2_prompts.render(
        row, longbench_v2_prompts.COT
    )
    expected = longbench_v2_prompts.render(row, longbench_v2_prompts.COT_ANSWER, "so")
    assert render("longbench_v2_cot_answer", {**row, "cot": "so"}) == expected
    with pytest.raises(PromptError, match="reasoning of pass one"):
        render("longbench_v2_cot_answer", row)
    assert "Retrieved chunk 1: " in render("longbench_v2_rag", row)
    chunks = [{"c_idx": 3, "content": "three"}, {"c_idx": 1, "content": "one"}]
    given = render("longbench_v2_rag", {**row, "retrieved_context": chunks})
    assert "<text>\nRetrieved chunk 1: one\n\nRetrieved chunk 2: three\n</text>" in given
