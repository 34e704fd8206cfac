"""The two prompt forms of LongBench Pro."""

import json
from pathlib import Path

import pytest

from lm_eval_longbench.benchmarks.pro import PRO
from lm_eval_longbench.errors import PromptError

GOLDEN = Path(__file__).resolve().parents[2].parent / "shared" / "golden" / "prompts.jsonl"
DOCUMENT = {
    "context": "\n Text with {question} and {context}.\n",
    "question_nonthinking": "Which? \n",
    "question_thinking": "Think. Which?",
}


def render(document, *, thinking):
    name = f"longbench_pro{'_thinking' if thinking else ''}_t1_1"
    return PRO.render(PRO.tasks[name], document)


def test_context_four_newlines_question_and_the_whole_is_stripped():
    # The context's own last newline stays: only the ends of the whole prompt are stripped.
    assert render(DOCUMENT, thinking=False) == (
        "Text with {question} and {context}.\n\n\n\n\nWhich?"
    )
    assert render(DOCUMENT, thinking=True).endswith("\n\n\n\n\nThink. Which?")


@pytest.mark.parametrize("thinking", [False, True])
def test_a_missing_field_is_named(thinking):
    form = "question_thinking" if thinking else "question_nonthinking"
    without = {name: text for name, text in DOCUMENT.items() if name != form}
    with pytest.raises(PromptError, match=form):
        render(without, thinking=thinking)
    with pytest.raises(PromptError, match="'context'"):
        render({form: "x"}, thinking=thinking)


@pytest.mark.skipif(not GOLDEN.exists(), reason="the golden prompts are not at hand")
def test_golden():
    cases = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
    cases = [case for case in cases if case["benchmark"] == "longbench_pro"]
    assert {case["template"] for case in cases} == {"nonthinking", "thinking"}
    for case in cases:
        assert render(case["doc"], thinking=case["template"] == "thinking") == case["prompt"]
