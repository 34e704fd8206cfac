"""Lines of the report: what they demand, and how equal ones meet."""

import pytest

from lm_eval_longbench.doctor.line import ERROR, OK, WARNING, Line, count, merged


@pytest.mark.parametrize("status", [WARNING, ERROR])
def test_what_is_wrong_comes_with_what_to_do(status):
    with pytest.raises(ValueError, match="says what to do"):
        Line(status, "disk", "full")
    assert Line(status, "disk", "full", "free some").todo == "free some"


def test_there_are_three_statuses():
    with pytest.raises(ValueError, match="fine"):
        Line("fine", "disk", "empty")


def test_equal_lines_of_several_tasks_become_one_in_their_place():
    lines = [
        Line(OK, "stops", "none", "", ("a",)),
        Line(WARNING, "limit", "x", "y", ("a",)),
        Line(OK, "stops", "none", "", ("b",)),
        Line(OK, "stops", "none", "", ("a",)),
        Line(OK, "stops", "some", "", ("c",)),
    ]
    assert merged(lines) == [
        Line(OK, "stops", "none", "", ("a", "b")),
        Line(WARNING, "limit", "x", "y", ("a",)),
        Line(OK, "stops", "some", "", ("c",)),
    ]
    assert count(lines, OK) == 4
    assert count(lines, ERROR) == 0
