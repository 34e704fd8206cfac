import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import numbers_share as oracle
from oracles.texts import EXACT, anything, examples, joined

from lm_eval_longbench.metrics.text import count

texts = st.one_of(joined(["1", "2", "12", "012", " ", ".", "x", "１", "²", "\n"], 10), anything)
answers = st.one_of(st.sampled_from(["1", "2", "12", "012", "", " 12", "１"]), anything)

CASES = {
    # prediction, answer, share of the numbers that are the answer
    "equal": ("12", "12", 1.0),
    "in a sentence": ("There are 12 paragraphs.", "12", 1.0),
    "two of three": ("12 12 3", "12", 2 / 3),
    "other number": ("13", "12", 0.0),
    "part of a longer number": ("112", "12", 0.0),
    "strings, not values": ("012", "12", 0.0),
    "decimal point splits": ("12.5", "12", 1 / 2),
    "full-width digits are another number": ("１２ 12", "12", 1 / 2),
    "no number": ("twelve", "12", 0.0),
    "empty prediction": ("", "12", 0.0),
    "the answer is taken as it is": ("12", " 12", 0.0),
    "answer with words": ("12", "12 paragraphs", 0.0),
    "empty answer": ("12", "", 0.0),
    "two empty texts": ("", "", 0.0),
}


@pytest.mark.parametrize("score", [count, oracle.count], ids=["metric", "oracle"])
@pytest.mark.parametrize(("prediction", "answer", "expected"), CASES.values(), ids=CASES.keys())
def test_hand_worked(score, prediction, answer, expected):
    assert score(prediction, answer) == pytest.approx(expected, rel=0, abs=EXACT)


@examples(400)
@given(texts, answers)
def test_equals_oracle(prediction, answer):
    assert count(prediction, answer) == pytest.approx(
        oracle.count(prediction, answer), rel=0, abs=EXACT
    )


@examples(50)
@given(st.integers(0, 10**20))
def test_a_number_against_itself(number):
    assert count(str(number), str(number)) == 1.0
