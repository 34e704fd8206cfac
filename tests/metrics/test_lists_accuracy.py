import pytest
from hypothesis import given
from oracles import pro_items as oracle
from oracles.pro_texts import golds, predictions
from oracles.texts import examples

from lm_eval_longbench.metrics.lists import accuracy

CASES = {
    "equal": ("[Answer]\nB", ["B"], 1.0),
    "case and whitespace": ("[Answer]\n part   b ", ["Part B"], 1.0),
    "another": ("[Answer]\nC", ["B"], 0.0),
    "only the first item": ("[Answer]\nB\nC\nwhatever", ["B"], 1.0),
    "right in the second line": ("[Answer]\nC\nB", ["B"], 0.0),
    "only the first gold item": ("[Answer]\nB", ["C", "B"], 0.0),
    "further gold items are not asked for": ("[Answer]\nB", ["B", "C"], 1.0),
    "a part is not enough": ("[Answer]\nB because", ["B"], 0.0),
    "without a mark the first line counts": ("B\nbecause", ["B"], 1.0),
    "the text before the answer without a mark": ("I think\nB", ["B"], 0.0),
    "the Chinese mark is text behind the English": ("[Answer]\nE\n[答案]\nE", ["E"], 1.0),
    "nothing behind the mark": ("B\n[Answer]", ["B"], 0.0),
    "no gold item": ("B", [], 0.0),
}


@pytest.mark.parametrize("score", [accuracy, oracle.accuracy], ids=["metric", "oracle"])
@pytest.mark.parametrize(("prediction", "answers", "expected"), CASES.values(), ids=CASES.keys())
def test_hand_worked(score, prediction, answers, expected):
    assert score(prediction, answers) == expected


@examples(300)
@given(predictions, golds)
def test_equals_oracle(prediction, answers):
    assert accuracy(prediction, answers) == oracle.accuracy(prediction, answers)
