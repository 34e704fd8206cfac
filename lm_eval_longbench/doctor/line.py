"""A line of the report of a preflight, and the report as a table and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace

from rich.box import SIMPLE_HEAD
from rich.table import Column, Table
from rich.text import Text

from lm_eval_longbench.errors import few

OK = "ok"
WARNING = "warning"
ERROR = "error"
STATUSES = (OK, WARNING, ERROR)


@dataclass(frozen=True)
class Line:
    """What one check found.

    Attributes:
        status: OK, WARNING (the run works, and is not what it could be) or ERROR (it stops, or its
            result is worthless).
        topic: what was looked at, in one or two words.
        found: what was found.
        todo: what to do about it; "" only where all is well.
        tasks: the tasks it is about; empty: the whole run.

    Raises:
        ValueError: there is no such status, or something is wrong and nothing is to be done.
    """

    status: str
    topic: str
    found: str
    todo: str = ""
    tasks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f"No status {self.status!r}.")
        if self.status != OK and not self.todo:
            raise ValueError(f"{self.topic}: a line of status {self.status} says what to do.")


def merged(lines: Iterable[Line]) -> list[Line]:
    """Return the lines in order, those that differ by their tasks alone as one."""
    tasks: dict[Line, list[str]] = {}
    for line in lines:
        tasks.setdefault(replace(line, tasks=()), []).extend(line.tasks)
    return [replace(line, tasks=tuple(dict.fromkeys(names))) for line, names in tasks.items()]


def count(lines: Iterable[Line], status: str) -> int:
    """Return how many lines have a status."""
    return sum(line.status == status for line in lines)


# ---------------------------------------------------------------------- the report

_STYLES = {OK: "green", WARNING: "yellow", ERROR: "bold red"}
# Names of tasks that are shown in a line of the table.
_TASKS_SHOWN = 3


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
    text = Text(f"{few(line.tasks, _TASKS_SHOWN)}: " if line.tasks else "", style="dim")
    text = Text().append_text(text).append(line.found)
    return text.append(f"\n-> {line.todo}", style="bold") if line.todo else text


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
