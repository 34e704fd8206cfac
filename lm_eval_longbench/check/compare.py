"""Compare two results: what depends on settings, the headline, and why the numbers differ."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lm_eval_longbench.benchmarks.registry import benchmarks, segmented
from lm_eval_longbench.check.explain import Explanation, NothingShared, explained
from lm_eval_longbench.check.sides import Side, read_side
from lm_eval_longbench.errors import OptionError, UnknownNameError, few
from lm_eval_longbench.reporting.render import difference_json, figure_json
from lm_eval_longbench.reporting.report import Cell, ReportRow, make_report
from lm_eval_longbench.signature.compare import Comparison, SignatureDifference, compare
from lm_eval_longbench.signature.ingredients import CARE, COMPARABLE, NOT, PART, is_part
from lm_eval_longbench.statistics.answers import Answers
from lm_eval_longbench.statistics.margin import NOT_WORSE, UNDECIDED, WORSE, Margin, judged
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
        a, b: of the sides, each with a value.
        difference: b less a, on the questions that both have; None: there are none.
        sides: the answers of both.
        main: whether it is one of those that are shown.
    """

    title: str
    row: ReportRow
    a: Cell
    b: Cell
    difference: Difference | None
    sides: tuple[Answers, Answers] = field(compare=False, repr=False)
    main: bool = False

    @property
    def place(self) -> str:
        """Its name with that of its section."""
        section, name = self.row.section, self.row.name
        return name if section == name else f"{section}/{name}"

    def judged(self, margin: float) -> Margin | None:
        """Return whether b is worse by more than a margin in points; None: there is no pair."""
        if self.difference is None or self.a.tree is None or self.b.tree is None:
            return None
        share = margin / self.row.unit.shown_factor
        return judged(self.a.tree, self.b.tree, share, self.sides)

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
        figures: each that both sides have, of all tables; () where one has no scores.
        why: their difference by cause; None: `untold` says why not.
    """

    tasks: Sequence[TaskComparison]
    only_left: Sequence[str]
    only_right: Sequence[str]
    models: tuple[Sequence[str], Sequence[str]] = ((), ())
    figures: Sequence[Headline] = ()
    why: Explanation | None = None
    untold: str = ""

    @property
    def headlines(self) -> list[Headline]:
        """The figures that tell how good both sides are."""
        return [own for own in self.figures if own.main]

    def named(self, name: str | None) -> list[Headline]:
        """Return the figures of this name, or of this "section/name"; None: the headlines.

        Of several with a name it is the one beside the headline.

        Raises:
            UnknownNameError: no figure that both sides have.
            OptionError: several of one table have this name.
        """
        if name is None:
            return self.headlines
        exact = [own for own in self.figures if own.place == name]
        found = exact or [own for own in self.figures if own.row.name == name]
        beside = {own.row.section for own in self.headlines}
        found = [own for own in found if own.row.section in beside] or found
        if not found:
            raise UnknownNameError("figure", name, {own.place for own in self.figures})
        places = list(dict.fromkeys(own.place for own in found))
        if len(places) > 1:
            several = few(places, 5)
            raise OptionError(f"Several figures have the name {name!r}: say which, {several}.")
        return found

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
            list(_figures(one, other)),
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


def _figures(one: Side, other: Side) -> Iterator[Headline]:
    """Yield the figures of each pair of tables; where it has no headline its tasks are main."""
    if one.run is None or other.run is None:
        return
    for report in make_report([one.run, other.run]).benchmarks:
        benchmark = benchmarks()[report.benchmark]
        places, sections = benchmark.headline, benchmark.task_sections
        for number, pair in enumerate(report.pairs):
            first, second = (report.columns[place].table for place in (pair.first, pair.second))
            modes = dict.fromkeys(filter(None, (first.info.mode, second.info.mode)))
            title = f"{report.title} ({' and '.join(modes)})" if modes else report.title
            cells = [
                (row, row.figures[pair.first], row.figures[pair.second]) for row in report.rows
            ]
            found = [
                (row, a, b) for row, a, b in cells if a and b and None not in (a.value, b.value)
            ]
            rows = [row for row, *_ in found]
            main = (
                [row for row in rows if (row.section, row.name) in places]
                or [row for row in rows if row.section in sections]
                or rows[:1]
            )
            both = first.answers, second.answers
            for row, a, b in found:
                yield Headline(title, row, a, b, row.differences[number], both, row in main)


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
        part = ours < theirs or theirs < ours
        chosen = is_part(left.signature, right.signature) and bool(ours & theirs)
        told.append(
            SignatureDifference(
                "questions",
                f"{len(ours)}, {len(ours - theirs)} of them only here",
                f"{len(theirs)}, {len(theirs - ours)} of them only here",
                CARE if chosen else NOT,
                PART if chosen else _PART if part else "the logs have answers to other questions",
            )
        )
    found = Comparison([*told, *found.differences], found.unstated)
    shared = [own for own in left.figures if own in right.figures]
    figures = [(own, left.figures[own], right.figures[own]) for own in shared]
    return TaskComparison(name, found, figures)


def margin_verdict(
    compared: Compared, margin: float, name: str | None = None
) -> tuple[str, list[tuple[Headline, Margin | None]]]:
    """Return whether B is worse than A by more than a margin in points.

    Returns:
        The heaviest answer, NOT, WORSE, UNDECIDED or NOT_WORSE; and the figures that
        `Compared.named` returns, each with its own answer, None: it has no pairs.
    """
    figures = [(own, own.judged(margin)) for own in compared.named(name)]
    found = {compared.verdict, *(NOT if own is None else own.verdict for _, own in figures)}
    return next((one for one in (NOT, WORSE, UNDECIDED, NOT_WORSE) if one in found), NOT), figures
