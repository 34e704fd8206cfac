"""Which decoded values scoring can use."""

import pytest

from lm_eval_longbench.benchmarks.sample import is_texts, is_whole, text_id


@pytest.mark.parametrize("value", [["a"], ["", "b"], ["\ud800"]])
def test_lists_of_texts(value):
    assert is_texts(value)


@pytest.mark.parametrize(
    "value", [[], None, "ab", ["a", None], ["a", 1], [["a"]], {"a": 1}, ("a",)]
)
def test_what_is_no_list_of_texts(value):
    assert not is_texts(value)


def test_whole_numbers():
    assert [is_whole(value, 1, 3) for value in (0, 1, 3, 4)] == [False, True, True, False]
    assert not any(is_whole(value, 0, 9) for value in (True, 1.0, "1", None, [1]))


@pytest.mark.parametrize(
    ("value", "expected"),
    [("a", "a"), (7, "7"), ("", None), (None, None), (True, None), (1.5, None), (["a"], None)],
)
def test_ids(value, expected):
    assert text_id(value) == expected
