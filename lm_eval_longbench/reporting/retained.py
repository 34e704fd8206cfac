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
from dataclasses import dataclass, replace
from typing import Any

from lm_eval_longbench.benchmarks.registry import benchmarks
from lm_eval_longbench.errors import OptionError, UnknownNameError
from lm_eval_longbench.language import Sentence
from lm_eval_longbench.reporting.formats import write
from lm_eval_longbench.reporting.notes import Column, note_on_pair, remarks_on
from lm_eval_longbench.reporting.render import DIFFERENCE, PERCENT, csv_cells, printed
from lm_eval_longbench.reporting.report import (
    BenchmarkReport,
    Cell,
    Report,
    ReportRow,
    columns_of,
    pair_of,
)
from lm_eval_longbench.reporting.scored_run import ScoredRun
from lm_eval_longbench.statistics.figure import RELATIVE, Figure, Place
from lm_eval_longbench.statistics.intervals import FEWEST, t_interval, two_sided_p
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


@dataclass(frozen=True, eq=False)
class RetainedReport(Report):
    """What runs keep of a baseline, which is the first column of each table.

    The differences of a row are the shares that the other columns keep.

    Attributes:
        baseline: its name.
        x: name of the number in which the runs differ; "" for none.
        numbers: the number of each run, by its name; empty without `x`.
    """

    baseline: str
    x: str
    numbers: Mapping[str, float]

    @property
    def method(self) -> tuple[Sentence, ...]:
        """How shares and their intervals were made."""
        return (Sentence(_METHOD),)


def _figures(column: Column) -> dict[Place, Figure]:
    """Return the figures of which something can be kept, by place."""
    answers = column.table.answers
    found = benchmarks()[answers.table.benchmark].figures(answers)
    return {one.place: one for one in found if not one.hidden and one.unit is not RELATIVE}


def _table(columns: Sequence[Column], x: str) -> BenchmarkReport:
    """Return what the other columns keep of the first one."""
    pairs = [pair_of(columns, 0, number) for number in range(1, len(columns))]
    own, *others = map(_figures, columns)
    rows = []
    for place, figure in own.items():
        if figure.tree.value is None:
            continue
        beside = [found.get(place) for found in others]
        kept = tuple(
            None if pair.reason or one is None else retained(figure.tree, one.tree)
            for pair, one in zip(pairs, beside, strict=True)
        )
        # Without an interval: the share has one.
        cells = tuple(None if one is None else Cell.plain(one.tree) for one in (figure, *beside))
        rows.append(ReportRow(*place, figure.unit, figure.detail, cells, kept))
    info, notes = columns[0].table.info, tuple(map(note_on_pair, pairs))
    title = f"{info.title}, {info.mode}" if info.mode else info.title
    start = f"{x}=" if x else ""
    labels = [f"{start}{column.run.name} / baseline" for column in columns[1:]]
    return BenchmarkReport(
        info.benchmark,
        title,
        tuple(columns),
        tuple(replace(pair, label=label) for pair, label in zip(pairs, labels, strict=True)),
        tuple(rows),
        notes,
        are_shares=True,
    )


def _tables(baseline: ScoredRun, others: Sequence[ScoredRun], x: str) -> Iterator[BenchmarkReport]:
    for name in benchmarks():
        for base in columns_of(name, [baseline]):
            table = base.table.info.name
            columns = [one for one in columns_of(name, others) if one.table.info.name == table]
            if columns:
                yield _table([base, *columns], x)


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
    by_name = {run.name: run for run in runs}
    if baseline not in by_name:
        raise UnknownNameError("run of the baseline", baseline, list(by_name))
    numbers = {} if x is None else numbers_of(list(by_name), x)
    base = replace(by_name.pop(baseline), name=f"{baseline} (baseline)")
    others = sorted(by_name.values(), key=lambda run: numbers.get(run.name, 0.0))
    tables = tuple(_tables(base, others, x or ""))
    if not tables:
        raise OptionError(
            f"No run has a table in common with the baseline {baseline}. Give runs of the same "
            "benchmark beside it."
        )
    remarks = tuple(remarks_on(runs))
    return RetainedReport(tables, remarks, baseline=baseline, x=x or "", numbers=numbers)


# ---------------------------------------------------------------------- what is printed


def _lines(report: RetainedReport) -> Iterator[dict[str, Any]]:
    """Yield a line a figure and run, so that a sweep is a column of numbers to draw."""
    for table in report.benchmarks:
        for row in table.rows:
            scores = [None if own is None else own.value for own in row.figures]
            texts = ["" if own is None else row.unit.shown(own) for own in scores]
            for number, kept in enumerate(row.differences, start=1):
                name = table.columns[number].run.name
                cells = csv_cells(kept, PERCENT, (*DIFFERENCE, "reason"))
                yield {
                    "table": table.columns[0].table.info.name,
                    "section": row.section,
                    "figure": row.name,
                    "run": name,
                    **({report.x: name} if report.x else {}),
                    "baseline": texts[0],
                    "score": texts[number],
                    "retained": cells.pop(""),
                    **cells,
                }


def render(report: RetainedReport, name: str, width: int | None = None) -> str:
    """Return the report in one of FORMATS, see `formats.write`.

    It is that of the report, but CSV, which has a line a figure and run. Shares are percent, but in
    JSON, where everything is unrounded, ratios: 1 for all.
    """
    own = printed(report)
    x = {"name": report.x, "values": report.numbers} if report.x else None
    value = {"baseline": report.baseline, "x": x, **own.value}
    return write(replace(own, lines=list(_lines(report)), first=(), value=value), name, width)
