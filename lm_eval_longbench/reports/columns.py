"""Which table of which run stands in which column, and which columns are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lm_eval_longbench.reports.scored import Run, ScoredTable
from lm_eval_longbench.reports.tables import TABLES


@dataclass(frozen=True, eq=False)
class Column:
    """One table of one run; its label names the run, and the mode where a benchmark has several."""

    run: Run
    table: ScoredTable

    @property
    def label(self) -> str:
        """What stands above the column."""
        mode = self.table.info.mode
        return f"{self.run.name} ({mode})" if mode else self.run.name


@dataclass(frozen=True, eq=False)
class Pair:
    """Two columns whose difference is shown: second less first.

    Attributes:
        first, second: numbers of the columns.
        label: of the difference.
        shared: questions that both have.
        by_line: the questions of one of them are known by their line only.
        reason: why there is no difference; "" otherwise.
    """

    first: int
    second: int
    label: str
    shared: int
    by_line: bool
    reason: str


def columns_of(benchmark: str, runs: Sequence[Run]) -> list[Column]:
    """Return the columns of a benchmark: by run, and within a run in the order of TABLES."""
    return [
        Column(run, run.tables[name])
        for run in runs
        for name in TABLES
        if name in run.tables and TABLES[name].benchmark == benchmark
    ]


def _pair(columns: Sequence[Column], first: int, second: int) -> Pair:
    one, other = columns[first].table, columns[second].table
    keys, mine, theirs = np.intersect1d(one.keys, other.keys, True, return_indices=True)
    reason = ""
    if not len(keys):
        reason = "they have no question in common"
        if one.ids_are_lines != other.ids_are_lines:
            reason += (
                "; one was scored from prediction files, which know a question by its line, the "
                "other from logs, which know its id"
            )
    for name, values in one.dimensions.items():
        one_way, other_way = values[mine], other.dimensions[name][theirs]
        known = (one_way >= 0) & (other_way >= 0)
        differing = int(np.count_nonzero(known & (one_way != other_way)))
        if differing and not reason:
            reason = (
                f"{differing} of their common questions differ in {name}: "
                "they are not the same questions"
            )
    label = f"{columns[second].label} less {columns[first].label}"
    if one.name == other.name and one.info.mode:
        names = (columns[number].run.name for number in (second, first))
        label = f"{' less '.join(names)} ({one.info.mode})"
    by_line = one.ids_are_lines or other.ids_are_lines
    return Pair(first, second, label, len(keys), by_line, reason)


def pairs_of(columns: Sequence[Column]) -> list[Pair]:
    """Return the pairs to compare.

    With two columns these; with two runs of several tables, the columns of each table that both
    have.
    """
    if len(columns) == 2:
        return [_pair(columns, 0, 1)]
    runs = list(dict.fromkeys(column.run for column in columns))
    if len(runs) != 2:
        return []
    places = {(column.run, column.table.name): i for i, column in enumerate(columns)}
    return [
        _pair(columns, places[runs[0], name], places[runs[1], name])
        for name in TABLES
        if (runs[0], name) in places and (runs[1], name) in places
    ]
