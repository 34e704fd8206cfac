"""Compare two results, task by task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval_longbench.provenance.compare import Comparison, Difference, compare
from lm_eval_longbench.provenance.rules import CARE, COMPARABLE, NOT
from lm_eval_longbench.provenance.side import Entry, read_side


@dataclass(frozen=True)
class TaskComparison:
    """One task that both results have.

    Attributes:
        task: its name.
        left, right: the two entries.
        comparison: of their signatures, and of the questions that were asked.
    """

    task: str
    left: Entry
    right: Entry
    comparison: Comparison

    @property
    def figures(self) -> list[tuple[str, Any, Any]]:
        """Each figure that both sides have, with its two values."""
        return [
            (name, value, self.right.figures[name])
            for name, value in self.left.figures.items()
            if name in self.right.figures
        ]


@dataclass(frozen=True)
class Compared:
    """Two results beside each other.

    Attributes:
        tasks: those that both have.
        only_left, only_right: names of the others.
    """

    tasks: Sequence[TaskComparison]
    only_left: Sequence[str]
    only_right: Sequence[str]

    @property
    def verdict(self) -> str:
        """The heaviest verdict of the shared tasks; NOT without any."""
        verdicts = {task.comparison.verdict for task in self.tasks}
        if NOT in verdicts or not verdicts:
            return NOT
        alone = self.only_left or self.only_right
        return CARE if CARE in verdicts or alone else COMPARABLE


def compare_results(left: Path, right: Path) -> Compared:
    """Compare two results files, run folders or scored folders.

    Raises:
        PredictionError: a file is broken, or has no tasks of this package, or one task twice.
    """
    ours, theirs = read_side(left).entries, read_side(right).entries
    shared = [name for name in ours if name in theirs]
    return Compared(
        [_task(name, ours[name], theirs[name]) for name in shared],
        [name for name in ours if name not in theirs],
        [name for name in theirs if name not in ours],
    )


def _task(name: str, left: Entry, right: Entry) -> TaskComparison:
    comparison = compare(left.signature, right.signature)
    own = _questions(left, right)
    if own is not None:
        comparison = Comparison([*comparison.differences, own], comparison.unstated)
    return TaskComparison(name, left, right, comparison)


def _questions(left: Entry, right: Entry) -> Difference | None:
    """Return the difference between the questions asked, which signatures only count."""
    ours, theirs = left.questions(), right.questions()
    if ours is None or theirs is None or ours == theirs:
        return None
    return Difference(
        "questions",
        f"{len(ours)}, {len(ours - theirs)} of them only here",
        f"{len(theirs)}, {len(theirs - ours)} of them only here",
        NOT,
        "the logs have answers to other questions",
    )
