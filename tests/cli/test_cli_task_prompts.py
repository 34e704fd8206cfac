"""Every task has a way from its documents to its prompts."""

import pytest

from lm_eval_longbench.catalog import SPLITS
from lm_eval_longbench.catalog_pro import BY_CODE
from lm_eval_longbench.catalog_v2 import DOMAINS
from lm_eval_longbench.cli.task_prompts import prompts_of_task
from lm_eval_longbench.errors import PromptError, UnknownNameError
from lm_eval_longbench.prompts import longbench_v2
from lm_eval_longbench.prompts.truncation import RULE_PRO, RULE_V1, RULE_V2


@pytest.mark.parametrize("task", [split.task for split in SPLITS])
def test_v1(task):
    prompts = prompts_of_task(task)
    row = prompts.load("sample").rows[0]
    assert row["context"] in prompts.render(row)
    assert prompts.rule is RULE_V1


@pytest.mark.parametrize("code", BY_CODE)
def test_pro_in_both_forms(code):
    plain = prompts_of_task(f"longbench_pro_{code}")
    thinking = prompts_of_task(f"longbench_pro_thinking_{code}")
    row = plain.load("sample").rows[0]
    assert row["secondary_task"] == BY_CODE[code].name
    assert plain.render(row).endswith(row["question_nonthinking"].strip())
    assert thinking.render(row).endswith(row["question_thinking"].strip())
    assert plain.rule is thinking.rule is RULE_PRO


@pytest.mark.parametrize("task", ["longbench_v2", *(f"longbench_v2_{name}" for name in DOMAINS)])
def test_v2(task):
    prompts = prompts_of_task(task)
    rows = prompts.load("sample").rows
    assert len(rows) == (18 if task == "longbench_v2" else 3)
    assert prompts.render(rows[0]) == longbench_v2.render(rows[0], longbench_v2.ZERO_SHOT)
    assert prompts.rule is RULE_V2


def test_v2_modes():
    row = prompts_of_task("longbench_v2").load("sample").rows[0]
    no_context = prompts_of_task("longbench_v2_no_context").render(row)
    assert no_context == longbench_v2.render(row, longbench_v2.NO_CONTEXT)
    cot = prompts_of_task("longbench_v2_cot").render(row)
    assert cot == longbench_v2.render(row, longbench_v2.COT)
    answer = prompts_of_task("longbench_v2_cot_answer")
    expected = longbench_v2.render(row, longbench_v2.COT_ANSWER, "so")
    assert answer.render({**row, "cot": "so"}) == expected
    with pytest.raises(PromptError, match="reasoning of pass one"):
        answer.render(row)
    rag = prompts_of_task("longbench_v2_rag")
    assert "Retrieved chunk 1: " in rag.render(row)
    chunks = [{"c_idx": 3, "content": "three"}, {"c_idx": 1, "content": "one"}]
    given = rag.render({**row, "retrieved_context": chunks})
    assert "<text>\nRetrieved chunk 1: one\n\nRetrieved chunk 2: three\n</text>" in given


def test_an_unknown_task_names_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'longbench_pro_t1_1'"):
        prompts_of_task("longbench_pro_t1.1")
