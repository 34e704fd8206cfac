"""Shapes of decoded JSON: what has one passes, all else is one error that names the place."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.logs.shapes import (
    ANY,
    COUNT,
    FLAG,
    NAME,
    NUMBER,
    OBJECT,
    POSITIVE,
    SCORE,
    TEXT,
    WHOLE,
    Each,
    Fields,
    ListOf,
    OrNull,
    Plain,
    checked,
)

ROW = Fields({"id": NAME, "texts": ListOf(TEXT, least=1)}, {"score": OrNull(SCORE)})


def problem(value, shape, place=""):
    with pytest.raises(PredictionError) as caught:
        checked(value, shape, "a.json, line 3, is no row", place)
    said = str(caught.value)
    assert said.startswith("a.json, line 3, is no row: ") and said.endswith(".")
    return said[len("a.json, line 3, is no row: ") : -1]


@pytest.mark.parametrize(
    "value",
    [
        {"id": 3, "texts": ["a"]},
        {"id": "x", "texts": ["a", ""], "score": None, "more": [1, {}]},
        {"id": -1, "texts": ["a"], "score": 0.5},
    ],
)
def test_what_has_the_shape(value):
    assert checked(value, ROW, "x") is value


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (3, "it is not a JSON object"),
        ({"texts": ["a"]}, "it has no 'id'"),
        ({"id": None, "texts": ["a"]}, "'id' is None, not a text or a whole number"),
        ({"id": True, "texts": ["a"]}, "'id' is True, not a text or a whole number"),
        ({"id": 1, "texts": []}, "'texts' is not a list of 1 or more"),
        ({"id": 1, "texts": "ab"}, "'texts' is not a list of 1 or more"),
        ({"id": 1, "texts": ["a", 2]}, "'texts[1]' is 2, not a text"),
        ({"id": 1, "texts": ["a"], "score": 1.5}, "'score' is 1.5, not a number from 0 to 1"),
        ({"id": 1, "texts": ["a"], "score": math.nan}, "'score' is nan, not a number from 0 to 1"),
        (
            {"id": ["x" * 90], "texts": ["a"]},
            f"'id' is ['{'x' * 58}..., not a text or a whole number",
        ),
    ],
)
def test_what_has_another_shape(value, said):
    assert problem(value, ROW) == said


def test_a_place_in_a_larger_file():
    assert (
        problem({"b": {"c": "x"}}, Each(Each(WHOLE)), "a") == "'a.b.c' is 'x', not a whole number"
    )


@pytest.mark.parametrize(
    ("shape", "good", "bad"),
    [
        (FLAG, [True], [1, None, "true"]),
        (WHOLE, [0, -3], [True, 0.0, "0"]),
        (COUNT, [0], [-1, False]),
        (POSITIVE, [1], [0]),
        (NUMBER, [1, 0.5, math.inf], [True, "1"]),
        (Plain("a letter", among=("A", "B")), ["A"], ["C", None, 1]),
        (OBJECT, [{}, {"a": [None]}], [[], None]),
        (ANY, [None, [], 3], []),
    ],
)
def test_plain_shapes(shape, good, bad):
    for value in good:
        checked(value, shape, "x")
    for value in bad:
        problem(value, shape)


def test_bounds_that_no_shape_lifts():
    assert checked({"seed": 2**64, "deep": json.loads("[" * 39 + "]" * 39)}, ANY, "x")
    assert "a whole number beyond" in problem([{"a": 2**64 + 1}], ANY)
    assert "a whole number beyond" in problem(-(10**4000), ANY)
    assert "nested deeper than 40" in problem(json.loads("[" * 41 + "]" * 41), ANY)
    assert "nested deeper than 40" in problem({"a": json.loads("[" * 900 + "]" * 900)}, ANY)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@settings(deadline=None)
@given(JSON)
def test_any_value_passes_or_is_one_error(value):
    try:
        assert checked(value, ROW, "x") is value
    except PredictionError as error:
        assert str(error).startswith("x: ")
    else:
        assert isinstance(value["id"], str | int) and all(
            isinstance(t, str) for t in value["texts"]
        )
