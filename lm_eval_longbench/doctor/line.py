"""One line of a preflight's report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

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
