"""The rows of a report, and which of them people are shown: CSV and JSON have all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lm_eval_longbench.statistics.figure import Unit
from lm_eval_longbench.statistics.tree import Difference, Estimate, Leaf, Tree


@dataclass(frozen=True)
class Cell(Estimate):
    """One figure of one run.

    Attributes:
        official: the same figure in the run's official result file, rounded as there and in the
            benchmark's unit; None where that file has none.
        tree: what it is made of.
    """

    official: float | None = None
    tree: Tree | None = field(default=None, compare=False, repr=False)

    @property
    def is_known(self) -> bool:
        """Whether it has a value, or would but for questions without a score."""
        return bool(self.n) and (self.value is not None or self.unscored > 0)

    def shown(self, unit: Unit) -> str:
        """Return the number in a table: the official one where there is one.

        The official sum is in the order of the samples and this one exact; at a tie they could
        round apart.
        """
        return unit.shown(self.value if self.official is None else self.official / unit.factor)


@dataclass(frozen=True)
class Placed:
    """A row of a report.

    Attributes:
        section, name: the place of its figure.
        unit: how it is given.
        detail: shown in CSV and JSON only.
    """

    section: str
    name: str
    unit: Unit
    detail: bool


@dataclass(frozen=True)
class ReportRow(Placed):
    """One figure of every column.

    Attributes:
        figures: one a column; None where a run has fewer repeats than the figure needs.
        differences: one a pair; None where there is none.
    """

    figures: tuple[Cell | None, ...]
    differences: tuple[Difference | None, ...]

    @property
    def is_known(self) -> bool:
        """Whether a column has its figure."""
        return any(figure is not None and figure.is_known for figure in self.figures)


def _equal(one: Cell | None, other: Cell | None) -> bool:
    """Whether two figures are of the same questions with the same scores."""
    mine, theirs = one and one.tree, other and other.tree
    if not isinstance(mine, Leaf) or not isinstance(theirs, Leaf):
        return mine is theirs
    return (
        np.array_equal(mine.keys, theirs.keys)
        and np.array_equal(mine.values, theirs.values, equal_nan=True)
        and (mine.absent, mine.failed) == (theirs.absent, theirs.failed)
    )


def shown(rows: Sequence[ReportRow]) -> tuple[list[ReportRow], list[str]]:
    """Hide rows without a figure, and sections that repeat an earlier one.

    Returns:
        All rows, and a note on each section that others repeat.
    """
    rows = [replace(row, detail=row.detail or not row.is_known) for row in rows]
    found: dict[str, dict[str, ReportRow]] = {}
    for row in rows:
        if row.is_known:
            found.setdefault(row.section, {})[row.name] = row
    found = {name: own for name, own in found.items() if any(not r.detail for r in own.values())}
    hidden: dict[str, str] = {}
    for number, (section, own) in enumerate(found.items()):
        for first in list(found)[:number]:
            if (first not in hidden and found[first].keys() == own.keys()) and all(
                all(map(_equal, row.figures, found[first][name].figures))
                and row.unit == found[first][name].unit
                for name, row in own.items()
            ):
                hidden.setdefault(section, first)
    notes = [
        f"Equal to {first}, and not repeated: "
        f"{'; '.join(own for own, one in hidden.items() if one == first)}."
        for first in dict.fromkeys(hidden.values())
    ]
    return [replace(row, detail=row.detail or row.section in hidden) for row in rows], notes
