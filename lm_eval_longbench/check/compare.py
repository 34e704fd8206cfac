"""Compare two results: what depends on settings, the headline, and why the numbers differ."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lm_eval_longbench.benchmarks.registry import benchmarks, segmented
from lm_eval_longbench.check.explain import Explanation, NothingShared, explained
from lm_eval_longbench.check.sides import Side, read_side
from lm_eval_longbench.errors import few
from lm_eval_longbench.reporting.render import difference_json, figure_json
from lm_eval_longbench.reporting.report import BenchmarkReport, Cell, ReportRow, make_report
from lm_eval_longbench.signature.compare import Comparison, SignatureDifference, compare
from lm_eval_longbench.signature.ingredients import CARE, COMPARABLE, NOT
from lm_eval_longbench.statistics.tree import Difference

# Names of the two sides.
A, B = "A", "B"


@dataclass(frozen=True)
class TaskComparison:
    """One task that both results have.

    Attributes:
        task: its name.
        comparison: of its signatures, and of the questions that were asked.
        figures: each that both sides have, with its two values.
    """

    task: str
    comparison: Comparison
    figures: Sequence[tuple[str, Any, Any]]


@dataclass(frozen=True)
class Headline:
    """A figure that tells how good both sides are.

    Attributes:
        title: of the benchmark, and of the mode or modes where it has several.
        row: the figure, of all columns.
        a, b: of the sides; None: there is none.
        difference: b less a, on the questions that both have; None: there are none.
    """

    title: str
    row: ReportRow
    a: Cell | None
    b: Cell | None
    difference: Difference | None

    def as_json(self) -> dict[str, Any]:
        """Return it as plain JSON values, unrounded."""
        unit = self.row.unit
        return {
            "title": self.title,
            "section": self.row.section,
            "figure": self.row.name,
            "unit": unit.name,
            "a": figure_json(self.a, unit),
            "b": figure_json(self.b, unit),
            "difference": difference_json(self.difference, unit),
        }


@dataclass(frozen=True)
class Compared:
    """Two results beside each other.

    Attributes:
        tasks: those that both have.
        only_left, only_right: names of the others.
        models: whose answers each side has, as far as it is said.
        headlines: the figures that tell how good both sides are; () where one has no scores.
        why: their difference by cause; None: `untold` says why not.
    """

    tasks: Sequence[TaskComparison]
    only_left: Sequence[str]
    only_right: Sequence[str]
    models: tuple[Sequence[str], Sequence[str]] = ((), ())
    headlines: Sequence[Headline] = ()
    why: Explanation | None = None
    untold: str = ""

    @property
    def verdict(self) -> str:
        """The heaviest verdict of the shared tasks; NOT without any."""
        verdicts = {task.comparison.verdict for task in self.tasks}
        if NOT in verdicts or not verdicts:
            return NOT
        alone = self.only_left or self.only_right
        return CARE if CARE in verdicts or alone else COMPARABLE

    def as_json(self) -> dict[str, Any]:
        """Return it as plain JSON values; docs/scoring.md describes them."""
        return {
            "verdict": self.verdict,
            "models": {"a": list(self.models[0]), "b": list(self.models[1])},
            "headline": [own.as_json() for own in self.headlines],
            "tasks": [
                {
                    "task": task.task,
                    "verdict": task.comparison.verdict,
                    "differences": [asdict(own) for own in task.comparison.differences],
                    "not_stated": list(task.comparison.unstated),
                    "figures": [
                        {"figure": name, "a": left, "b": right}
                        for name, left, right in task.figures
                    ],
                }
                for task in self.tasks
            ],
            "only_a": list(self.only_left),
            "only_b": list(self.only_right),
            "why": None if self.why is None else self.why.as_json(),
            "untold": self.untold or None,
        }


def compare_results(left: Path | str, right: Path | str) -> Compared:
    """Compare what `score` reads, results files, run folders or scored folders.

    Raises:
        PredictionError: a file is broken, or has no tasks of this package, or has answers of
            several models or settings.
        DataError: the files of a scored folder contradict each other.
    """
    with tempfile.TemporaryDirectory(prefix="lm-eval-longbench-") as scratch:
        one, other = (
            read_side(Path(path), Path(scratch, name), name)
            for path, name in ((left, A), (right, B))
        )
        why, untold = _why(one, other)
        ours, theirs = one.entries, other.entries
        return Compared(
            [_task(name, one, other) for name in ours if name in theirs],
            [name for name in ours if name not in theirs],
            [name for name in theirs if name not in ours],
            (one.models, other.models),
            list(_headlines(one, other)),
            why,
            untold,
        )


def _why(one: Side, other: Side) -> tuple[Explanation | None, str]:
    """Return why the sides differ, or else why that cannot be told."""
    for side in (one, other):
        if not side.questions:
            return None, f"{side.name} holds scores and no answers"
    try:
        return explained(one, other), ""
    except NothingShared as error:
        return None, str(error)


def _headlines(one: Side, other: Side) -> Iterator[Headline]:
    """Yield the headline of each pair of tables; of tables without one those of their tasks."""
    if one.run is None or other.run is None:
        return
    for report in make_report([one.run, other.run]).benchmarks:
        for number, pair in enumerate(report.pairs):
            found = [
                Headline(
                    _title(report, pair.first, pair.second),
                    row,
                    row.figures[pair.first],
                    row.figures[pair.second],
                    row.differences[number],
                )
                for row in report.rows
            ]
            known = [own for own in found if _has_value(own.a) and _has_value(own.b)]
            benchmark = benchmarks()[report.benchmark]
            places = benchmark.headline
            named = [own for own in known if (own.row.section, own.row.name) in places]
            sections = benchmark.task_sections
            yield from named or [own for own in known if own.row.section in sections] or known[:1]


def _has_value(cell: Cell | None) -> bool:
    return cell is not None and cell.value is not None


def _title(report: BenchmarkReport, first: int, second: int) -> str:
    modes = [report.columns[number].table.info.mode or "" for number in (first, second)]
    told = " and ".join(dict.fromkeys(filter(None, modes)))
    return f"{report.title} ({told})" if told else report.title


def _runs(name: str, one: Side, other: Side) -> Iterator[SignatureDifference]:
    """Yield that a side merges runs of one task that asked other questions: a trial, too."""
    merged = [side.merged.get(name, []) for side in (one, other)]
    if all(len({run.signature.get("questions_sha256") for run in own}) < 2 for own in merged):
        return
    left, right = (
        few([f"{run.file} ({run.signature.get('asked')} questions)" for run in own], 2)
        or f"{side.entries[name].signature.get('asked')} questions"
        for own, side in zip(merged, (one, other), strict=True)
    )
    yield SignatureDifference("runs", left, right, NOT, _MIXED)


_MIXED = (
    "a folder holds runs of different questions, as a trial with --limit beside the whole run; "
    "name the results file to compare in place of the folder"
)
_PART = (
    "one side asked only a part of the other's questions, as with --limit; B - A is over those "
    "that both have, and the same command without --limit asks the rest"
)


def _task(name: str, one: Side, other: Side) -> TaskComparison:
    left, right = one.entries[name], other.entries[name]
    found = compare(left.signature, right.signature, segmented())
    told = list(_runs(name, one, other))
    ours, theirs = one.asked(name), other.asked(name)
    if ours is not None and theirs is not None and ours != theirs:  # signatures only count them
        is_part = ours < theirs or theirs < ours
        told.append(
            SignatureDifference(
                "questions",
                f"{len(ours)}, {len(ours - theirs)} of them only here",
                f"{len(theirs)}, {len(theirs - ours)} of them only here",
                NOT,
                _PART if is_part else "the logs have answers to other questions",
            )
        )
    found = Comparison([*told, *found.differences], found.unstated)
    shared = (own for own in left.figures if own in right.figures)
    return TaskComparison(
        name, found, [(own, left.figures[own], right.figures[own]) for own in shared]
    )
