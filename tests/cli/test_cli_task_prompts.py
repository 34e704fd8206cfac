"""Every task has a way from its documents to its prompts."""

import pytest

from lm_eval_longbench.catalog import SPLITS
from lm_eval_longbench.catalog_pro import BY_CODE
from lm_eval_longbench.cli.task_prompts import prompts_of_task
from lm_eval_longbench.errors import UnknownNameError
from lm_eval_longbench.prompts.truncation import ends_decoded_together, halves_decoded_apart


@pytest.mark.parametrize("task", [split.task for split in SPLITS])
def test_v1(task):
    prompts = prompts_of_task(task)
    row = prompts.load("sample").rows[0]
    assert row["context"] in prompts.render(row)
    assert prompts.rule is halves_decoded_apart


@pytest.mark.parametrize("code", BY_CODE)
def test_pro_in_both_forms(code):
    plain = prompts_of_task(f"longbench_pro_{code}")
    thinking = prompts_of_task(f"longbench_pro_thinking_{code}")
    row = plain.load("sample").rows[0]
    assert row["secondary_task"] == BY_CODE[code].name
    assert plain.render(row).endswith(row["question_nonthinking"].strip())
    assert thinking.render(row).endswith(row["question_thinking"].strip())
    assert plain.rule is thinking.rule is ends_decoded_together


def test_an_unknown_task_names_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'longbench_pro_t1_1'"):
        prompts_of_task("longbench_pro_t1.1")
