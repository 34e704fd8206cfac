"""Each metric gives the scores that were worked out by hand, and those of its oracle."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import qa_f1, qa_f1_zh, rouge_l_google
from oracles.hand_worked import METRICS
from oracles.rouge_l import f_of
from oracles.texts import EXACT, examples

each_metric = pytest.mark.parametrize("name", METRICS)


def close(expected):
    return pytest.approx(expected, rel=0, abs=EXACT)


@pytest.mark.parametrize(
    ("name", "case"), [(name, case) for name, (*_, cases) in METRICS.items() for case in cases]
)
def test_hand_worked(name, case):
    metric, oracle, _, cases = METRICS[name]
    *given_, expected = cases[case]
    assert metric(*given_) == close(expected)
    assert oracle(*given_) == close(expected)


@each_metric
@examples(300)
@given(st.data())
def test_equals_oracle(name, data):
    metric, oracle, strategies, _ = METRICS[name]
    given_ = [data.draw(one) for one in strategies]
    assert metric(*given_) == close(oracle(*given_))


SYMMETRIC = ["qa_f1", "rouge_l_google"]
# What a text must hold to be worth something beside itself.
OWN = {
    "qa_f1": (qa_f1.tokens, 1.0),
    "qa_f1_zh": (qa_f1_zh.tokens, 1.0),
    "rouge_l": (lambda own: own.strip("."), f_of(1, 1)),
    "rouge_l_zh": (lambda own: own.strip("."), f_of(1, 1)),
    "rouge_l_google": (rouge_l_google.tokens, 1.0),
}


@pytest.mark.parametrize("name", SYMMETRIC)
@examples(150)
@given(st.data())
def test_symmetric(name, data):
    metric, _, (one, other), _ = METRICS[name]
    first, second = data.draw(one), data.draw(other)
    assert metric(first, second) == close(metric(second, first))


@pytest.mark.parametrize("name", OWN)
@examples(150)
@given(st.data())
def test_a_text_against_itself(name, data):
    (metric, _, (texts_, _), _), (holds, worth) = METRICS[name], OWN[name]
    own = data.draw(texts_)
    assert metric(own, own) == close(worth if holds(own) else 0.0)
