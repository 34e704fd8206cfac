"""What figures are made of: means over questions, means of such means, and ratios of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from lm_eval_longbench.statistics.intervals import (
    FEWEST,
    Influence,
    bootstrap_interval,
    influence_of_mean,
    resampled_means,
    t_interval,
    two_sided_p,
    wilson_interval,
)

# Where fewer questions differ, a paired difference has no interval; a difference this small is 0.
FEWEST_DIFFERING = 10
FEW_DIFFER = f"less than {FEWEST_DIFFERING} questions differ"
_ZERO = 1e-12


@dataclass(frozen=True)
class Estimate:
    """One figure of one run with its interval.

    Attributes:
        value: share in [0, 1] (relative figures: x/y - 1); None where it cannot be given: a
            dataset is missing, a sample is unscored, or there is no question.
        n: questions it is made of.
        low, high: ends of the 95% interval; None where there is none.
        method: of the interval: "bootstrap", "wilson" or "none".
        reason: why a figure with a value has no interval; "" otherwise.
        documents: that the questions are about and that are resampled; None where each question
            counts as having its own.
        unscored: samples without a score among them.
        failed: samples without an answer among them.
    """

    value: float | None
    n: int
    low: float | None
    high: float | None
    method: str
    unscored: int
    failed: int
    reason: str = ""
    documents: int | None = None


@dataclass(frozen=True)
class Difference:
    """Second column less the first, on the questions that both have.

    Attributes:
        value: difference of the shares; None where a question they share is unscored or a part has
            none in common.
        n: questions shared.
        low, high: ends of the 95% interval, see `intervals.t_interval`; None where there is none.
        p_value: two-sided, see `intervals.two_sided_p`; None where there is no interval.
        reason: why a difference with a value has no interval; "" otherwise.
    """

    value: float | None
    n: int
    low: float | None
    high: float | None
    p_value: float | None
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Leaf:
    """The mean over some questions of a run.

    Attributes:
        stream: name of the figure for the bootstrap.
        keys: of the questions, ascending and distinct, bytes [questions].
        values: of the questions, float64 [questions]; NaN where one is unscored.
        in_order: the same values in the order of the answers; official sums depend on it.
        unscored, failed: samples without a score, without an answer.
        absent: further questions, which the run lacks and which count 0.
        binary: every value is 0 or 1, so that Wilson's interval applies.
        defined: False where it is not known which questions belong to it.
        given_documents: hash of each question's document, uint64 [questions]; 0: not known. None:
            not known of any.
    """

    stream: str
    keys: np.ndarray
    values: np.ndarray
    in_order: np.ndarray = field(default_factory=lambda: np.empty(0))
    unscored: int = 0
    failed: int = 0
    absent: int = 0
    binary: bool = False
    defined: bool = True
    given_documents: np.ndarray | None = None

    @property
    def n(self) -> int:
        """Questions that count."""
        return len(self.values) + self.absent

    @cached_property
    def value(self) -> float | None:
        """The mean; None without a question or with an unscored one. The sum is exact."""
        if not self.defined or not self.n or np.isnan(self.values).any():
            return None
        return math.fsum(self.values) / self.n

    @cached_property
    def _codes(self) -> np.ndarray | None:
        """Numbers of the questions' documents; None where no two questions share one."""
        if self.given_documents is None:
            return None
        known = self.given_documents != 0
        distinct, numbers = np.unique(self.given_documents[known], return_inverse=True)
        if len(distinct) == len(numbers):
            return None
        codes = np.empty(len(known), np.int64)
        codes[known] = numbers
        codes[~known] = len(distinct) + np.arange(len(known) - len(numbers))
        return codes

    @property
    def documents(self) -> int | None:
        """Documents that are resampled; None where each question counts as having its own."""
        return None if self._codes is None else int(self._codes.max()) + 1 + self.absent

    @property
    def few(self) -> str:
        """Why nothing can be said of what other questions would give, or ""."""
        if self.n < FEWEST:
            return f"fewer than {FEWEST} questions"
        return f"fewer than {FEWEST} documents" if (self.documents or self.n) < FEWEST else ""

    @cached_property
    def _sums(self) -> tuple[np.ndarray, np.ndarray]:
        """Sum and number of the questions of each document."""
        values, sizes = self.values, np.ones(len(self.values))
        if self._codes is not None:
            values = np.bincount(self._codes, weights=self.values)
            sizes = np.bincount(self._codes).astype(float)
        return np.append(values, np.zeros(self.absent)), np.append(sizes, np.ones(self.absent))

    @cached_property
    def resamples(self) -> np.ndarray | None:
        """Resampled means; None without a value or with fewer than two documents."""
        if self.value is None or len(self._sums[0]) < 2:
            return None
        sums, sizes = self._sums
        return resampled_means(sums, self.stream, None if self._codes is None else sizes)

    @property
    def influence(self) -> list[Influence]:
        """How its documents move the mean; only where there are two or more."""
        return [influence_of_mean(*self._sums)]


class _Combined:
    """What a figure counts that is made of others: the same for all of them."""

    def _counted(self) -> tuple[Leaf | Mean, ...]:
        """Return the figures whose questions count."""
        raise NotImplementedError

    @property
    def n(self) -> int:
        """Questions that count."""
        return sum(part.n for part in self._counted())

    @property
    def unscored(self) -> int:
        """Samples without a score."""
        return sum(part.unscored for part in self._counted())

    @property
    def failed(self) -> int:
        """Samples without an answer."""
        return sum(part.failed for part in self._counted())

    @property
    def documents(self) -> int | None:
        """Documents that are resampled; None where each question counts as having its own."""
        own = [(part.n, part.documents) for part in self._counted()]
        if all(documents is None for _, documents in own):
            return None
        return sum(n if documents is None else documents for n, documents in own)

    @property
    def few(self) -> str:
        """Why nothing can be said of what other questions would give, or "": each part counts."""
        return next((part.few for part in self._counted() if part.few), "")


@dataclass(frozen=True, eq=False)
class Mean(_Combined):
    """The plain mean of parts that are resampled independently; None if one of them is None."""

    parts: tuple[Leaf | Mean, ...]

    def _counted(self) -> tuple[Leaf | Mean, ...]:
        return self.parts

    @cached_property
    def value(self) -> float | None:
        """The mean of the parts' values."""
        values = [part.value for part in self.parts if part.value is not None]
        return math.fsum(values) / len(values) if len(values) == len(self.parts) else None

    @cached_property
    def resamples(self) -> np.ndarray | None:
        """The means of the parts' resamples."""
        drawn = [part.resamples for part in self.parts if part.resamples is not None]
        return np.mean(drawn, axis=0) if len(drawn) == len(self.parts) else None

    @property
    def influence(self) -> list[Influence]:
        """How the documents of each part move the mean; only where each has two or more."""
        factor = 1 / len(self.parts)
        return [one.times(factor) for part in self.parts for one in part.influence]


@dataclass(frozen=True, eq=False)
class Relative(_Combined):
    """The mean of some questions over that of all of them, less 1.

    Attributes:
        part: the questions.
        strata: disjoint leaves that hold all of them, `part` among them. Each is resampled by
            itself; empty ones take no part.
    """

    part: Leaf
    strata: tuple[Leaf, ...]

    def _counted(self) -> tuple[Leaf | Mean, ...]:
        return (self.part,)

    @property
    def _filled(self) -> list[Leaf]:
        return [leaf for leaf in self.strata if leaf.n]

    @cached_property
    def value(self) -> float | None:
        """x/y - 1; None if either is None, or y is 0."""
        scores = np.concatenate([leaf.values for leaf in self.strata])
        if self.part.value is None or np.isnan(scores).any():
            return None
        whole = math.fsum(scores) / len(scores)
        return self.part.value / whole - 1 if whole else None

    @cached_property
    def resamples(self) -> np.ndarray | None:
        """Resampled x/y - 1; None without a value or if a stratum has one question only."""
        part, total = self.part.resamples, sum(leaf.n for leaf in self._filled)
        whole = np.zeros(1)
        for leaf in self._filled:
            if leaf.resamples is None:
                return None
            whole = whole + leaf.n / total * leaf.resamples
        if self.value is None or part is None:
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios: np.ndarray = part / whole - 1
        return ratios

    @property
    def influence(self) -> list[Influence]:
        """How the documents of each stratum move x/y; only where there are resamples."""
        total = sum(leaf.n for leaf in self._filled)
        part = self.part.value or 0.0
        whole = sum(leaf.n / total * (leaf.value or 0.0) for leaf in self._filled)
        found = []
        for leaf in self._filled:
            factor = -part / whole**2 * leaf.n / total + (1 / whole if leaf is self.part else 0.0)
            found += [one.times(factor) for one in leaf.influence]
        return found


@dataclass(frozen=True, eq=False)
class Contrast(_Combined):
    """One mean against that of other questions: its difference, or the ratio less 1.

    Attributes:
        part, base: of questions that have no document in common; each is resampled by itself.
        ratio: part / base - 1 in place of part - base.
    """

    part: Leaf | Mean
    base: Leaf | Mean
    ratio: bool = False

    def _counted(self) -> tuple[Leaf | Mean, ...]:
        return (self.part, self.base)

    def _of(self, part: Any, base: Any) -> Any:
        return part / base - 1 if self.ratio else part - base

    @cached_property
    def value(self) -> float | None:
        """The difference or the ratio less 1; None if either is None, or a ratio's base is 0."""
        part, base = self.part.value, self.base.value
        if part is None or base is None or (self.ratio and not base):
            return None
        return float(self._of(part, base))

    @cached_property
    def resamples(self) -> np.ndarray | None:
        """The same of each resample; None without a value or if a part has no resamples."""
        part, base = self.part.resamples, self.base.resamples
        if self.value is None or part is None or base is None:
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            found: np.ndarray = self._of(part, base)
        return found

    @property
    def influence(self) -> list[Influence]:
        """How the documents of both move it; only where there are resamples."""
        part, base = self.part.value or 0.0, self.base.value or 0.0
        by_part, by_base = (1 / base, -part / base**2) if self.ratio else (1.0, -1.0)
        own = [one.times(by_part) for one in self.part.influence]
        return own + [one.times(by_base) for one in self.base.influence]


Tree = Leaf | Mean | Relative | Contrast


def estimate(tree: Tree) -> Estimate:
    """Return a tree's value with its 95% interval."""
    ends, method, reason = None, "none", ""
    if tree.value is not None and tree.few:
        reason = tree.few
    elif isinstance(tree, Leaf) and tree.binary and tree.value is not None:
        (influence,) = tree.influence
        shared = None if tree.documents is None else influence
        ends, method = wilson_interval(math.fsum(tree.values), tree.n, shared), "wilson"
    elif tree.value is not None and tree.resamples is not None:
        ends, method = bootstrap_interval(tree.value, tree.resamples, tree.influence), "bootstrap"
    low, high = ends or (None, None)
    if ends is None:
        method = "none"
        if tree.value is not None:
            reason = reason or "not every resample has a value"
    counts = tree.unscored, tree.failed
    return Estimate(tree.value, tree.n, low, high, method, *counts, reason, tree.documents)


def _paired_leaves(first: Leaf, second: Leaf, factor: float) -> Leaf:
    keys, mine, other = np.intersect1d(
        first.keys, second.keys, assume_unique=True, return_indices=True
    )
    # One of the runs may know documents that the other does not.
    documents = None if first.given_documents is None else first.given_documents[mine]
    others = None if second.given_documents is None else second.given_documents[other]
    if documents is None:
        documents = others
    elif others is not None:
        documents = np.where(documents != 0, documents, others)
    return Leaf(
        first.stream,
        keys,
        second.values[other] - factor * first.values[mine],
        defined=first.defined and second.defined,
        given_documents=documents,
    )


def few_differ(tree: Leaf | Mean) -> str:
    """Return why the questions of a paired difference that are not 0 are too few; "": they are not.

    Where all but a few questions have the same score in both runs, those few say too little about
    what other questions would gain or lose.
    """
    return FEW_DIFFER if differing(tree) < FEWEST_DIFFERING else ""


def differing(tree: Leaf | Mean) -> int:
    """Return how many questions of a paired difference are not 0."""
    if isinstance(tree, Leaf):
        return int(np.count_nonzero(np.abs(tree.values) > _ZERO))
    return sum(differing(part) for part in tree.parts)


class Pairing:
    """Differences of two columns; what several figures have in common is made once.

    Args:
        factor: second less so many times first.
    """

    def __init__(self, factor: float = 1.0) -> None:
        self._factor = factor
        self._known: dict[tuple[Tree, Tree], Leaf | Mean | None] = {}

    def _make(self, first: Tree, second: Tree) -> Leaf | Mean | None:
        if isinstance(first, Leaf) and isinstance(second, Leaf):
            lacking = first.absent or second.absent
            if lacking and not np.array_equal(first.keys, second.keys):
                # A question that one run alone lacks is wrong there; pairs would leave it out.
                return None
            return _paired_leaves(first, second, self._factor)
        if isinstance(first, Mean) and isinstance(second, Mean):
            both = zip(first.parts, second.parts, strict=True)
            parts = [self.tree(one, other) for one, other in both]
            known = tuple(part for part in parts if part is not None)
            return Mean(known) if len(known) == len(parts) else None
        return None

    def tree(self, first: Tree, second: Tree) -> Leaf | Mean | None:
        """Return second less first as a tree over the questions both have; None of ratios."""
        if (first, second) not in self._known:
            self._known[first, second] = self._make(first, second)
        return self._known[first, second]

    def difference(self, first: Tree, second: Tree) -> Difference | None:
        """Return second less first with interval and p-value; None where none is defined."""
        tree = self.tree(first, second)
        if tree is None:
            return None
        few = tree.few or few_differ(tree)
        if tree.value is None or few:
            reason = "" if tree.value is None else few
            return Difference(tree.value, tree.n, None, None, None, reason)
        low, high = t_interval(tree.value, tree.influence)
        p_value = two_sided_p(tree.value, tree.influence)
        return Difference(tree.value, tree.n, low, high, p_value)
