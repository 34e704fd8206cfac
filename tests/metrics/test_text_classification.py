import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import classification as oracle
from oracles.texts import examples, joined

from lm_eval_longbench.metrics.text import classification

names = st.sampled_from(["", "a", "b", "c", "ab", "bc", "abc", "abcd", "x", "A", "北京", "北"])
lists = st.lists(names, max_size=8)
predictions = joined(["a", "b", "c", "d", "abc", "abcd", "x", " ", "A", "北京", "\n"], 8)

CASES = {
    # prediction, answer, classes, score
    "found alone": ("Date", "Date", ["Date", "Food"], 1.0),
    "found inside other words": ("My Dates.", "Date", ["Date", "Food"], 1.0),
    "case matters": ("date", "Date", ["Date", "Food"], 0.0),
    "not found": ("Food", "Date", ["Date", "Food"], 0.0),
    "one of two found": ("Date or Food", "Date", ["Date", "Food", "Price"], 1 / 2),
    "one of three found": ("Price, Date, Food", "Date", ["Date", "Food", "Price"], 1 / 3),
    "found twice counts once": ("Date Date Food", "Date", ["Date", "Food"], 1 / 2),
    "nothing found": ("no idea", "Date", ["Date", "Food"], 0.0),
    "empty prediction": ("", "Date", ["Date", "Food"], 0.0),
    "no classes": ("Date", "Date", [], 0.0),
    "truth is no class": ("Date", "Date", ["Food"], 0.0),
    "class inside the truth is dropped": ("hot tea", "hot tea", ["tea", "hot tea"], 1.0),
    "dropped after the truth, too": ("hot tea", "hot tea", ["hot tea", "tea"], 1.0),
    "class around the truth stays": ("hot tea", "tea", ["tea", "hot tea"], 1 / 2),
    # found: a b abc. a goes, the walk passes over b: b and abc are left. A true filter gives 1.
    "walk passes over the next after a removal": ("abc", "abc", ["a", "b", "abc"], 1 / 2),
    "the same behind the truth": ("abc", "abc", ["abc", "a", "b"], 1 / 2),
    # found: a b c abc. a goes, b passed over, c goes, abc passed over: b and abc are left.
    "it looks again at the one after": ("abc", "abc", ["a", "b", "c", "abc"], 1 / 2),
    # found: a x b abc. a goes, x passed over, b goes: x and abc are left.
    "passing over something harmless": ("x abc", "abc", ["a", "x", "b", "abc"], 1 / 2),
    # found: a b x abc. a goes, b passed over, x stays: b, x and abc are left.
    "order of the classes matters": ("x abc", "abc", ["a", "b", "x", "abc"], 1 / 3),
    # The order of the prediction does not: found is in class order.
    "order of the prediction does not": ("abc x", "abc", ["a", "b", "x", "abc"], 1 / 3),
    "classes that were not found are not walked": ("bc", "bc", ["a", "b", "bc"], 1.0),
    "an empty class is found and dropped": ("Date", "Date", ["", "Date"], 1.0),
    "Chinese": ("类别：体育新闻", "体育新闻", ["体育", "体育新闻", "军事"], 1.0),
}


@pytest.mark.parametrize("score", [classification, oracle.classification], ids=["metric", "oracle"])
@pytest.mark.parametrize(
    ("prediction", "answer", "classes", "expected"), CASES.values(), ids=CASES.keys()
)
def test_hand_worked(score, prediction, answer, classes, expected):
    assert score(prediction, answer, classes) == expected


def test_the_class_list_is_left_alone():
    classes = ["a", "b", "abc"]
    classification("abc", "abc", classes)
    assert classes == ["a", "b", "abc"]
    assert classification("abc", "abc", tuple(classes)) == 1 / 2


@examples(500)
@given(predictions, names, lists)
def test_equals_oracle(prediction, answer, classes):
    assert classification(prediction, answer, classes) == oracle.classification(
        prediction, answer, classes
    )


@examples(100)
@given(st.lists(st.sampled_from(["red", "green", "blue", "plum", "teal"]), unique=True, min_size=1))
def test_the_true_class_alone_scores_one(classes):
    assert [classification(name, name, classes) for name in classes] == [1.0] * len(classes)
