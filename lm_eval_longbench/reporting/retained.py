"""What runs keep of a baseline's score: by figure, along a number, and as tables.

The share R is the ratio of two means over the same questions. To first order it moves as the mean
of b - R a does, divided by the mean of a, where a and b are the two scores of a question (Cochran,
Sampling Techniques, 1977, chapter 6). Its interval is that of a paired difference with these
values: what both runs find easy or hard leaves no trace in it.

Where all but a few questions have the same score in both runs, those few say too little about what
other questions would lose, and no interval is made: with answers that are right or wrong, of which
the run loses three in a hundred, it would hold the true share 58% of the time with 60 questions.
`scripts/coverage_of_intervals.py` measures it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lm_eval_longbench.benchmarks.base import Place
from lm_eval_longbench.benchmarks.registry import benchmarks
from lm_eval_longbench.errors import OptionError, UnknownNameError
from lm_eval_longbench.reporting.formats import CellParts, Printed, TextTable, write
from lm_eval_longbench.reporting.render import (
    DIFFERENCE,
    NOTHING,
    csv_cells,
    difference_json,
    difference_parts,
    groups_of,
)
from lm_eval_longbench.reporting.report import (
    Column,
    Pair,
    columns_of,
    note_on_pair,
    pair_of,
    remarks_on,
)
from lm_eval_longbench.reporting.rows import Placed
from lm_eval_longbench.reporting.scored_run import ScoredRun
from lm_eval_longbench.statistics.figure import RELATIVE, Figure, Unit
from lm_eval_longbench.statistics.intervals import FEWEST, LEVEL, t_interval, two_sided_p
from lm_eval_longbench.statistics.tree import FEW_DIFFER, Difference, Pairing, Tree, few_differ

# ---------------------------------------------------------------------- one share

# A mean that is this small is 0, and nothing can be kept of it.
_ZERO = 1e-12


def retained(baseline: Tree, run: Tree) -> Difference | None:
    """Return which share of the baseline's figure a run keeps; None of figures that are ratios.

    The value is the ratio, 1 where nothing is lost; None where it cannot be given: a question that
    both have is unscored, they have none in common, or the baseline's score is 0. The p-value is
    against a ratio of 1.

    Args:
        baseline, run: the same figure of both.
    """
    own, base = Pairing(0.0).tree(baseline, run), Pairing(0.0).tree(run, baseline)
    if own is None or base is None:
        return None
    if own.value is None or base.value is None:
        reason = "a question is unscored, or a part has none in common"
        return Difference(None, own.n, None, None, None, reason)
    if base.value <= _ZERO:
        return Difference(None, own.n, None, None, None, "the baseline's score is 0")
    ratio = own.value / base.value
    less, rest = Pairing().tree(baseline, run), Pairing(ratio).tree(baseline, run)
    assert less is not None and rest is not None  # as `own` is not
    few = rest.few or few_differ(less)
    if few:
        return Difference(ratio, own.n, None, None, None, few)
    strata = [one.times(1 / base.value) for one in rest.influence]
    low, high = t_interval(ratio, strata)
    return Difference(ratio, own.n, low, high, two_sided_p(ratio - 1, strata))


# ---------------------------------------------------------------------- all figures of the runs

_METHOD = (
    "Retained is a run's score over the baseline's, in percent, on the questions that both have. "
    "Intervals are 95%: paired, by Student's t over documents with all of their questions, of the "
    "ratio to first order; p is two-sided, against 100%. The scores beside it are over all "
    f"questions of each run. [few differ]: {FEW_DIFFER}, [n<{FEWEST}]: fewer than {FEWEST} "
    "questions (or documents), in one of its datasets if it is a mean of several: too few for an "
    "interval or a p-value."
)


@dataclass(frozen=True)
class RetainedShare:
    """One figure of one run beside the baseline's.

    Attributes:
        score: of the run, over all its questions; None where it has none.
        retained: of the baseline's; None where the two cannot be compared.
    """

    score: float | None
    retained: Difference | None


@dataclass(frozen=True)
class RetainedRow(Placed):
    """One figure of the baseline, and what each run keeps of it.

    Attributes:
        baseline: its score.
        kept: one a column.
    """

    baseline: float
    kept: tuple[RetainedShare, ...]


@dataclass(frozen=True, eq=False)
class RetainedTable:
    """What runs keep of one table of the baseline.

    Attributes:
        baseline: its column.
        columns: of the other runs.
        labels: what stands above them.
        rows: the figures.
        notes: on which questions they are compared, or why they are not.
    """

    baseline: Column
    columns: tuple[Column, ...]
    labels: tuple[str, ...]
    rows: tuple[RetainedRow, ...]
    notes: tuple[str, ...]

    @property
    def title(self) -> str:
        """In print."""
        info = self.baseline.table.info
        return f"{info.title}{f', {info.mode}' if info.mode else ''}"


@dataclass(frozen=True, eq=False)
class RetainedReport:
    """What runs keep of a baseline.

    Attributes:
        baseline: its name.
        x: name of the number in which the runs differ; "" for none.
        numbers: the number of each run, by its name; empty without `x`.
        tables: of the baseline, those that another run has too.
        remarks: in what the runs differ that must not.
    """

    baseline: str
    x: str
    numbers: Mapping[str, float]
    tables: tuple[RetainedTable, ...]
    remarks: tuple[str, ...]


def _figures(column: Column) -> dict[Place, Figure]:
    """Return the figures of which something can be kept, by place."""
    answers = column.table.answers
    found = benchmarks()[answers.table.benchmark].figures(answers)
    return {one.place: one for one in found if not one.hidden and one.unit is not RELATIVE}


def _kept(baseline: Figure, pair: Pair, own: Mapping[Place, Figure]) -> RetainedShare:
    figure = own.get(baseline.place)
    if figure is None:
        return RetainedShare(None, None)
    return RetainedShare(
        figure.tree.value, None if pair.reason else retained(baseline.tree, figure.tree)
    )


def _table(baseline: Column, columns: Sequence[Column], labels: Mapping[str, str]) -> RetainedTable:
    everything = [baseline, *columns]
    pairs = [pair_of(everything, 0, number) for number in range(1, len(everything))]
    found = [_figures(column) for column in columns]
    rows = [
        RetainedRow(
            *figure.place,
            figure.unit,
            figure.detail,
            figure.tree.value,
            tuple(_kept(figure, pair, own) for pair, own in zip(pairs, found, strict=True)),
        )
        for figure in _figures(baseline).values()
        if figure.tree.value is not None
    ]
    return RetainedTable(
        baseline,
        tuple(columns),
        tuple(labels[column.run.name] for column in columns),
        tuple(rows),
        tuple(map(note_on_pair, pairs)),
    )


def _tables(
    baseline: ScoredRun, others: Sequence[ScoredRun], labels: Mapping[str, str]
) -> Iterator[RetainedTable]:
    for name in benchmarks():
        for base in columns_of(name, [baseline]):
            table = base.table.info.name
            columns = [one for one in columns_of(name, others) if one.table.info.name == table]
            if columns:
                yield _table(base, columns, labels)


def numbers_of(names: Sequence[str], x: str) -> dict[str, float]:
    """Return the number that each name of a run is.

    Raises:
        OptionError: a name is no number.
    """
    found = {}
    for name in names:
        try:
            found[name] = float(name)
        except ValueError:
            found[name] = math.nan
        if not math.isfinite(found[name]):
            raise OptionError(
                f"The run {name!r} has no number to stand at along {x}. Name each run by its "
                f"number, such as 0.5=results/keep-0.5."
            )
    return found


def make_retained(runs: Sequence[ScoredRun], baseline: str, x: str | None = None) -> RetainedReport:
    """Return what runs keep of a baseline's score.

    Args:
        runs: scored runs, with distinct names, the baseline among them.
        baseline: its name.
        x: name of the number in which the runs differ, which is then the name of each, in the order
            of which they stand; None: they differ in something else.

    Raises:
        UnknownNameError: there is no run of the baseline's name.
        OptionError: there is no other run, none has a table in common with it, or a name is no
            number.
    """
    names = [run.name for run in runs]
    if baseline not in names:
        raise UnknownNameError("run of the baseline", baseline, names)
    numbers = {} if x is None else numbers_of(names, x)
    base = runs[names.index(baseline)]
    others = sorted(
        (run for run in runs if run is not base), key=lambda run: numbers.get(run.name, 0.0)
    )
    labels = {name: f"{x}={name}" if x is not None else name for name in names}
    tables = tuple(_tables(base, others, labels))
    if not tables:
        raise OptionError(
            f"No run has a table in common with the baseline {baseline}. Give runs of the same "
            "benchmark beside it."
        )
    return RetainedReport(baseline, x or "", numbers, tables, tuple(remarks_on(runs)))


# ---------------------------------------------------------------------- what is printed

# A ratio as a percentage.
PERCENT = Unit("ratio", 1, 100, 2)


def _parts(kept: RetainedShare, unit: Unit) -> CellParts:
    """Return a cell, such as "97.31 [95.10, 99.52] p=0.018 n=200, 40.12"."""
    if kept.score is None:
        return NOTHING
    score = unit.shown(kept.score)
    *parts, rest = difference_parts(kept.retained, PERCENT, signed=False)
    return (*parts, f"{rest}, {score}") if parts else ("-,", "", score)


def _printed_table(table: RetainedTable) -> TextTable:
    def cells(row: RetainedRow) -> list[CellParts]:
        return [(row.unit.shown(row.baseline),), *(_parts(kept, row.unit) for kept in row.kept)]

    heads = [("figure", ""), (f"{table.baseline.run.name} (baseline)", "score")]
    heads += [(label, "retained % [95%] p n, score") for label in table.labels]
    groups, paper = groups_of(table.rows, cells), ("", *(label for label, _ in heads[1:]))
    return TextTable(table.title, heads, groups, table.notes, paper, f"{table.title}, retained %.")


def _lines(report: RetainedReport) -> Iterator[dict[str, Any]]:
    """Yield a line a figure and run, so that a sweep is a column of numbers to draw."""
    for table in report.tables:
        for row in table.rows:
            for column, kept in zip(table.columns, row.kept, strict=True):
                cells = csv_cells(kept.retained, PERCENT, (*DIFFERENCE, "reason"))
                yield {
                    "table": table.baseline.table.info.name,
                    "section": row.section,
                    "figure": row.name,
                    "run": column.run.name,
                    **({report.x: column.run.name} if report.x else {}),
                    "baseline": row.unit.shown(row.baseline),
                    "score": "" if kept.score is None else row.unit.shown(kept.score),
                    "retained": cells.pop(""),
                    **cells,
                }


def _json_kept(kept: RetainedShare, unit: Unit) -> dict[str, Any]:
    nothing = dict.fromkeys(("value", "low", "high", "p_value", "reason", "n"))
    found = difference_json(kept.retained, PERCENT) or nothing
    return {"score": unit.scaled(kept.score), "retained": found.pop("value"), **found}


def _json_table(table: RetainedTable) -> dict[str, Any]:
    return {
        "table": table.baseline.table.info.name,
        "title": table.title,
        "runs": [column.run.name for column in table.columns],
        "figures": [
            {
                "section": row.section,
                "name": row.name,
                "unit": row.unit.name,
                "baseline": row.unit.scaled(row.baseline),
                "runs": [_json_kept(kept, row.unit) for kept in row.kept],
            }
            for row in table.rows
        ],
        "notes": table.notes,
    }


def render(report: RetainedReport, name: str, width: int | None = None) -> str:
    """Return the report in one of FORMATS, see `formats.write`.

    Shares are percent, but in JSON, where everything is unrounded, ratios: 1 for all.
    """
    value = {
        "baseline": report.baseline,
        "x": {"name": report.x, "values": report.numbers} if report.x else None,
        "method": {"level": LEVEL, "text": (_METHOD,)},
        "remarks": report.remarks,
        "tables": list(map(_json_table, report.tables)),
    }
    closing = (*(f"Remark: {text}" for text in report.remarks), _METHOD)
    tables = tuple(map(_printed_table, report.tables))
    return write(Printed(tables, closing, list(_lines(report)), (), value), name, width)
