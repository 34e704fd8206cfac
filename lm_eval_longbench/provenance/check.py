"""What a verification says: one status a check, and a report of all of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

CONFIRMED, DIFFERENT, NOT_CHECKABLE = "confirmed", "different", "not checkable"
STATUSES = (CONFIRMED, DIFFERENT, NOT_CHECKABLE)
EDITED = "The log was changed after the run, or it is of another run."
# Places that a check names of those where it fails.
SHOWN = 5


@dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    Attributes:
        kind: what sort of thing, the same for all tasks: "figures", "counts", ...
        name: which one: "score,none"; equal to the kind where there is only one.
        status: CONFIRMED, DIFFERENT or NOT_CHECKABLE.
        found: what the files say.
        expected: what follows from the rest; None where nothing does.
        meaning: what it means, and what to do; "" for what is confirmed.
        place: task, group or table.
        file: name of the results file or scored folder.
    """

    kind: str
    name: str
    status: str
    found: Any = None
    expected: Any = None
    meaning: str = ""
    place: str = ""
    file: str = ""


def compared(kind: str, name: str, found: Any, expected: Any, meaning: str) -> Check:
    """Return a check that is confirmed if two values are equal, and has the meaning if not."""
    if found == expected:
        return Check(kind, name, CONFIRMED, found, expected)
    return Check(kind, name, DIFFERENT, found, expected, meaning)


def all_of(kind: str, rows: int, wrong: Sequence[str], what: str, meaning: str) -> Check:
    """Return one check of something that was looked at in every row.

    Args:
        kind: of the check, also its name.
        rows: rows looked at.
        wrong: a sentence for each row that differs.
        what: what each row should be.
        meaning: of a difference.
    """
    if not wrong:
        return Check(kind, kind, CONFIRMED, f"{rows} rows", what)
    return Check(kind, kind, DIFFERENT, f"{len(wrong)} of {rows}: {some(wrong)}", what, meaning)


def some(sentences: Sequence[str]) -> str:
    """Return the first few sentences, and how many more there are."""
    more = len(sentences) - SHOWN
    return "; ".join(sentences[:SHOWN]) + (f"; and {more} more" if more > 0 else "")


def _plain(value: Any) -> Any:
    """Return a value that strict JSON can hold: NaN becomes a text."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


@dataclass
class Report:
    """All checks of a verification.

    Attributes:
        checks: in the order in which they were made.
        unreadable: what is wrong with files that could not be read, a sentence each.
        foreign: tasks that are not of this package and were passed over.
    """

    checks: list[Check] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    foreign: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """Number of checks by status, every status named."""
        found = Counter(check.status for check in self.checks)
        return {status: found[status] for status in STATUSES}

    @property
    def exit_status(self) -> int:
        """0: all that could be checked is confirmed; 1: something differs; 2: nothing or unread."""
        counts = self.counts
        if counts[DIFFERENT]:
            return 1
        return 2 if self.unreadable or not counts[CONFIRMED] else 0

    def with_status(self, status: str) -> list[Check]:
        """Return the checks of one status."""
        return [check for check in self.checks if check.status == status]

    def as_json(self) -> dict[str, Any]:
        """Return the report as plain JSON values."""
        return {
            "format": 1,
            "exit_status": self.exit_status,
            "counts": self.counts,
            "foreign_tasks": self.foreign,
            "unreadable": self.unreadable,
            "checks": [
                {name: _plain(value) for name, value in asdict(check).items()}
                for check in self.checks
            ],
        }
