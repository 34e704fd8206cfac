"""Prompts of LongBench v2: sequential replacement, stripped values, chunks in document order."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from v2_prompts import (
    COT,
    COT_ANSWER,
    NO_CONTEXT,
    RAG,
    ZERO_SHOT,
    load_template,
    render,
)

from lm_eval_longbench.benchmarks.modes import retrieved_document
from lm_eval_longbench.errors import PromptError

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden" / "prompts.jsonl"
TEMPLATES = (ZERO_SHOT, NO_CONTEXT, COT, COT_ANSWER, RAG)
DOCUMENT = {
    "context": "\n A text with {braces}. ",
    "question": "Which one? ",
    "choice_A": " first",
    "choice_B": "second\n",
    "choice_C": "third",
    "choice_D": "fourth",
}
CHOICES = "(A) first\n(B) second\n(C) third\n(D) fourth"


def test_the_zero_shot_prompt_whole():
    assert render(DOCUMENT, ZERO_SHOT) == (
        "Please read the following text and answer the question below.\n\n<text>\n"
        "A text with {braces}.\n</text>\n\nWhat is the correct answer to this question: "
        f"Which one?\nChoices:\n{CHOICES}\n\n"
        'Format your response as follows: "The correct answer is (insert answer here)".'
    )


def test_the_reasoning_goes_in_last_and_stripped():
    prompt = render(DOCUMENT, COT_ANSWER, "\n so it is $Q$, (B). \n")
    assert "Let’s think step by step: so it is $Q$, (B).\n\nBased on the above" in prompt
    assert "The text is too long and omitted here." in prompt
    assert "braces" not in prompt
    assert render(DOCUMENT, COT).endswith("\n\nLet’s think step by step:")


TEXTS = st.text(st.sampled_from("ab $QDOC_A") | st.characters(codec="utf-8"), max_size=30)


@given(st.fixed_dictionaries(dict.fromkeys(DOCUMENT, TEXTS)), st.sampled_from(TEMPLATES))
def test_against_replacing_by_hand(document, template):
    expected = load_template(template)
    for mark, name in zip(
        ("$DOC$", "$Q$", "$C_A$", "$C_B$", "$C_C$", "$C_D$"), DOCUMENT, strict=True
    ):
        if mark != "$DOC$" or template not in (NO_CONTEXT, COT_ANSWER):
            expected = document[name].strip().join(expected.split(mark))
    if template == COT_ANSWER:
        expected = "thought".join(expected.split("$COT$"))
    assert render(document, template, " thought ") == expected


def test_chunks_come_in_the_order_of_the_document():
    chunks = [
        {"c_idx": 7, "content": "late"},
        {"c_idx": 2, "content": "early"},
        {"c_idx": 5, "content": "dropped"},
    ]
    assert retrieved_document(chunks, 2) == "Retrieved chunk 1: early\n\nRetrieved chunk 2: late"
    assert retrieved_document(chunks, 9).count("Retrieved chunk") == 3


@pytest.mark.parametrize("field", DOCUMENT)
def test_a_missing_or_wrong_field_is_named(field):
    without = {name: text for name, text in DOCUMENT.items() if name != field}
    with pytest.raises(PromptError, match=f"field '{field}' as a text; the document has no such"):
        render(without, ZERO_SHOT)
    with pytest.raises(PromptError, match=f"field '{field}' as a text; the document has int"):
        render({**DOCUMENT, field: 3}, ZERO_SHOT)


def test_no_reasoning_is_an_error():
    with pytest.raises(PromptError, match="reasoning of pass one"):
        render(DOCUMENT, COT_ANSWER)


@pytest.mark.skipif(not GOLDEN.exists(), reason="no golden prompts beside this checkout")
def test_golden_prompts():
    seen = set()
    for line in GOLDEN.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["benchmark"] != "longbench_v2":
            continue
        document = row["doc"]
        if row["template"] == RAG:
            text = retrieved_document(row["retrieved_context"], int(row["rag_top_n"]))
            document = {**document, "context": text}
        assert render(document, row["template"], row.get("cot")) == row["prompt"]
        seen.add(row["template"])
    assert seen == set(TEMPLATES)
