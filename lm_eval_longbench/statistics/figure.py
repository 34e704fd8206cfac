"""Figures of a table: reducers of the answers to a question, groups of questions, their means.

And what is counted of the answers, in the shape of report.json.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lm_eval_longbench.statistics.answers import Answers
from lm_eval_longbench.statistics.means import best_scores, running_total
from lm_eval_longbench.statistics.tree import Contrast, Leaf, Tree

if TYPE_CHECKING:
    from lm_eval_longbench.records.scored import TaskCounts


@dataclass(frozen=True)
class Unit:
    """How a figure is given.

    Attributes:
        name: "percent", "share" or "relative".
        factor: from a share in [0, 1] to the value in JSON.
        shown_factor: from a share to the number in tables and CSV.
        decimals: of the shown number, rounded as officially.
        signed: whether a plus sign is shown.
    """

    name: str
    factor: float
    shown_factor: float
    decimals: int
    signed: bool = False

    def shown(self, value: float | None, *, signed: bool = False) -> str:
        """Return a share as the number in a table; "-" for None."""
        if value is None:
            return "-"
        text = f"{self.shown_factor * value:.{self.decimals}f}"
        if float(text) == 0:
            text = text.removeprefix("-")
        return f"+{text}" if (signed or self.signed) and float(text) > 0 else text

    def scaled(self, value: float | None) -> float | None:
        """Return a share as the value in JSON, unrounded."""
        return None if value is None else self.factor * value


# Section and name of a figure in reports.
Place = tuple[str, str]
# x/y - 1 of two figures.
RELATIVE = Unit("relative", 1, 100, 2, signed=True)
# From the values of questions in their order, and the number that they are divided by.
Rounded = Callable[[np.ndarray, int], float]


@dataclass(frozen=True, eq=False)
class Figure:
    """One figure of one table.

    Attributes:
        section, name: its place in reports; together they are its name across runs.
        tree: what it is made of.
        unit: how it is given.
        rounded: how the official code adds up and rounds, to a value in the unit; None: the sum is
            exact, so that the order of questions leaves no trace, and not rounded.
        path: where report.json has it, part first: ("official", "overall"); () where it has not.
        metric: its key in the harness's results; "" where it has none.
        detail: shown in CSV and JSON only.
        hidden: no row of reports.
        main: shown under both policies for reasoning, as figures of the official file are.
    """

    section: str
    name: str
    tree: Tree
    unit: Unit
    rounded: Rounded | None = None
    path: tuple[str, ...] = ()
    metric: str = ""
    detail: bool = False
    hidden: bool = False
    main: bool = False

    @property
    def place(self) -> Place:
        """Section and name."""
        return self.section, self.name

    @property
    def leaf(self) -> Leaf:
        """What it is made of, if that is questions and no other figures."""
        assert isinstance(self.tree, Leaf)
        return self.tree

    @property
    def official(self) -> float | None:
        """The value in the benchmark's unit as the official code adds up and rounds; None: none."""
        leaf = self.tree
        if not isinstance(leaf, Leaf) or leaf.value is None:
            return None
        if self.rounded is None:
            return self.unit.scaled(leaf.value)
        return self.rounded(leaf.in_order, leaf.n)

    def differs_from(self, stated: Any) -> bool:
        """Whether a file states another official value of the figure; None: it has none."""
        value = self.tree.value
        if value is None or stated is None:
            return value is not stated
        if isinstance(stated, bool) or not isinstance(stated, int | float):
            return True
        # Half a unit of the last official digit; official shares are not rounded.
        rounding = 0.5 * 10**-self.unit.decimals if self.unit.factor != 1 else 0.0
        return not abs(self.unit.factor * value - stated) <= rounding + 1e-9

    def of_question(self) -> float | None:
        """Return the value of the only question; None where the figure is not about it."""
        leaf = self.tree
        if not isinstance(leaf, Leaf) or not len(leaf.values) or np.isnan(leaf.values[0]):
            return None
        return float(leaf.values[0])


def nested(figures: Sequence[Figure], part: str) -> dict[str, Any]:
    """Return the official values of a part's figures, nested by their paths."""
    found: dict[str, Any] = {}
    for figure in figures:
        if figure.path[:1] == (part,):
            place = found
            for name in figure.path[1:-1]:
                place = place.setdefault(name, {})
            place[figure.path[-1]] = figure.official
    return found


def leaf(
    answers: Answers,
    stream: str,
    chosen: Any,
    values: np.ndarray,
    counted: np.ndarray,
    **more: Any,
) -> Leaf:
    """Return the mean of `values` over the chosen questions.

    Args:
        answers: of one table.
        stream: name of the figure.
        chosen: bool [questions].
        values: [questions].
        counted: the answers that `values` are made of, bool [questions, repeats].
        more: further attributes of the leaf.
    """
    own = counted & chosen[:, None]
    by_key = answers.by_key[chosen[answers.by_key]]
    return Leaf(
        stream,
        answers.keys[by_key],
        values[by_key],
        values[chosen],
        unscored=int(np.count_nonzero(own & answers.unscored)),
        failed=int(np.count_nonzero(own & answers.failed)),
        given_documents=answers.documents[by_key],
        **more,
    )


# ---------------------------------------------------------------------- reducers


@dataclass(frozen=True, eq=False)
class Reduced:
    """One value a question, of those of its answers that count.

    Attributes:
        values: float64 [questions]; NaN without such an answer, and where one is unscored.
        counted: those answers, bool [questions, repeats].
        binary: whether all values are 0 or 1.
    """

    values: np.ndarray
    counted: np.ndarray
    binary: bool = False


# From the answers of a table to one value a question.
Reducer = Callable[[Answers], Reduced]


def mean(
    answers: Answers, counted: np.ndarray | None = None, values: np.ndarray | None = None
) -> Reduced:
    """Return the means of `values`, by default of all scores."""
    own = answers.given if counted is None else counted
    return Reduced(answers.means(own, values), own)


def field(name: str) -> Reducer:
    """Return what reduces answers to the means of one of their fields; NaN where none has it."""

    def reduced(answers: Answers) -> Reduced:
        return mean(answers, values=answers.fields.get(name, answers.scores * np.nan))

    return reduced


def first(answers: Answers, number: int) -> np.ndarray:
    """Return which answers are among the first of each question, bool [questions, repeats]."""
    found: np.ndarray = answers.given & (np.arange(answers.repeats) < number)
    return found


def only(number: int) -> Reducer:
    """Return what reduces answers to the scores of this one of each question, from 1."""
    return lambda answers: mean(answers, first(answers, number) & ~first(answers, number - 1))


def best(number: int) -> Reducer:
    """Return what reduces answers to the best scores of the first ones: best of N."""

    def reduced(answers: Answers) -> Reduced:
        counted = first(answers, number)
        return Reduced(best_scores(answers.scores, counted), counted)

    return reduced


def passed(number: int, bound: Callable[[Answers], np.ndarray] | None = None) -> Reducer:
    """Return what reduces answers to whether the best of the first ones passes: pass@N.

    Args:
        number: how many answers of each question.
        bound: the score that an answer must exceed, float64 [questions]; NaN, as without it, is
            that it must be 1.
    """

    def reduced(answers: Answers) -> Reduced:
        found = best(number)(answers)
        passing = found.values == 1.0
        if bound is not None:
            bounds = bound(answers)
            passing = np.where(np.isnan(bounds), passing, found.values > bounds)
        values = np.where(np.isnan(found.values), np.nan, passing.astype(np.float64))
        return Reduced(values, found.counted, binary=True)

    return reduced


# ---------------------------------------------------------------------- groups and their figures

# In place of a dimension: all questions.
ALL = ""


@dataclass(frozen=True)
class Rows:
    """Figures of one reducer, as a benchmark declares them: a group of questions each.

    Attributes:
        section: of reports. In it, in `path`, `metric` and `stream`, "{dimension}" and "{value}"
            stand for those of the group.
        reducer: from answers to a value a question; a figure is the mean of these.
        by: dimensions each of whose values makes a group, in order; ALL: one group of all.
        name: of the figure of all questions; a group's is its value.
        within: dimension and value that all questions have; (): they are all.
        stream: of the intervals; "": section and name.
        known: whether only questions with a value count, and groups of a dimension that have one.
        whole: returns how many official questions a group of this dimension and value has; those
            that are missing count 0 where the data are official. None: they do not count.
        in_file: whether report.json has the figure of a group of this value; None: it has all.
        unit, rounded, path, metric, detail, hidden, main: of the figures, see `Figure`; unit None:
            the benchmark's.
    """

    section: str
    reducer: Reducer = mean
    by: tuple[str, ...] = (ALL,)
    name: str = ""
    within: tuple[str, ...] = ()
    stream: str = ""
    known: bool = False
    whole: Callable[[str, str], int] | None = None
    in_file: Callable[[Answers, str], bool] | None = None
    unit: Unit | None = None
    rounded: Rounded | None = None
    path: tuple[str, ...] = ()
    metric: str = ""
    detail: bool = False
    hidden: bool = False
    main: bool = False

    def figures(self, answers: Answers, reduced: Reduced, unit: Unit) -> Iterator[Figure]:
        """Yield the figures; `unit`: where there is none of its own."""
        counted = reduced.counted
        if self.within:
            counted = counted & answers.has(*self.within)[:, None]
        if self.known:
            counted = counted & ~np.isnan(reduced.values)[:, None]
            if not counted.any() and ALL not in self.by:
                return
        for dimension in self.by:
            for value in answers.table.dimensions[dimension] if dimension else (self.name,):
                own = counted & answers.has(dimension, value)[:, None] if dimension else counted
                if not self.known or not dimension or own.any():
                    yield self._figure(answers, reduced, own, (dimension, value), self.unit or unit)

    def _figure(
        self,
        answers: Answers,
        reduced: Reduced,
        counted: np.ndarray,
        group: tuple[str, str],
        unit: Unit,
    ) -> Figure:
        dimension, value = group
        put = functools.partial(str.format, dimension=dimension, value=value)
        section, chosen, absent = put(self.section), counted.any(axis=1), 0
        defined = dimension == ALL or bool((answers.dimensions[dimension] >= 0).all())
        if self.whole is not None and answers.official:
            absent = self.whole(dimension, value) - int(np.count_nonzero(chosen))
        tree = leaf(
            answers,
            put(self.stream) or f"{section}/{value}",
            chosen,
            reduced.values,
            counted,
            binary=reduced.binary,
            absent=max(0, absent),
            defined=defined and absent >= 0,
        )
        is_told = self.in_file is None or self.in_file(answers, value)
        return Figure(
            section,
            value,
            tree,
            unit,
            self.rounded,
            tuple(map(put, self.path)) if is_told else (),
            put(self.metric),
            self.detail,
            self.hidden,
            self.main,
        )


def computed(rows: Iterable[Rows], answers: Answers, unit: Unit) -> list[Figure]:
    """Return the figures that rows declare, in their order.

    Args:
        rows: as a benchmark declares them.
        answers: of one table.
        unit: of figures that do not state their own.
    """
    known: dict[Reducer, Reduced] = {}
    found: list[Figure] = []
    for own in rows:
        if own.reducer not in known:
            known[own.reducer] = own.reducer(answers)
        found += own.figures(answers, known[own.reducer], unit)
    return found


# ---------------------------------------------------------------------- counts


def _known(values: np.ndarray) -> int | None:
    """Return how many values are 1; None if none is known."""
    return None if np.isnan(values).all() else int(np.nansum(values))


def _missing(answers: Answers, task: str) -> int:
    return max(0, answers.table.tasks[task].questions - int(answers.of_task(task).sum()))


def counts(answers: Answers, malformed: int = 0, duplicate: int = 0) -> dict[str, int | None]:
    """Return the counts of a table.

    Args:
        answers: of the table.
        malformed, duplicate: what was not scored, which no answer tells.
    """
    given = answers.given
    samples, unscored = int(given.sum()), int(answers.unscored.sum())
    return {
        "questions": len(answers),
        "samples": samples,
        "scored": samples - unscored,
        "unscored": unscored,
        "failed": int(answers.failed.sum()),
        "reasoned": int(answers.reasoned.sum()),
        "truncated": _known(answers.truncated),
        "capped": _known(answers.capped),
        **{name: int(answers.flags(name).sum()) for name in answers.benchmark.counted_flags},
        "inconsistent": int((~given).any(axis=1).sum()),
        "malformed": malformed,
        "duplicate": duplicate,
        "official_questions": answers.table.questions,
        "missing": sum(_missing(answers, task) for task in answers.table.tasks)
        if answers.official
        else None,
    }


def _mean(answers: Answers, chosen: np.ndarray, values: np.ndarray | None = None) -> float | None:
    """Return the mean over questions, added up from the left as the harness does; None: unknown."""
    means = answers.means(answers.given, values)[chosen]
    if not len(means) or np.isnan(means).any():
        return None
    return running_total(means) / len(means)


def task_counts(
    answers: Answers,
    task: str,
    other: Answers | None = None,
    *,
    malformed: int = 0,
    duplicate: int = 0,
    copies: int | None = 0,
) -> TaskCounts:
    """Return the score of a task in [0, 1], and its counts.

    Args:
        answers: of its table.
        task: its name.
        other: the same answers under the other policy for reasoning; None: no answer has any.
        malformed, duplicate, copies: what no answer tells.
    """
    chosen = answers.of_task(task)
    own = chosen[:, None] & answers.given
    fields: Any = {
        name: _mean(answers, chosen, answers.fields[name])
        for name in answers.benchmark.task_fields
        if name in answers.fields and not np.isnan(answers.fields[name][own]).all()
    }
    if other is not None:
        fields = {"score_otherwise": _mean(other, chosen), **fields}
    return {
        "questions": int(chosen.sum()),
        "samples": int(own.sum()),
        "score": _mean(answers, chosen),
        **fields,
        "failed": int((own & answers.failed).sum()),
        "unscored": int((own & answers.unscored).sum()),
        "reasoned": int((own & answers.reasoned).sum()),
        "truncated": _known(answers.truncated[own]),
        "capped": _known(answers.capped[own]),
        "malformed": malformed,
        "duplicate": duplicate,
        "copies": copies,
        "official_questions": answers.table.tasks[task].questions,
        "missing": _missing(answers, task) if answers.official else None,
    }


# ---------------------------------------------------------------------- shares

SHARES = "shares"
FAILED, CAPPED, TRUNCATED, LOSS = "failed", "capped", "truncated", "truncation loss"
_SHARE = Unit("share", 1, 100, 2)


def _of(name: str) -> Reducer:
    return lambda answers: mean(answers, values=getattr(answers, name).astype(np.float64))


_SHARES = tuple(
    Rows(SHARES, _of(name), name=name, stream=name, known=True)
    for name in (FAILED, CAPPED, TRUNCATED)
)


def shares(answers: Answers) -> list[Figure]:
    """Return the shares of failed, capped and truncated answers, and the loss by truncation.

    The loss is the mean score of the questions whose prompt was cut less that of the others. They
    are other questions, about longer documents: it is no effect of the cut alone.
    """
    means, cut = answers.means(answers.given), answers.means(answers.given, answers.truncated)
    shorter = leaf(answers, f"{LOSS}/cut", cut > 0, means, answers.given)
    whole = leaf(answers, f"{LOSS}/whole", cut == 0, means, answers.given)
    return [
        *computed(_SHARES, answers, _SHARE),
        Figure(SHARES, LOSS, Contrast(shorter, whole), _SHARE),
    ]
