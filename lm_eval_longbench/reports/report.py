"""Put scored runs side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from lm_eval_longbench.metrics.reasoning import DROP, KEEP, POLICIES
from lm_eval_longbench.reports import longbench_e, longbench_pro, longbench_v1, longbench_v2
from lm_eval_longbench.reports.columns import Column, Pair, columns_of, pairs_of
from lm_eval_longbench.reports.figure import Difference, Figure, Unit
from lm_eval_longbench.reports.leaderboard import Leaderboard, leaderboard
from lm_eval_longbench.reports.measure import Pairing
from lm_eval_longbench.reports.notes import method, notes_of
from lm_eval_longbench.reports.published import Place
from lm_eval_longbench.reports.remarks import remarks
from lm_eval_longbench.reports.scored import Run, ScoredTable
from lm_eval_longbench.reports.spec import Spec
from lm_eval_longbench.reports.tables import TABLES

_SPECS: Mapping[str, Callable[[ScoredTable], list[Spec]]] = {
    "longbench_v1": longbench_v1.specs,
    "longbench_v1_e": longbench_e.specs,
    "longbench_v2": longbench_v2.specs,
    "longbench_pro": longbench_pro.specs,
}
# Sections that are shown under both policies for reasoning, beside the official figures.
_UNDER_BOTH = (longbench_v1.HEADLINE, longbench_e.SECTIONS[0], longbench_v1.ROUGE_GOOGLE)
_DONE = {KEEP: "kept", DROP: "dropped"}


@dataclass(frozen=True)
class Row:
    """One figure of every column.

    Attributes:
        section, name: its place.
        unit: how it is given.
        detail: shown in CSV and JSON only.
        figures: one a column; None where a run has fewer repeats than the figure needs.
        differences: one a pair; None where there is none.
    """

    section: str
    name: str
    unit: Unit
    detail: bool
    figures: tuple[Figure | None, ...]
    differences: tuple[Difference | None, ...]


@dataclass(frozen=True, eq=False)
class BenchmarkReport:
    """The table of one benchmark.

    Attributes:
        benchmark: its name.
        title: in print.
        columns, pairs: runs, and what is compared.
        rows: the figures.
        notes: what a reader must know.
        leaderboards: published rows of each table, where they were asked for.
    """

    benchmark: str
    title: str
    columns: tuple[Column, ...]
    pairs: tuple[Pair, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    leaderboards: tuple[Leaderboard, ...]


@dataclass(frozen=True, eq=False)
class Report:
    """Every table of some runs.

    Attributes:
        runs: in the order given.
        benchmarks: in the order of TABLES.
        remarks: in what the runs differ that must not.
    """

    runs: tuple[Run, ...]
    benchmarks: tuple[BenchmarkReport, ...]
    remarks: tuple[str, ...]

    @property
    def method(self) -> tuple[str, ...]:
        """How intervals and differences were made."""
        return method(differences=any(one.pairs for one in self.benchmarks))


def _specs(table: ScoredTable, policies: Sequence[str]) -> dict[Place, Spec]:
    """Return the figures of a table by place.

    Args:
        table: of a run.
        policies: for reasoning, under each of which the headline and the official figures follow.
    """
    specs = list(_SPECS[table.info.benchmark](table))
    for policy in policies:
        under = table.under(policy)
        for spec in [] if under is None else _SPECS[table.info.benchmark](under):
            if spec.in_official or spec.section in _UNDER_BOTH:
                specs.append(replace(spec, section=f"{spec.section}, reasoning {_DONE[policy]}"))
    return {spec.place: spec for spec in specs}


def _places(tables: Sequence[Mapping[Place, Spec]]) -> list[Place]:
    """Return the places of all tables: those of the longest, the others behind their neighbours."""
    places = list(max(tables, key=len))
    known = set(places)
    for table in tables:
        before = None
        for place in table:
            if place not in known:
                places.insert(0 if before is None else places.index(before) + 1, place)
                known.add(place)
            before = place
    return places


def _rows(columns: Sequence[Column], pairs: Sequence[Pair]) -> list[Row]:
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
    tables = [_specs(column.table, policies) for column in columns]
    pairings = [Pairing() for _ in pairs]
    rows = []
    for place in _places(tables):
        spec = next(table[place] for table in tables if place in table)
        figures = tuple(
            table[place].figure(column.run.folder) if place in table else None
            for column, table in zip(columns, tables, strict=True)
        )
        differences = tuple(
            pairing.difference(tables[pair.first][place].tree, tables[pair.second][place].tree)
            if not pair.reason and place in tables[pair.first] and place in tables[pair.second]
            else None
            for pair, pairing in zip(pairs, pairings, strict=True)
        )
        rows.append(Row(*place, spec.unit, spec.detail, figures, differences))
    return rows


def _leaderboards(columns: Sequence[Column], rows: Sequence[Row]) -> list[Leaderboard]:
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
                if column.table.name == name
            ],
        )
        for name in TABLES
        if any(column.table.name == name for column in columns)
    ]


def _benchmark(name: str, runs: Sequence[Run], *, published: bool) -> BenchmarkReport | None:
    columns = columns_of(name, runs)
    if not columns:
        return None
    pairs = pairs_of(columns)
    rows = _rows(columns, pairs)
    details = sum(row.detail for row in rows)
    return BenchmarkReport(
        name,
        columns[0].table.info.title,
        tuple(columns),
        tuple(pairs),
        tuple(rows),
        tuple(notes_of(name, columns, pairs, details)),
        tuple(_leaderboards(columns, rows)) if published else (),
    )


def make_report(runs: Sequence[Run], *, published: bool = False) -> Report:
    """Return the report of some runs, one column each and benchmark.

    Args:
        runs: scored runs, with distinct names.
        published: add the published rows and the ranks that the runs would take.

    Raises:
        DataError: the files of a run contradict each other.
    """
    found = (_benchmark(name, runs, published=published) for name in _SPECS)
    return Report(
        tuple(runs),
        tuple(benchmark for benchmark in found if benchmark is not None),
        tuple(remarks(runs)),
    )
