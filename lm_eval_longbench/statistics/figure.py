"""Figures of a table: reducers of the answers to a question, groups of questions, their means.

And what is counted of the answers, in the shape of report.json.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
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


def mean(
    answers: Answers, counted: np.ndarray | None = None, values: np.ndarray | None = None
) -> Reduced:
    """Return the means of `values`, by default of all scores."""
    own = answers.given if counted is None else counted
    return Reduced(answers.means(own, values), own)


def first(answers: Answers, number: int) -> np.ndarray:
    """Return which answers are among the first of each question, bool [questions, repeats]."""
    found: np.ndarray = answers.given & (np.arange(answers.repeats) < number)
    return found


def best(answers: Answers, number: int) -> Reduced:
    """Return the best scores of the first answers: best of N."""
    counted = first(answers, number)
    return Reduced(best_scores(answers.scores, counted), counted)


def passed(best: Reduced, reached: np.ndarray | None = None) -> Reduced:
    """Return whether the best answers pass, 1.0 or 0.0: pass@N.

    Args:
        best: of each question.
        reached: which pass, bool [questions]; None: those of the score 1.
    """
    own = (best.values == 1.0) if reached is None else reached
    values = np.where(np.isnan(best.values), np.nan, own.astype(np.float64))
    return Reduced(values, best.counted, binary=True)


# ---------------------------------------------------------------------- groups and their figures


def groups(answers: Answers, *dimensions: str) -> Iterator[tuple[str, str, np.ndarray]]:
    """Yield each dimension with each of its values, and which questions have it."""
    for dimension in dimensions:
        for value in answers.table.dimensions[dimension]:
            yield dimension, value, answers.has(dimension, value)


def figure(
    answers: Answers,
    place: Place,
    reduced: Reduced,
    unit: Unit,
    among: np.ndarray | None = None,
    *,
    stream: str = "",
    leaf_facts: Mapping[str, Any] = MappingProxyType({}),
    **more: Any,
) -> Figure:
    """Return the mean of one value a question over those that have one, or over some of them.

    Args:
        answers: of one table.
        place: section and name of the figure.
        reduced: the values.
        unit: of the figure.
        among: of which questions, bool [questions]; None: of all.
        stream: of its intervals; "": its place.
        leaf_facts: further attributes of the leaf.
        more: further attributes of the figure.
    """
    chosen = reduced.counted.any(axis=1)
    tree = leaf(
        answers,
        stream or "/".join(place),
        chosen if among is None else chosen & among,
        reduced.values,
        reduced.counted,
        **{"binary": reduced.binary, **leaf_facts},
    )
    return Figure(*place, tree, unit, **more)


def share(answers: Answers, name: str, flags: np.ndarray) -> Figure:
    """Return the share of answers that are so, a figure that the harness has of every task."""
    own = mean(answers, values=flags.astype(np.float64))
    return figure(answers, ("", name), own, RELATIVE, metric=name, hidden=True)


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


def _share(answers: Answers, name: str, flags: np.ndarray) -> Figure:
    """Return the share over the questions of which it is known of every answer."""
    own = mean(answers, values=flags)
    among = ~np.isnan(own.values)
    return figure(answers, (SHARES, name), own, _SHARE, among, stream=name)


def shares(answers: Answers) -> list[Figure]:
    """Return the shares of failed, capped and truncated answers, and the loss by truncation.

    The loss is the mean score of the questions whose prompt was cut less that of the others. They
    are other questions, about longer documents: it is no effect of the cut alone.
    """
    means, cut = answers.means(answers.given), answers.means(answers.given, answers.truncated)
    shorter = leaf(answers, f"{LOSS}/cut", cut > 0, means, answers.given)
    whole = leaf(answers, f"{LOSS}/whole", cut == 0, means, answers.given)
    return [
        _share(answers, FAILED, answers.failed.astype(np.float64)),
        _share(answers, CAPPED, answers.capped),
        _share(answers, TRUNCATED, answers.truncated),
        Figure(SHARES, LOSS, Contrast(shorter, whole), _SHARE),
    ]
