"""Figures as trees: means over questions, means of such means, and ratios of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lm_eval_longbench.reports.bootstrap import percentile_interval, resampled_means, two_sided_p
from lm_eval_longbench.reports.figure import Difference, Figure
from lm_eval_longbench.reports.wilson import wilson_interval


@dataclass(frozen=True, eq=False)
class Leaf:
    """The mean over some questions of a run.

    Attributes:
        stream: name of the figure for the bootstrap.
        keys: of the questions, ascending and distinct, bytes [questions].
        values: of the questions, float64 [questions]; NaN where one is unscored.
        unscored, failed: samples without a score, without an answer.
        absent: further questions, which the run lacks and which count 0.
        binary: every value is 0 or 1, so that Wilson's interval applies.
        defined: False where it is not known which questions belong to it.
        drawn: the resampled means, float64 [RESAMPLES], where they are known already.
    """

    stream: str
    keys: np.ndarray
    values: np.ndarray
    unscored: int = 0
    failed: int = 0
    absent: int = 0
    binary: bool = False
    defined: bool = True
    drawn: np.ndarray | None = None

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
    def resamples(self) -> np.ndarray | None:
        """Resampled means; None without a value or with fewer than two questions."""
        if self.value is None or self.n < 2:
            return None
        if self.drawn is not None:
            return self.drawn
        return resampled_means(np.append(self.values, np.zeros(self.absent)), self.stream)


@dataclass(frozen=True, eq=False)
class Mean:
    """The plain mean of parts that are resampled independently; None if one of them is None."""

    parts: tuple[Leaf | Mean, ...]

    @property
    def n(self) -> int:
        """Questions that count."""
        return sum(part.n for part in self.parts)

    @property
    def unscored(self) -> int:
        """Samples without a score."""
        return sum(part.unscored for part in self.parts)

    @property
    def failed(self) -> int:
        """Samples without an answer."""
        return sum(part.failed for part in self.parts)

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


@dataclass(frozen=True, eq=False)
class Relative:
    """The mean of some questions over that of all of them, less 1.

    Attributes:
        part: the questions.
        strata: disjoint leaves that hold all of them, `part` among them. Each is resampled by
            itself; empty ones take no part.
    """

    part: Leaf
    strata: tuple[Leaf, ...]

    @property
    def n(self) -> int:
        """Questions of the part."""
        return self.part.n

    @property
    def unscored(self) -> int:
        """Samples of the part without a score."""
        return self.part.unscored

    @property
    def failed(self) -> int:
        """Samples of the part without an answer."""
        return self.part.failed

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
        if self.value is None or any(leaf.resamples is None for leaf in self._filled):
            return None
        total = sum(leaf.n for leaf in self._filled)
        whole = sum(leaf.n / total * leaf.resamples for leaf in self._filled)
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.part.resamples / whole - 1


Tree = Leaf | Mean | Relative


def figure_of(tree: Tree, official: float | None = None) -> Figure:
    """Return a tree's value with its 95% interval."""
    ends, method = None, "none"
    if isinstance(tree, Leaf) and tree.binary and tree.value is not None:
        ends, method = wilson_interval(math.fsum(tree.values), tree.n), "wilson"
    elif tree.resamples is not None:
        ends, method = percentile_interval(tree.resamples), "bootstrap"
    low, high = ends or (None, None)
    if ends is None:
        method = "none"
    return Figure(tree.value, tree.n, low, high, method, tree.unscored, tree.failed, official)


def _paired_leaves(first: Leaf, second: Leaf) -> Leaf:
    keys, mine, other = np.intersect1d(
        first.keys, second.keys, assume_unique=True, return_indices=True
    )
    drawn = None
    if len(keys) == first.n == second.n and not first.binary:
        # Both were drawn at the same positions, and the mean of differences is that of means.
        one, two = first.resamples, second.resamples
        drawn = None if one is None or two is None else two - one
    return Leaf(
        first.stream,
        keys,
        second.values[other] - first.values[mine],
        defined=first.defined and second.defined,
        drawn=drawn,
    )


class Pairing:
    """Differences of two columns; what several figures have in common is made once."""

    def __init__(self) -> None:
        self._known: dict[tuple[Tree, Tree], Leaf | Mean | None] = {}

    def _make(self, first: Tree, second: Tree) -> Leaf | Mean | None:
        if isinstance(first, Leaf) and isinstance(second, Leaf):
            lacking = first.absent or second.absent
            if lacking and not np.array_equal(first.keys, second.keys):
                # A question that one run alone lacks is wrong there; pairs would leave it out.
                return None
            return _paired_leaves(first, second)
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
        resamples = tree.resamples
        if resamples is None:
            return Difference(tree.value, tree.n, None, None, None)
        ends = percentile_interval(resamples) or (None, None)
        return Difference(tree.value, tree.n, *ends, two_sided_p(resamples))
