"""Types of decoded JSON: what is of one passes, all else is one error that names the place."""

import json
import math
from typing import Annotated, Any, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.shapes import Cosine, Count, Object, Positive, Within, checked

Share = Annotated[float, Within(0, 1)]


class Given(TypedDict):
    id: str | int
    texts: Annotated[list[str], Within(1)]


class Row(Given, total=False):
    score: Share | None


def problem(value, kind, place=""):
    with pytest.raises(PredictionError) as caught:
        checked(value, kind, "a.json, line 3, is no row", place)
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
    assert checked(value, Row, "x") is value


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
    assert problem(value, Row) == said


def test_a_place_in_a_larger_file():
    assert (
        problem({"b": {"c": "x"}}, dict[str, dict[str, int]], "a")
        == "'a.b.c' is 'x', not a whole number"
    )


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (bool, [True], [1, None, "true"]),
        (int, [0, -3], [True, 0.0, "0"]),
        (Count, [0], [-1, False]),
        (Positive, [1], [0]),
        (float, [1, 0.5, math.inf], [True, "1"]),
        (Cosine, [-1, 0.5, 1], [-1.5, math.nan, 2, True]),
        (Annotated[int, Within(most=3)], [-5, 3], [4, 1.5]),
        (list[int | None], [[], [1, None]], [["a"], None, {}]),
        (Object, [{}, {"a": [None]}], [[], None]),
        (Any, [None, [], 3], []),
    ],
)
def test_other_types(kind, good, bad):
    for value in good:
        checked(value, kind, "x")
    for value in bad:
        problem(value, kind)


def test_bounds_that_no_shape_lifts():
    assert checked({"seed": 2**64, "deep": json.loads("[" * 39 + "]" * 39)}, Any, "x")
    assert "a whole number beyond" in problem([{"a": 2**64 + 1}], Any)
    assert "a whole number beyond" in problem(-(10**4000), Any)
    assert "nested deeper than 40" in problem(json.loads("[" * 41 + "]" * 41), Any)
    assert "nested deeper than 40" in problem({"a": json.loads("[" * 900 + "]" * 900)}, Any)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON)
def test_any_value_passes_or_is_one_error(value):
    try:
        assert checked(value, Row, "x") is value
    except PredictionError as error:
        assert str(error).startswith("x: ")
    else:
        assert isinstance(value["id"], str | int) and all(
            isinstance(t, str) for t in value["texts"]
        )
