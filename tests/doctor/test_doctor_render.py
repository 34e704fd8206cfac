"""The report as people and as programs read it."""

import io
import json

from rich.console import Console

from lm_eval_longbench.doctor.line import ERROR, OK, WARNING, Line
from lm_eval_longbench.doctor.line import as_json, as_table, summary

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
