import pytest
from hypothesis import given
from oracles import pro_items as oracle
from oracles.pro_texts import golds, predictions
from oracles.texts import examples

from lm_eval_longbench.metrics.lists import gold_items, last_positions, prediction_items

PREDICTIONS = {
    "one a line": ("a\nb", ["a", "b"]),
    "only behind the mark": ("a\n[Answer]\nb\nc", ["b", "c"]),
    "lower case": ("Part A\nÉ", ["part a", "é"]),
    "whitespace in a line": ("a  b\t c\n\u3000d\xa0", ["a b c", "d"]),
    "lines around the area are stripped": ("\n\na\n \n", ["a"]),
    "an empty line inside is an item": ("a\n\n \nb", ["a", "", "", "b"]),
    "carriage return is whitespace": ("a\r\nb\rc", ["a", "b c"]),
    "line separator is whitespace": ("a\u2028b\x0bc", ["a b c"]),
    "commas do not split": ("a, b", ["a, b"]),
    "bullets stay": ("- a\n1. b", ["- a", "1. b"]),
    "repetitions stay": ("a\nA\na", ["a", "a", "a"]),
    "empty": ("", [""]),
    "nothing behind the mark": ("a\n[Answer]\n", [""]),
}
GOLDS = {
    "normalized": (["Part  A", " b\t"], ["part a", "b"]),
    "a newline does not split": (["a\nb"], ["a b"]),
    "no area is taken out": (["[Answer] a"], ["[answer] a"]),
    "none": ([], []),
    "an empty one stays": (["", "a"], ["", "a"]),
}


@pytest.mark.parametrize("items", [prediction_items, oracle.predicted], ids=["metric", "oracle"])
@pytest.mark.parametrize(("text", "expected"), PREDICTIONS.values(), ids=PREDICTIONS.keys())
def test_prediction(items, text, expected):
    assert items(text) == expected


@pytest.mark.parametrize("items", [gold_items, oracle.golden], ids=["metric", "oracle"])
@pytest.mark.parametrize(("answers", "expected"), GOLDS.values(), ids=GOLDS.keys())
def test_gold(items, answers, expected):
    assert items(answers) == expected


def test_last_positions():
    # a stands at 0 and 2, b at 1, c at 3
    assert list(last_positions(["a", "b", "a", "c"]).items()) == [("b", 1), ("a", 2), ("c", 3)]
    assert last_positions([]) == {}


@examples(300)
@given(predictions, golds)
def test_equals_oracle(prediction, answers):
    items = prediction_items(prediction)
    assert items == oracle.predicted(prediction)
    assert gold_items(answers) == oracle.golden(answers)
    found = last_positions(items)
    assert found == {item: oracle.last_index(items, item) for item in items}
    assert list(found.values()) == sorted(found.values())
