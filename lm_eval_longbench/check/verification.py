"""What a verification says: one status a check, a report of all of them, and that in words."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lm_eval_longbench.errors import few

CONFIRMED, DIFFERENT, NOT_CHECKABLE = "confirmed", "different", "not checkable"
STATUSES = (CONFIRMED, DIFFERENT, NOT_CHECKABLE)
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


def same_number(found: Any, expected: Any) -> bool:
    """Whether two figures are equal up to rounding; None and NaN are equal to themselves only."""
    if not isinstance(found, float | int) or not isinstance(expected, float | int):
        return bool(found == expected)
    if math.isnan(found) or math.isnan(expected):
        return math.isnan(found) and math.isnan(expected)
    return math.isclose(found, expected, rel_tol=0, abs_tol=1e-9)


def compared(
    kind: str, name: str, found: Any, expected: Any, meaning: str, otherwise: str = DIFFERENT
) -> Check:
    """Return a check that is confirmed if two values are equal; else it has status and meaning."""
    if found == expected:
        return Check(kind, name, CONFIRMED, found, expected)
    return Check(kind, name, otherwise, found, expected, meaning)


def all_of(
    kind: str,
    rows: int,
    wrong: Sequence[str],
    what: str,
    meaning: str,
    otherwise: str = DIFFERENT,
) -> Check:
    """Return the check of something that was looked at in every row.

    Args:
        kind: of the check, also its name.
        rows: rows looked at.
        wrong: a sentence for each row that differs.
        what: what each row should be.
        meaning: of a difference, and `otherwise` its status.
    """
    if wrong:
        found = f"{len(wrong)} of {rows}: {few(wrong, SHOWN, '; ')}"
        return Check(kind, kind, otherwise, found, what, meaning)
    return Check(kind, kind, CONFIRMED, f"{rows} rows", what)


def _plain(value: Any) -> Any:
    """Return a value that strict JSON can hold: NaN becomes a text."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


@dataclass
class Verification:
    """All checks of a verification.

    Attributes:
        checks: in the order in which they were made.
        unreadable: what is wrong with files that could not be read, a sentence each.
        foreign: tasks that are not of this package and were passed over.
        answers: in the sample logs that were read.
    """

    checks: list[Check] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    foreign: int = 0
    answers: int = 0

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
            "checks": [
                {name: _plain(value) for name, value in vars(check).items()}
                for check in self.checks
            ],
        }


# ---------------------------------------------------------------------- in words

# Characters of a value that a line shows.
_SHOWN = 300


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _title(check: Check) -> str:
    return check.kind if check.name == check.kind else f"{check.kind} {check.name}"


def different_lines(report: Verification) -> Iterator[str]:
    """Yield a line for each check that differs: where, what, found, expected, meaning."""
    for check in report.with_status(DIFFERENT):
        expected = "" if check.expected is None else f", expected {_short(check.expected)}"
        where = f"{check.file}, {check.place}" if check.place else check.file
        yield (
            f"different: {where}: {_title(check)}: found {_short(check.found)}{expected}. "
            f"{check.meaning}"
        )


def not_checkable_lines(report: Verification) -> Iterator[str]:
    """Yield a line for each reason why something cannot be checked, with what it concerns."""
    groups: dict[tuple[str, str], list[Check]] = defaultdict(list)
    for check in report.with_status(NOT_CHECKABLE):
        groups[check.kind, check.meaning].append(check)
    for (kind, meaning), own in groups.items():
        names = dict.fromkeys(check.name.removeprefix(f"{kind}.") for check in own)
        names.pop(kind, None)
        places = list(dict.fromkeys(check.place for check in own))
        where = places[0] if len(places) == 1 else f"{len(places)} tasks"
        if not where:  # it is about a file as a whole
            files = list(dict.fromkeys(check.file for check in own))
            where = files[0] if len(files) == 1 else f"{len(files)} files"
        named = f" {', '.join(names)}" if names else ""
        yield f"not checkable: {where}: {kind}{named}: {meaning}"


def summary_line(report: Verification) -> str:
    """Return the outcome in one line."""
    counts = report.counts
    parts = [f"{counts[status]} {status}" for status in STATUSES]
    if report.unreadable:
        parts.append(f"{len(report.unreadable)} unreadable")
    if report.foreign:
        parts.append(f"{report.foreign} tasks of others passed over")
    nothing = "nothing could be checked"
    if report.foreign and not report.unreadable:
        nothing += ": no result of a task of this package is there"
    official = [check.status for check in report.checks if check.kind == OFFICIAL]
    left = f"{len(official) - official.count(CONFIRMED)} of {len(official)}"
    verdict = {
        0: "confirmed: an official figure of every task follows from its answers, and nothing "
        "differs",
        1: "different: something differs",
        2: "not everything could be read" if counts[CONFIRMED] else nothing,
        3: "not checkable: nothing differs, but the official figures of "
        f"{left} tasks could not be checked",
    }[report.exit_status]
    size = f" {len(official)} tasks, {report.answers} answers." if report.answers else ""
    return f"{verdict}.{size} Checks: {', '.join(parts)}."


# Differences that are shown where not all are.
_DIFFERENCES = 5


def outcome_lines(report: Verification, *, verbose: bool) -> list[str]:
    """Return the outcome, then what differs, and why official figures could not be checked.

    Args:
        report: of the verification.
        verbose: all that differs, and all that cannot be checked; else at most ten lines.
    """
    different = list(different_lines(report))
    if verbose:
        return [summary_line(report), *different, *not_checkable_lines(report)]
    official = [check for check in report.checks if check.kind == OFFICIAL]
    found = different or list(not_checkable_lines(replace(report, checks=official)))
    return [summary_line(report), *found[:_DIFFERENCES]]
