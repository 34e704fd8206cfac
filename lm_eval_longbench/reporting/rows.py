"""The rows of a report, from which every format is written: CSV and JSON have all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lm_eval_longbench.language import Sentence, listed, sentence
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

    @classmethod
    def plain(cls, tree: Tree, official: float | None = None) -> Cell:
        """Return a figure without an interval."""
        known = (tree.value, tree.n, None, None, "none", tree.unscored, tree.failed)
        return cls(*known, official=official, tree=tree)

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
class ReportRow:
    """One figure of every column.

    Attributes:
        section, name: the place of the figure.
        unit: how it is given.
        detail: shown in CSV and JSON only.
        figures: one a column; None where a run has fewer repeats than the figure needs.
        differences: one a pair; None where there is none. Beside a baseline the retained shares.
    """

    section: str
    name: str
    unit: Unit
    detail: bool
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


def _same_rows(own: dict[str, ReportRow], other: dict[str, ReportRow]) -> bool:
    """Whether two sections have the same figures under the same names."""
    return own.keys() == other.keys() and all(
        row.unit == other[name].unit and all(map(_equal, row.figures, other[name].figures))
        for name, row in own.items()
    )


def shown(rows: Sequence[ReportRow]) -> tuple[list[ReportRow], list[Sentence]]:
    """Hide rows without a figure, and sections that repeat an earlier one.

    Returns:
        All rows, and a note on each section that others repeat.
    """
    rows = [replace(row, detail=row.detail or not row.is_known) for row in rows]
    sections: dict[str, dict[str, ReportRow]] = {}
    for row in rows:
        if row.is_known:
            sections.setdefault(row.section, {})[row.name] = row
    repeats: dict[str, list[str]] = {}  # by the section that is shown
    for section, own in sections.items():
        if any(not row.detail for row in own.values()):
            first = next((one for one in repeats if _same_rows(own, sections[one])), section)
            repeats.setdefault(first, []).append(section)
    hidden = {own for first, all_of_it in repeats.items() for own in all_of_it if own != first}
    notes = [
        sentence("Equal to {}, and not repeated: {}.", first, listed(others, "; ", "；"))
        for first, (_, *others) in repeats.items()
        if others
    ]
    return [replace(row, detail=row.detail or row.section in hidden) for row in rows], notes
