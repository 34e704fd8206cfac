"""What was not scored, or not as its file says: counted, and the first of each kind named."""

from __future__ import annotations

from collections import Counter
from typing import Any

from lm_eval_longbench.errors import PredictionError, few

# Entries kept of each kind.
SHOWN = 100
# Problems named of each kind.
_NAMED = 20
# What --strict fails on.
_STRICT = {
    "malformed": "malformed lines",
    "duplicate": "duplicates",
    "foreign": "foreign files or lines",
    "missing": "missing questions",
    "copied": "tasks with copied questions",
}
KINDS = ("malformed", "duplicate", "foreign", "missing", "differing_pred", "copied")


def entry(file: str, line: int | None, reason: str) -> dict[str, Any]:
    """Return an entry; no line: the whole file."""
    return {"file": file, "line": line, "reason": reason}


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
    place = problem["file"]
    if problem["line"] is not None:
        place += f", line {problem['line']}"
    if kind == "differing_pred":
        return (
            f"{place}: question {problem['id']!r}: stored {problem['stored']!r}, extracted "
            f"{problem['extracted']!r}"
        )
    return f"{place}{'' if kind == 'foreign' else ':'} {problem['reason']}"


class Problems:
    """Entries by kind, in the order in which they were added."""

    def __init__(self) -> None:
        self._first: dict[str, list[dict[str, Any]]] = {kind: [] for kind in KINDS}
        self._number: Counter[str] = Counter()

    def add(self, kind: str, *entries: dict[str, Any], number: int | None = None) -> None:
        """Add entries of a kind, in canonical order, which count for `number`, or one each."""
        self._number[kind] += len(entries) if number is None else number
        self._first[kind] += entries[: SHOWN - len(self._first[kind])]

    def number(self, kind: str) -> int:
        """Return how many there are of a kind."""
        return self._number[kind]

    def first(self, kind: str) -> list[dict[str, Any]]:
        """Return the first entries of a kind."""
        return list(self._first[kind])

    def as_json(self) -> dict[str, Any]:
        """Return all kinds, each followed by its count."""
        found: dict[str, Any] = {}
        for kind in KINDS:
            found |= {kind: self._first[kind], f"{kind}_total": self._number[kind]}
        return found


def _listed(problems: Problems) -> str:
    text = ""
    for kind in _STRICT:
        found, mark = [sentence(kind, own) for own in problems.first(kind)], f"\n  {kind}: "
        text += f"{mark}{few(found, _NAMED, mark)}" if found else ""
    return text


def check_strict(problems: Problems) -> None:
    """Accept no problem.

    Raises:
        PredictionError: there is one; counts all and names the first of each kind.
    """
    found = [
        f"{problems.number(kind)} {words}"
        for kind, words in _STRICT.items()
        if problems.number(kind)
    ]
    if found:
        raise PredictionError(
            f"{', '.join(found)}, and strict is on; nothing was written.{_listed(problems)}"
        )


def check_scored(samples: int, problems: Problems) -> None:
    """Raise PredictionError, which names the first problems, if no answer was scored."""
    if not samples:
        raise PredictionError(
            "No line of the input can be scored, so nothing was written. If it is of another "
            f"format than was recognised, name it with benchmark.{_listed(problems)}"
        )
