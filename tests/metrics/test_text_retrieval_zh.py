import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import numbers_share as oracle
from oracles.texts import EXACT, anything, examples, joined

from lm_eval_longbench.metrics.text import retrieval_zh

texts = st.one_of(
    joined(["7", "07", "3", "段落", "段落7", "段", "Paragraph 7", "７", "七", " ", "。"], 10),
    anything,
)

CASES = {
    # prediction, answer, share of the numbers that are the gold one
    "equal": ("段落7", "段落7", 1.0),
    "bare number": ("7", "段落7", 1.0),
    "other number": ("段落8", "段落7", 0.0),
    "one of two": ("段落7和段落8", "段落7", 1 / 2),
    "strings, not values": ("段落07", "段落7", 0.0),
    "Chinese numeral is no digit": ("段落七", "段落7", 0.0),
    "full-width digit is another number": ("段落７", "段落7", 0.0),
    "full-width gold": ("段落７", "段落７", 1.0),
    "first number of the answer": ("5", "段落3、段落5", 0.0),
    "answer with a space": ("7", "段落 7", 0.0),
    "English answer": ("7", "Paragraph 7", 0.0),
    "answer without number": ("7", "段落", 0.0),
    "empty prediction": ("", "段落7", 0.0),
    "two empty texts": ("", "", 0.0),
}


@pytest.mark.parametrize("score", [retrieval_zh, oracle.retrieval_zh], ids=["metric", "oracle"])
@pytest.mark.parametrize(("prediction", "answer", "expected"), CASES.values(), ids=CASES.keys())
def test_hand_worked(score, prediction, answer, expected):
    assert score(prediction, answer) == expected


@examples(300)
@given(texts, texts)
def test_equals_oracle(prediction, answer):
    assert retrieval_zh(prediction, answer) == pytest.approx(
        oracle.retrieval_zh(prediction, answer), rel=0, abs=EXACT
    )
