"""What was not scored, or not as its file says: counted, and the first of each kind named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from lm_eval_longbench.errors import PredictionError

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
        """Add entries of a kind, in canonical order, which count for `number`, or one each."""
        self._number[kind] += len(entries) if number is None else number
        self._first[kind] += entries[: SHOWN - len(self._first[kind])]

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


def _listed(problems: Problems) -> str:
    lines = []
    for kind in _STRICT:
        named = problems.first(kind)[:_NAMED]
        lines += [f"  {kind}: {sentence(kind, problem)}" for problem in named]
        if len(problems.first(kind)) > _NAMED:
            lines.append(f"  {kind}: ...")
    return "".join(f"\n{line}" for line in lines)


def check_strict(problems: Problems) -> None:
    """Accept no problem.

    Raises:
        PredictionError: there is one; counts all and names the first of each kind.
    """
    found = [
        f"{problems.number([kind])} {words}"
        for kind, words in _STRICT.items()
        if problems.number([kind])
    ]
    if found:
        raise PredictionError(
            f"{', '.join(found)}, and strict is on; nothing was written.{_listed(problems)}"
        )


def check_scored(questions: int, problems: Problems) -> None:
    """Raise PredictionError, which names the first problems, if no question was scored."""
    if not questions:
        raise PredictionError(
            "No line of the input can be scored, so nothing was written. If it is of another "
            f"format than was recognised, name it with benchmark.{_listed(problems)}"
        )
