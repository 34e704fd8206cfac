import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import rouge_l_google as oracle
from oracles.texts import EXACT, anything, examples, joined

from lm_eval_longbench.metrics.rouge import rouge_l_google

texts = st.one_of(
    joined(["x ", "y ", "z ", "X ", "x", "7 ", "cats ", "-", ".", "\n", "é", "北", "İ", "_"], 30),
    anything,
)

CASES = {
    # prediction, answer, F = 2 * longest match / (words + words)
    "equal": ("the cat sat", "the cat sat", 1.0),
    "case": ("The CAT", "the cat", 1.0),
    "half of the prediction": ("x y", "x", 2 / 3),
    "order matters": ("y x", "x y", 1 / 2),  # match of 1: 2*1/(2+2)
    "gaps are allowed": ("x z y", "x y", 4 / 5),  # 2*2/(3+2)
    "repeated words count": ("x x x", "x", 1 / 2),  # 2*1/(3+1); distinct words would give 1
    "no stemmer": ("cats", "cat", 0.0),
    "full stops do not make pieces": ("y. x", "x y", 1 / 2),
    "punctuation splits words": ("well-known", "well known", 1.0),
    "letters beyond ASCII split words": ("caf\xe9s", "caf s", 1.0),
    "Chinese has no words": ("北京", "北京", 0.0),
    "two empty texts": ("", "", 0.0),
    "empty prediction": ("", "x", 0.0),
    "empty answer": ("x", "", 0.0),
}


@pytest.mark.parametrize("score", [rouge_l_google, oracle.rouge_l_google], ids=["metric", "oracle"])
@pytest.mark.parametrize(("prediction", "answer", "expected"), CASES.values(), ids=CASES.keys())
def test_hand_worked(score, prediction, answer, expected):
    assert score(prediction, answer) == pytest.approx(expected, rel=0, abs=EXACT)


@examples(250)
@given(texts, texts)
def test_equals_oracle(prediction, answer):
    assert rouge_l_google(prediction, answer) == pytest.approx(
        oracle.rouge_l_google(prediction, answer), rel=0, abs=EXACT
    )


@examples(100)
@given(texts, texts)
def test_symmetric(one, other):
    assert rouge_l_google(one, other) == pytest.approx(rouge_l_google(other, one), rel=0, abs=EXACT)


@examples(100)
@given(texts)
def test_a_text_against_itself(text):
    expected = 1.0 if oracle.tokens(text) else 0.0
    assert rouge_l_google(text, text) == pytest.approx(expected, rel=0, abs=EXACT)
