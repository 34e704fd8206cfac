import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import numbers_share as oracle
from oracles.texts import EXACT, anything, examples, joined

from lm_eval_longbench.metrics.text import retrieval

PARTS = ["7", "07", "17", "3", "Paragraph ", "Paragraph 7", "paragraph ", "段落", " ", ".", "-"]
texts = st.one_of(joined([*PARTS, "７", "٣", "²", "Ⅶ", "\n", "x"], 10), anything)

CASES = {
    # prediction, answer, share of the numbers that are the gold one
    "equal": ("Paragraph 7", "Paragraph 7", 1.0),
    "bare number": ("7", "Paragraph 7", 1.0),
    "other number": ("Paragraph 8", "Paragraph 7", 0.0),
    "one of two": ("7 or 8", "Paragraph 7", 1 / 2),
    "two of three": ("7, 7, 8", "Paragraph 7", 2 / 3),
    "no number": ("the seventh", "Paragraph 7", 0.0),
    "empty prediction": ("", "Paragraph 7", 0.0),
    "strings, not values": ("07", "Paragraph 7", 0.0),
    "leading zero in the answer": ("07", "Paragraph 07", 1.0),
    "part of a longer number": ("17", "Paragraph 7", 0.0),
    "decimal point splits": ("3.7", "Paragraph 7", 1 / 2),
    "letters end a number": ("x7y", "Paragraph 7", 1.0),
    "sign does not matter": ("-7", "Paragraph 7", 1.0),
    "thousands separator splits": ("1,007", "Paragraph 007", 1 / 2),
    "full-width digit is another number": ("7 ７", "Paragraph 7", 1 / 2),
    "full-width digit joins a run": ("7７", "Paragraph 7", 0.0),
    "Arabic-Indic digit as gold": ("٣", "Paragraph ٣", 1.0),
    "superscript is no digit": ("7²", "Paragraph 7", 1.0),
    "first number of the answer": ("3", "Paragraph 3 and Paragraph 5", 1.0),
    "second number of the answer": ("5", "Paragraph 3 and Paragraph 5", 0.0),
    "other numbers in the answer": ("7", "Of 30: Paragraph 7", 1.0),
    "answer in lower case": ("7", "paragraph 7", 0.0),
    "answer without space": ("7", "Paragraph7", 0.0),
    "answer with two spaces": ("7", "Paragraph  7", 0.0),
    "answer without number": ("7", "Paragraph ", 0.0),
    "Chinese answer": ("7", "段落7", 0.0),
    "bare answer": ("7", "7", 0.0),
    "two empty texts": ("", "", 0.0),
}


@pytest.mark.parametrize("score", [retrieval, oracle.retrieval], ids=["metric", "oracle"])
@pytest.mark.parametrize(("prediction", "answer", "expected"), CASES.values(), ids=CASES.keys())
def test_hand_worked(score, prediction, answer, expected):
    assert score(prediction, answer) == pytest.approx(expected, rel=0, abs=EXACT)


@examples(400)
@given(texts, texts)
def test_equals_oracle(prediction, answer):
    assert retrieval(prediction, answer) == pytest.approx(
        oracle.retrieval(prediction, answer), rel=0, abs=EXACT
    )


@examples(100)
@given(st.integers(1, 30), texts)
def test_a_numbered_answer_finds_itself(number, prediction):
    gold = f"Paragraph {number}"
    assert retrieval(gold, gold) == 1.0
    assert retrieval(f"{prediction} {number}", gold) > 0.0
