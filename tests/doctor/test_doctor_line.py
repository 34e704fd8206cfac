"""Lines of the report, and the report."""

import io
import json

import pytest
from rich.console import Console

from lm_eval_longbench.doctor.line import (
    ERROR,
    OK,
    WARNING,
    Line,
    as_json,
    as_table,
    count,
    merged,
    summary,
)

# -------------------------------------------------- Lines of the report: what they demand, and how


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


# -------------------------------------------------- The report as people and as programs read it


LINES = [
    Line(OK, "first prompt", "head [bold]tail[/bold] \\n", "", ("a", "b", "c", "d")),
    Line(ERROR, "server", "silent", "Start it."),
]


def test_texts_are_not_markup_and_tasks_are_counted():
    console = Console(file=io.StringIO(), width=120)
    console.print(as_table(LINES))
    text = console.file.getvalue()
    assert "a, b, c and 1 more: head [bold]tail[/bold] \\n" in text
    assert "-> Start it." in text


def test_json_has_every_line_and_the_counts():
    report = json.loads(as_json(LINES))
    assert report["counts"] == {OK: 1, WARNING: 0, ERROR: 1}
    assert report["lines"][0]["tasks"] == ["a", "b", "c", "d"]
    assert report["lines"][1] == {
        "status": ERROR,
        "topic": "server",
        "found": "silent",
        "todo": "Start it.",
        "tasks": [],
    }


def test_summary():
    assert summary(LINES).startswith("1 error, 0 warnings")
    assert summary(LINES[:1]) == "No errors, 0 warnings."
