import pytest
from hypothesis import given
from oracles import pro_items as oracle
from oracles.pro_texts import golds, predictions
from oracles.texts import EXACT, examples

from lm_eval_longbench.metrics.lists import sub_em

CASES = {
    # prediction, gold, found / gold
    "equal": ("a\nb", ["a", "b"], 1.0),
    "order does not matter": ("b\na", ["a", "b"], 1.0),
    "one of two": ("a", ["a", "b"], 1 / 2),
    "two of three": ("c\na", ["a", "b", "c"], 2 / 3),
    "none": ("x", ["a", "b"], 0.0),
    "further items cost nothing": ("x\na\ny\n\nz", ["a"], 1.0),
    "case and whitespace": ("TOTAL  7", ["total 7"], 1.0),
    "a part of a line is not enough": ("the total is 7", ["7"], 0.0),
    "a line that is part of the gold item": ("7", ["total 7"], 0.0),
    "a gold item twice counts twice": ("a", ["a", "a", "b"], 2 / 3),
    "a predicted item twice counts once": ("a\na", ["a", "b"], 1 / 2),
    "items before the mark do not count": ("a\n[Answer]\nb", ["a", "b"], 1 / 2),
    "nothing": ("", ["a"], 0.0),
    "no gold item": ("a", [], 0.0),
}


@pytest.mark.parametrize("score", [sub_em, oracle.sub_em], ids=["metric", "oracle"])
@pytest.mark.parametrize(("prediction", "answers", "expected"), CASES.values(), ids=CASES.keys())
def test_hand_worked(score, prediction, answers, expected):
    assert score(prediction, answers) == pytest.approx(expected, rel=0, abs=EXACT)


@examples(400)
@given(predictions, golds)
def test_equals_oracle(prediction, answers):
    assert sub_em(prediction, answers) == pytest.approx(
        oracle.sub_em(prediction, answers), rel=0, abs=EXACT
    )
