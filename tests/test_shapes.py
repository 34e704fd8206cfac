"""Types of decoded JSON: what is of one passes, all else is one error that names the place."""

import math
from typing import Annotated, Any

import pytest
from annotated_types import Ge, Le
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import TypedDict

from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.shapes import Count, Object, Positive, checked

Share = Annotated[float, Ge(0), Le(1)]


class Given(TypedDict):
    id: str | int
    texts: list[str]


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
        (3, "it is 3: input should be a valid dictionary"),
        ({"texts": ["a"]}, "it has no 'id'"),
        (
            {"id": None, "texts": ["a"]},
            "'id' is None: input should be a valid string or input should be a valid integer",
        ),
        ({"id": 1, "texts": ["a", 2]}, "'texts[1]' is 2: input should be a valid string"),
        (
            {"id": 1, "texts": ["a"], "score": 1.5},
            "'score' is 1.5: input should be less than or equal to 1",
        ),
        (
            {"id": 1, "texts": "x" * 90},
            f"'texts' is '{'x' * 59}...: input should be a valid list",
        ),
    ],
)
def test_what_has_another_shape(value, said):
    assert problem(value, Row) == said


def test_a_place_in_a_larger_file():
    assert (
        problem({"b": {"c": "x"}}, dict[str, dict[str, int]], "a")
        == "'a.b.c' is 'x': input should be a valid integer"
    )


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (bool, [True], [1, None, "true"]),
        (int, [0, -3], [True, 0.0, "0"]),
        (Count, [0], [-1, False]),
        (Positive, [1], [0]),
        (float, [1, 0.5, math.inf], [True, "1"]),
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
