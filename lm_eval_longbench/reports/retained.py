"""What runs keep of a baseline's score: by figure, and along a number in which the runs differ."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lm_eval_longbench.benchmarks.base import Place
from lm_eval_longbench.benchmarks.registry import benchmarks
from lm_eval_longbench.errors import OptionError, UnknownNameError
from lm_eval_longbench.figures.figure import RELATIVE, Figure, Unit
from lm_eval_longbench.figures.intervals import FEWEST
from lm_eval_longbench.figures.retained import Retained, retained
from lm_eval_longbench.figures.tree import FEW_DIFFER
from lm_eval_longbench.reports.report import (
    Column,
    Pair,
    columns_of,
    note_on_pair,
    pair_of,
    remarks_on,
)
from lm_eval_longbench.reports.scored_run import ScoredRun

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
        raise UnknownNameError("run of --baseline", baseline, names)
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
