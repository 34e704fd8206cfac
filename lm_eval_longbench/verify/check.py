"""What a verification says: one status a check, and a report of all of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lm_eval_longbench.errors import few

CONFIRMED, DIFFERENT, NOT_CHECKABLE = "confirmed", "different", "not checkable"
STATUSES = (CONFIRMED, DIFFERENT, NOT_CHECKABLE)
EDITED = "The log was changed after the run, or it is of another run."
# Places that a check names of those where it fails.
SHOWN = 5
# The kind of the one check a task that says whether its official figure was recomputed.
OFFICIAL = "official figures"


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


def same_number(found: Any, expected: Any, tolerance: float = 1e-9) -> bool:
    """Whether two figures are equal up to rounding; None and NaN are equal to themselves only."""
    if isinstance(found, bool) or isinstance(expected, bool):
        return found is expected
    if isinstance(found, float | int) and isinstance(expected, float | int):
        if found == expected:  # infinity too
            return True
        if math.isnan(found) or math.isnan(expected):
            return math.isnan(found) and math.isnan(expected)
        return abs(found - expected) <= tolerance
    return bool(found == expected)


def compared(
    kind: str, name: str, found: Any, expected: Any, meaning: str, otherwise: str = DIFFERENT
) -> Check:
    """Return a check that is confirmed if two values are equal; else it has status and meaning."""
    if found == expected:
        return Check(kind, name, CONFIRMED, found, expected)
    return Check(kind, name, otherwise, found, expected, meaning)


def all_of(
    kind: str, rows: int, wrong: Sequence[str], what: str, meaning: str, silent: int = 0
) -> Iterator[Check]:
    """Yield one check of something that was looked at in every row, and one of silent rows.

    Args:
        kind: of the check, also its name.
        rows: rows looked at; of none nothing is confirmed.
        wrong: a sentence for each row that differs.
        what: what each row should be.
        meaning: of a difference.
        silent: further rows, which do not tell.
    """
    if wrong:
        found = f"{len(wrong)} of {rows}: {some(wrong)}"
        yield Check(kind, kind, DIFFERENT, found, what, meaning)
    elif rows:
        yield Check(kind, kind, CONFIRMED, f"{rows} rows", what)
    elif not silent:
        said = "The log has no row that tells."
        yield Check(kind, kind, NOT_CHECKABLE, "0 rows", what, said)
    if silent:
        said = "What tells it was taken out of these rows, or never was in them."
        yield Check(kind, kind, NOT_CHECKABLE, f"{silent} rows", what, said)


def some(sentences: Sequence[str]) -> str:
    """Return the first few sentences, and how many more there are."""
    return few(sentences, SHOWN, "; ")


def _plain(value: Any) -> Any:
    """Return a value that strict JSON can hold: NaN becomes a text."""
    if isinstance(value, Mapping):
        return {str(name): _plain(own) for name, own in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(own) for own in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


@dataclass
class Verification:
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
        """Return the one number that says it all, the gravest first.

        1: something differs. 2: a file could not be read, or none has a task of this package. 3:
        nothing differs, but the official figure of a task, a group or a table was not confirmed.
        0: an official figure of every task was recomputed and confirmed, and nothing differs.
        """
        if self.counts[DIFFERENT]:
            return 1
        official = [check.status for check in self.checks if check.kind == OFFICIAL]
        if self.unreadable or not official:
            return 2
        return 0 if set(official) == {CONFIRMED} else 3

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
            "checks": [_plain(vars(check)) for check in self.checks],
        }
