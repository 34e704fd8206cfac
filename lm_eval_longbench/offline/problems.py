"""What was not scored, or not as its file says: counted, and the first of each kind named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

# Entries kept of each kind.
SHOWN = 100
KINDS = ("malformed", "duplicate", "foreign", "missing", "differing_pred", "copied")


def entry(file: str, line: int | None, reason: str) -> dict[str, Any]:
    """Return an entry; no line: the whole file."""
    return {"file": file, "line": line, "reason": reason}


def place_of(problem: dict[str, Any]) -> str:
    """Return where an entry's file and line are."""
    line = problem["line"]
    return problem["file"] if line is None else f"{problem['file']}, line {line}"


def sentence(kind: str, problem: dict[str, Any]) -> str:
    """Return an entry in words."""
    if kind == "missing":
        return (
            f"{problem['task']}: {problem['questions']} of {problem['official_questions']} "
            "official questions"
        )
    if kind == "copied":
        return (
            f"{problem['task']}: {problem['copies']} of {problem['questions']} questions are "
            "copies of others there"
        )
    if kind == "differing_pred":
        return (
            f"{place_of(problem)}: question {problem['id']!r}: stored {problem['stored']!r}, "
            f"extracted {problem['extracted']!r}"
        )
    if kind == "foreign":
        return f"{place_of(problem)} {problem['reason']}"
    return f"{place_of(problem)}: {problem['reason']}"


class Problems:
    """Entries by kind, in the order in which they were added."""

    def __init__(self) -> None:
        self._first: dict[str, list[dict[str, Any]]] = {kind: [] for kind in KINDS}
        self._number: Counter[str] = Counter()

    def add(self, kind: str, *entries: dict[str, Any], number: int | None = None) -> None:
        """Add entries.

        Args:
            kind: one of KINDS.
            entries: in canonical order.
            number: what they count for, if not one each.
        """
        self._number[kind] += len(entries) if number is None else number
        room = SHOWN - len(self._first[kind])
        self._first[kind] += entries[:room]

    def number(self, kinds: Iterable[str] = KINDS) -> int:
        """Return how many there are of some kinds."""
        return sum(self._number[kind] for kind in kinds)

    def first(self, kind: str) -> list[dict[str, Any]]:
        """Return the first entries of a kind."""
        return list(self._first[kind])

    def as_json(self) -> dict[str, Any]:
        """Return all kinds, each followed by its count."""
        return {
            name: value
            for kind in KINDS
            for name, value in (
                (kind, self._first[kind]),
                (f"{kind}_total", self._number[kind]),
            )
        }
