"""Put scored runs side by side: columns, pairs, rows, notes, and published rows beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from lm_eval_longbench.benchmarks.registry import benchmarks, tables
from lm_eval_longbench.errors import DataError
from lm_eval_longbench.language import Sentence, listed, sentence
from lm_eval_longbench.metrics.reasoning import DROP, KEEP, POLICIES
from lm_eval_longbench.reporting.notes import (
    Column,
    Pair,
    method_of,
    note_on_column,
    note_on_pair,
    notes_on_lacking,
    remarks_on,
    warning_of,
)
from lm_eval_longbench.reporting.published import Leaderboard, leaderboard
from lm_eval_longbench.reporting.scored_run import ScoredRun, ScoredTable
from lm_eval_longbench.statistics.answers import Answers
from lm_eval_longbench.statistics.figure import Figure, Place, Unit
from lm_eval_longbench.statistics.tree import Difference, Estimate, Leaf, Pairing, Tree, estimate

_DONE = {KEEP: "kept", DROP: "dropped"}
_LINES = (
    "they have no question in common; one was scored from prediction files, which know a question "
    "by its line, the other from logs, which know its id"
)
_UNLIKE = "{} of their common questions differ in {}: they are not the same questions"


# ---------------------------------------------------------------------- rows


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


# ---------------------------------------------------------------------- columns and pairs


def columns_of(benchmark: str, runs: Sequence[ScoredRun]) -> list[Column]:
    """Return the columns of a benchmark: by run, and within a run in the order of the registry."""
    return [
        Column(run, run.tables[name])
        for run in runs
        for name in benchmarks()[benchmark].tables
        if name in run.tables
    ]


def pair_of(columns: Sequence[Column], first: int, second: int) -> Pair:
    """Return what two columns have in common, by their numbers."""
    one, other = columns[first].table.answers, columns[second].table.answers
    keys, mine, theirs = np.intersect1d(one.keys, other.keys, True, return_indices=True)
    reason = ""
    if not len(keys):
        unlike = one.ids_are_lines != other.ids_are_lines
        reason = sentence(_LINES if unlike else "they have no question in common")
    for name, values in one.dimensions.items():
        one_way, other_way = values[mine], other.dimensions[name][theirs]
        known = (one_way >= 0) & (other_way >= 0)
        differing = int(np.count_nonzero(known & (one_way != other_way)))
        if differing and not reason:
            reason = sentence(_UNLIKE, differing, name)
    label = sentence("{} less {}", columns[second].label, columns[first].label)
    if one.table.name == other.table.name and one.table.mode:
        base = f"{columns[first].run.name} ({one.table.mode})"
        label = sentence("{} less {}", columns[second].run.name, base)
    by_line = one.ids_are_lines or other.ids_are_lines
    return Pair(first, second, label, len(keys), by_line, reason)


def pairs_of(columns: Sequence[Column]) -> list[Pair]:
    """Return the pairs to compare.

    With two columns these; with two runs of several tables, the columns of each table that both
    have.
    """
    if len(columns) == 2:
        return [pair_of(columns, 0, 1)]
    runs = list(dict.fromkeys(column.run for column in columns))
    if len(runs) != 2:
        return []
    places = {(column.run, column.table.info.name): i for i, column in enumerate(columns)}
    return [
        pair_of(columns, places[runs[0], name], places[runs[1], name])
        for name in tables()
        if (runs[0], name) in places and (runs[1], name) in places
    ]


# A figure, whether report.json has its part, and the value it has there.
_Stated = tuple[Figure, bool, Any]


def _cell(folder: Path, figure: Figure, is_stated: bool, official: Any, *, intervals: bool) -> Cell:
    """Return a figure; DataError if a folder's files give two values of it."""
    if is_stated and figure.differs_from(official):
        raise DataError(
            f"{folder}: report.json has {official} as {figure.section} {figure.name}, and "
            f"samples.jsonl gives {figure.unit.scaled(figure.tree.value)}: they are not of one "
            "run. Score the predictions again with `lm-eval-longbench score`."
        )
    if not intervals:
        return Cell.plain(figure.tree, official)
    return Cell(**vars(estimate(figure.tree)), official=official, tree=figure.tree)


@dataclass(frozen=True, eq=False)
class BenchmarkReport:
    """The table of one benchmark.

    Attributes:
        benchmark: its name.
        title: in print.
        columns, pairs: runs, and what is compared.
        rows: the figures.
        notes: what a reader must know.
        on_figures: those of them on figures that are not shown.
        leaderboards: published rows of each table, where they were asked for.
        are_shares: differences are the shares that runs keep of the first column.
    """

    benchmark: str
    title: str
    columns: tuple[Column, ...]
    pairs: tuple[Pair, ...]
    rows: tuple[ReportRow, ...]
    notes: tuple[str, ...]
    on_figures: tuple[str, ...] = ()
    leaderboards: tuple[Leaderboard, ...] = ()
    are_shares: bool = False

    @property
    def labels(self) -> list[str]:
        """What stands above the columns of runs, then of pairs."""
        return [own.label for own in self.columns] + [own.label for own in self.pairs]


@dataclass(frozen=True, eq=False)
class Report:
    """Every table of some runs.

    Attributes:
        benchmarks: in the order of the registry.
        remarks: in what the runs differ that must not.
    """

    benchmarks: tuple[BenchmarkReport, ...]
    remarks: tuple[str, ...]

    @property
    def method(self) -> tuple[Sentence, ...]:
        """How intervals and differences were made."""
        return method_of(differences=any(one.pairs for one in self.benchmarks))


def _figures(
    table: ScoredTable, policies: Sequence[str], *, without_errors: bool
) -> dict[Place, _Stated]:
    """Return the figures of a table by place, with what the run's report.json states of each.

    Args:
        table: of a run.
        policies: for reasoning, under each of which the headline and the official figures follow.
        without_errors: the headline follows without the questions that are known to be wrong.
    """
    benchmark, facts = benchmarks()[table.info.benchmark], table.facts
    found = {}
    for figure in benchmark.figures(table.answers):
        if not figure.hidden:
            found[figure.place] = (figure, *facts.stated(figure.path))
    others: list[tuple[Answers, bool | None, str]] = []
    for policy in policies:
        if (under := table.under(policy)) is not None:
            others.append((*under, f"reasoning {_DONE[policy]}"))
    errors = table.answers.known_errors
    if without_errors and errors.any():
        others.append((table.answers.chosen(~errors), None, "without known errors"))
    for answers, swapped, told in others:
        for figure in benchmark.figures(answers):
            if not (figure.main or figure.path[:1] == ("official",)):
                continue
            own = replace(figure, section=f"{figure.section}, {told}")
            whole = found.get(figure.place)
            if swapped is not None:
                found[own.place] = (own, *facts.stated(figure.path, otherwise=swapped))
            elif whole is not None and whole[0].tree.n != figure.tree.n:
                found[own.place] = (own, False, None)
    return found


def _places(tables: Sequence[Mapping[Place, _Stated]]) -> list[Place]:
    """Return the places of all tables: those of the longest, the others behind their neighbours."""
    longest = max(range(len(tables)), key=lambda number: len(tables[number]))
    places = list(tables[longest])
    known = set(places)
    for table in tables:
        before = None
        for place in table:
            if place not in known:
                places.insert(0 if before is None else places.index(before) + 1, place)
                known.add(place)
            before = place
    return places


def _rows(
    columns: Sequence[Column], pairs: Sequence[Pair], *, intervals: bool, without_errors: bool
) -> list[ReportRow]:
    """Return the figures of all columns.

    Where answers hold reasoning, the figures under the other policy than theirs come last, for
    every column: a run without reasoning has the same figures under both.
    """
    others = {
        DROP if column.table.facts.reasoning["policy"] == KEEP else KEEP
        for column in columns
        if column.table.otherwise is not None
    }
    policies = [policy for policy in POLICIES if policy in others]
    found = [_figures(column.table, policies, without_errors=without_errors) for column in columns]
    pairings = [Pairing() for _ in pairs]
    rows = []
    for place in _places(found):
        figure, *_ = next(own[place] for own in found if place in own)
        cells = tuple(
            _cell(column.run.folder, *own[place], intervals=intervals) if place in own else None
            for column, own in zip(columns, found, strict=True)
        )
        differences = tuple(
            pairing.difference(found[pair.first][place][0].tree, found[pair.second][place][0].tree)
            if not pair.reason and place in found[pair.first] and place in found[pair.second]
            else None
            for pair, pairing in zip(pairs, pairings, strict=True)
        )
        rows.append(ReportRow(*place, figure.unit, figure.detail, cells, differences))
    return rows


def _leaderboards(columns: Sequence[Column], rows: Sequence[ReportRow]) -> list[Leaderboard]:
    def values(number: int) -> dict[Place, float | None]:
        return {
            (row.section, row.name): row.unit.scaled(figure.value)
            for row in rows
            if (figure := row.figures[number]) is not None
        }

    return [
        leaderboard(
            name,
            [
                (column.label, column.run, values(number))
                for number, column in enumerate(columns)
                if column.table.info.name == name
            ],
        )
        for name in tables()
        if any(column.table.info.name == name for column in columns)
    ]


def _benchmark(
    name: str, runs: Sequence[ScoredRun], *, published: bool, **how: bool
) -> BenchmarkReport | None:
    columns = columns_of(name, runs)
    if not columns:
        return None
    pairs = pairs_of(columns)
    rows, repeated = shown(_rows(columns, pairs, **how))
    warnings = [(column, warning_of(column.table)) for column in columns]
    details = sum(row.detail and row.is_known for row in rows)
    more = "{} more figures with --format csv or json."
    on_figures = (*repeated, *notes_on_lacking(columns))
    notes = (
        sentence(benchmarks()[name].unit_note),
        *map(note_on_column, columns),
        *(sentence("Warning, {}: {}.", own.label, text) for own, text in warnings if text),
        *map(note_on_pair, pairs),
        *([sentence(more, details)] if details else []),
        *on_figures,
    )
    boards = tuple(_leaderboards(columns, rows)) if published else ()
    title = columns[0].table.info.title
    own = (tuple(columns), tuple(pairs), tuple(rows))
    return BenchmarkReport(name, title, *own, notes, on_figures, boards)


def make_report(
    runs: Sequence[ScoredRun],
    *,
    published: bool = False,
    intervals: bool = True,
    without_errors: bool = False,
) -> Report:
    """Return the report of some runs, one column each and benchmark.

    Args:
        runs: scored runs, with distinct names.
        published: add the published rows and the ranks that the runs would take.
        intervals: make the intervals of figures, which takes a second or two.
        without_errors: add the headline without the questions that are known to be wrong.

    Raises:
        DataError: the files of a run contradict each other.
    """
    how = {"intervals": intervals, "without_errors": without_errors}
    found = (_benchmark(name, runs, published=published, **how) for name in benchmarks())
    known = tuple(benchmark for benchmark in found if benchmark is not None)
    return Report(known, tuple(remarks_on(runs)))
