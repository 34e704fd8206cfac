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

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Column as RichColumn
from rich.table import Table as RichTable

from lm_eval_longbench.benchmarks.base import Place
from lm_eval_longbench.benchmarks.registry import benchmarks
from lm_eval_longbench.errors import OptionError, UnknownNameError
from lm_eval_longbench.figures.figure import RELATIVE, Figure, Unit
from lm_eval_longbench.figures.intervals import FEWEST, LEVEL, t_interval, two_sided_p
from lm_eval_longbench.figures.tree import FEW_DIFFER, Pairing, Tree, few_differ
from lm_eval_longbench.reports.render import (
    TABLE,
    check_format,
    console_in_memory,
    escaped_markdown,
    interval_mark,
    markdown_line,
    p_text,
    sections,
    text_of,
)
from lm_eval_longbench.reports.render_csv import csv_of
from lm_eval_longbench.reports.report import (
    Column,
    Pair,
    columns_of,
    note_on_pair,
    pair_of,
    remarks_on,
)
from lm_eval_longbench.reports.scored_run import ScoredRun
from lm_eval_longbench.version import __version__

# ---------------------------------------------------------------------- one share

# A mean that is this small is 0, and nothing can be kept of it.
_ZERO = 1e-12


@dataclass(frozen=True)
class Retained:
    """The score of a run over that of a baseline.

    Attributes:
        value: the ratio, 1 where nothing is lost; None where it cannot be given: a question that
            both have is unscored, they have none in common, or the baseline's score is 0.
        n: questions that both have.
        low, high: ends of the 95% interval; None where there is none.
        p_value: two-sided, against a ratio of 1; None where there is no interval.
        reason: why there is no value, or no interval; "" otherwise.
    """

    value: float | None
    n: int
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    reason: str = ""


def retained(baseline: Tree, run: Tree) -> Retained | None:
    """Return which share of the baseline's figure a run keeps; None of figures that are ratios.

    Args:
        baseline, run: the same figure of both.
    """
    own, base = Pairing(0.0).tree(baseline, run), Pairing(0.0).tree(run, baseline)
    if own is None or base is None:
        return None
    if own.value is None or base.value is None:
        return Retained(None, own.n, reason="a question is unscored, or a part has none in common")
    if base.value <= _ZERO:
        return Retained(None, own.n, reason="the baseline's score is 0")
    ratio = own.value / base.value
    less, rest = Pairing().tree(baseline, run), Pairing(ratio).tree(baseline, run)
    assert less is not None and rest is not None  # as `own` is not
    few = rest.few or few_differ(less)
    if few:
        return Retained(ratio, own.n, reason=few)
    strata = [one.times(1 / base.value) for one in rest.influence]
    low, high = t_interval(ratio, strata)
    return Retained(ratio, own.n, low, high, two_sided_p(ratio - 1, strata))


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
    retained: Retained | None


@dataclass(frozen=True)
class RetainedRow:
    """One figure of the baseline, and what each run keeps of it.

    Attributes:
        section, name: its place.
        unit: of the scores.
        detail: shown in CSV and JSON only.
        baseline: its score.
        kept: one a column.
    """

    section: str
    name: str
    unit: Unit
    detail: bool
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

    @property
    def method(self) -> tuple[str, ...]:
        """How shares and intervals were made."""
        return (_METHOD,)


def _figures(column: Column) -> dict[Place, Figure]:
    """Return the figures of which something can be kept, by place."""
    answers = column.table.answers
    found = answers.benchmark.figures(answers)
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


# ---------------------------------------------------------------------- formats

# A ratio as a percentage.
PERCENT = Unit("ratio", 1, 100, 2)
_HOLDS = "retained % [95%] p n, score"


def kept_text(kept: RetainedShare, unit: Unit) -> str:
    """Return one cell, such as "97.31 [95.10, 99.52] p=0.018 n=200, 40.12"; "" for no figure."""
    if kept.score is None:
        return ""
    found, score = kept.retained, unit.shown(kept.score)
    if found is None:
        return f"-, {score}"
    text = PERCENT.shown(found.value) + interval_mark(found.reason)
    if found.low is not None and found.p_value is not None:
        ends = f"{PERCENT.shown(found.low)}, {PERCENT.shown(found.high)}"
        text += f" [{ends}] {p_text(found.p_value)}"
    return f"{text} n={found.n}, {score}"


def _heads(table: RetainedTable) -> list[tuple[str, str]]:
    return [
        (f"{table.baseline.run.name} (baseline)", "score"),
        *((label, _HOLDS) for label in table.labels),
    ]


def _cells(row: RetainedRow) -> list[str]:
    return [row.unit.shown(row.baseline), *(kept_text(kept, row.unit) for kept in row.kept)]


def _last(report: RetainedReport) -> Iterator[str]:
    yield from (f"Remark: {text}" for text in report.remarks)
    yield from report.method


def table_text(report: RetainedReport, width: int | None = None) -> str:
    """Return the report as plain text; `width`: of the longest line, None: no limit."""
    console = console_in_memory(width)
    for table in report.tables:
        heads = (RichColumn(f"{label}\n{holds}", overflow="fold") for label, holds in _heads(table))
        made = RichTable(
            RichColumn("figure", overflow="fold"), *heads, title=table.title, title_justify="left"
        )
        for title, rows in sections(table.rows):
            made.add_section()
            if title:
                made.add_row(title)
            for row in rows:
                made.add_row(f"  {row.name}" if title else row.name, *_cells(row))
        console.print(made)
        for note in table.notes:
            console.print(note)
        console.print()
    for line in _last(report):
        console.print(line)
    return text_of(console)


def _markdown_lines(report: RetainedReport) -> Iterator[str]:
    for table in report.tables:
        heads = [f"{escaped_markdown(label)}<br>{holds}" for label, holds in _heads(table)]
        yield f"## {table.title}"
        yield ""
        yield markdown_line(["figure", *heads])
        yield markdown_line(["---", *["---:"] * len(heads)])
        for title, rows in sections(table.rows):
            if title:
                yield markdown_line([f"**{escaped_markdown(title)}**", *[""] * len(heads)])
            for row in rows:
                yield markdown_line([escaped_markdown(row.name), *_cells(row)])
        yield ""
        yield from (f"- {escaped_markdown(note)}" for note in table.notes)
        yield ""
    yield from (f"- {escaped_markdown(text)}" for text in _last(report))


def markdown_text(report: RetainedReport) -> str:
    """Return the report as Markdown."""
    return "".join(f"{line}\n" for line in _markdown_lines(report))


def _csv_lines(report: RetainedReport) -> Iterator[dict[str, Any]]:
    """Yield a line a figure and run, so that a sweep is a column of numbers to draw."""
    for table in report.tables:
        for row in table.rows:
            for column, kept in zip(table.columns, row.kept, strict=True):
                found = kept.retained
                ends = (None, None) if found is None else (found.low, found.high)
                value = None if found is None else found.value
                p_value = None if found is None else found.p_value
                texts = ["" if one is None else PERCENT.shown(one) for one in (value, *ends)]
                yield {
                    "table": table.baseline.table.info.name,
                    "section": row.section,
                    "figure": row.name,
                    "run": column.run.name,
                    **({report.x: column.run.name} if report.x else {}),
                    "baseline": row.unit.shown(row.baseline),
                    "score": "" if kept.score is None else row.unit.shown(kept.score),
                    **dict(zip(("retained", "low", "high"), texts, strict=True)),
                    "p": "" if p_value is None else f"{p_value:.4f}",
                    "n": "" if found is None else found.n,
                    "reason": "" if found is None else found.reason,
                }


def csv_text(report: RetainedReport) -> str:
    """Return the report as CSV: a line a figure and run, shares in percent."""
    return csv_of(list(_csv_lines(report)))


def _json_kept(kept: RetainedShare, unit: Unit) -> dict[str, Any]:
    found = kept.retained
    return {
        "score": unit.scaled(kept.score),
        "retained": None if found is None else found.value,
        "low": None if found is None else found.low,
        "high": None if found is None else found.high,
        "p_value": None if found is None else found.p_value,
        "n": None if found is None else found.n,
        "reason": (found.reason or None) if found is not None else None,
    }


def json_text(report: RetainedReport) -> str:
    """Return the report as JSON: everything, unrounded; `retained` is a ratio, 1 for all."""
    value = {
        "format": 1,
        "package": f"lm-eval-longbench {__version__}",
        "baseline": report.baseline,
        "x": {"name": report.x, "values": dict(report.numbers)} if report.x else None,
        "method": {"level": LEVEL, "text": list(report.method)},
        "remarks": list(report.remarks),
        "tables": [
            {
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
                "notes": list(table.notes),
            }
            for table in report.tables
        ],
    }
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


_OTHERS: Mapping[str, Callable[[RetainedReport], str]] = {
    "markdown": markdown_text,
    "csv": csv_text,
    "json": json_text,
}


def render(report: RetainedReport, name: str, width: int | None = None) -> str:
    """Return the report in a format, see `reports.render.FORMATS`; `width`: of tables.

    Raises:
        UnknownNameError: there is no such format.
    """
    return table_text(report, width) if check_format(name) == TABLE else _OTHERS[name](report)
