"""A verification in words: a line for each difference, for what cannot be checked, and in sum."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from lm_eval_longbench.verify.check import (
    CONFIRMED,
    DIFFERENT,
    NOT_CHECKABLE,
    OFFICIAL,
    STATUSES,
    Check,
    Verification,
)

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
        0: "an official figure of every task follows from its answers, and nothing differs",
        1: "something differs",
        2: "not everything could be read" if counts[CONFIRMED] else nothing,
        3: f"nothing differs, but the official figures of {left} tasks could not be checked",
    }[report.exit_status]
    return f"{', '.join(parts)}: {verdict}."
