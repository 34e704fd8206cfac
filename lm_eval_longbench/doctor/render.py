"""The report as a table and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from rich.box import SIMPLE_HEAD
from rich.table import Column, Table
from rich.text import Text

from lm_eval_longbench.doctor.line import ERROR, OK, STATUSES, WARNING, Line, count

_STYLES = {OK: "green", WARNING: "yellow", ERROR: "bold red"}
# Names of tasks that are shown in a line of the table.
_SHOWN = 3


def as_table(lines: Sequence[Line]) -> Table:
    """Lay the lines out; texts are shown as they are, never as markup."""
    table = Table(
        Column("", no_wrap=True),
        Column("topic", no_wrap=True),
        Column("found, and what to do", overflow="fold"),
        box=SIMPLE_HEAD,
    )
    for number, line in enumerate(lines):
        if number and lines[number - 1].topic != line.topic:
            table.add_section()
        table.add_row(Text(line.status, style=_STYLES[line.status]), Text(line.topic), _text(line))
    return table


def _text(line: Line) -> Text:
    text = Text(f"{_names(line.tasks)}: " if line.tasks else "", style="dim")
    text = Text().append_text(text).append(line.found)
    return text.append(f"\n-> {line.todo}", style="bold") if line.todo else text


def _names(tasks: Sequence[str]) -> str:
    more = f" and {len(tasks) - _SHOWN} more" if len(tasks) > _SHOWN else ""
    return ", ".join(tasks[:_SHOWN]) + more


def summary(lines: Sequence[Line]) -> str:
    """Return the sum of a report in one sentence."""
    warnings = _number(count(lines, WARNING), "warning")
    if count(lines, ERROR):
        errors = _number(count(lines, ERROR), "error")
        return f"{errors}, {warnings}: a run would stop, or not do what is wanted."
    return f"No errors, {warnings}."


def _number(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def as_json(lines: Sequence[Line]) -> str:
    """Return the lines and their counts as one JSON object, in ASCII: any terminal takes it."""
    report = {
        "lines": [asdict(line) for line in lines],
        "counts": {status: count(lines, status) for status in STATUSES},
    }
    return json.dumps(report, indent=1)
