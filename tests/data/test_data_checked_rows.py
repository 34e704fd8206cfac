"""Decoded elements become rows, and a wrong one is named with its file and number."""

import pytest

from lm_eval_longbench.data.rows import checked_rows, schema_problem
from lm_eval_longbench.errors import DataError

FIELDS = ("name", "note", "marks")
TEXTS = ("name", "note")
ROW = {"name": "Emma", "note": "汉字 🙂 \x00", "marks": [1]}


def rows(*items, problem_of=lambda row: schema_problem(row, FIELDS, TEXTS)):
    return checked_rows(items, "some.json", FIELDS, problem_of)


def test_extra_fields_are_dropped_and_the_order_is_ours():
    (found,) = rows({"extra": 1, **dict(reversed(ROW.items()))})
    assert found == ROW
    assert tuple(found) == FIELDS


def test_rows_before_a_bad_one_are_delivered():
    reader = rows(ROW, [], ROW)
    assert next(reader) == ROW
    with pytest.raises(DataError, match=r"^some\.json, element 2, is not a JSON object\.$"):
        next(reader)


def test_what_the_benchmark_says_is_wrong():
    with pytest.raises(DataError, match=r"^some\.json, element 1, has the wrong colour\.$"):
        list(rows(ROW, problem_of=lambda row: "has the wrong colour"))


@pytest.mark.parametrize("value", [None, 1, True, "text", [], [ROW]])
def test_not_an_object(value):
    assert schema_problem(value, FIELDS, TEXTS) == "is not a JSON object"


@pytest.mark.parametrize("name", FIELDS)
def test_each_missing_field(name):
    row = {key: value for key, value in ROW.items() if key != name}
    assert schema_problem(row, FIELDS, TEXTS) == f"lacks the field {name!r}"


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("value", [None, 1, 1.5, True, [], ["x"], {}, "\ud83d", "a \udc00 b"])
def test_each_text_that_is_none(name, value):
    problem = schema_problem({**ROW, name: value}, FIELDS, TEXTS)
    assert problem.startswith(f"has a field {name!r} that is not a text")


@pytest.mark.parametrize("value", [None, 1, [], "\ud83d"])
def test_other_fields_may_be_anything(value):
    assert schema_problem({**ROW, "marks": value}, FIELDS, TEXTS) is None
