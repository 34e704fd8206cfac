"""Effective context length: how far a model keeps a share of its score at the shortest length.

A score by length is noisy, and a chance rise at one length must not count as a recovery: a curve
that can only fall is fitted first, by pooling adjacent violators (Ayer and others, Annals of
Mathematical Statistics 26, 1955), each length weighed by its questions. The length is where the
fit, drawn straight between neighbouring lengths, falls below the share.

The interval is the middle 95% of the same for resampled scores. Of published rows there is nothing
to resample: a mean p of n scores between 0 and 1 is drawn with the standard error
sqrt(p (1 - p) / n), the largest that independent questions can have.

Prompts are sorted to the nearest of the lengths FIRST, 2 FIRST, 4 FIRST, ... on a scale of factors;
lengths with too few questions for an interval join the next longer one. A group stands at the
geometric mean of its prompts. A prompt that was cut, and whose whole length nobody counted, is
longer than the limit: it stands at the limit, with the longest prompts that were not cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lm_eval_longbench.statistics.answers import Answers
from lm_eval_longbench.statistics.figure import leaf
from lm_eval_longbench.statistics.intervals import FEWEST, LEVEL, RESAMPLES, SEED
from lm_eval_longbench.statistics.tree import Leaf, Mean

SHARE = 0.9
# Where two fits count as equal: rounding of sums may not decide.
_ZERO = 1e-12


@dataclass(frozen=True)
class Effective:
    """How far a model keeps its score.

    Attributes:
        position: in steps from the shortest length, from 0 to the number of lengths less 1; at the
            last one nothing longer was asked.
        low, high: ends of the 95% interval; None where there is none.
        fit: the falling curve, one share a length.
        reason: why there is no interval; "" otherwise.
    """

    position: float
    low: float | None
    high: float | None
    fit: tuple[float, ...]
    reason: str = ""


def falling(values: np.ndarray, weights: Sequence[float]) -> np.ndarray:
    """Return the curves that never rise and are nearest to some by weighted least squares.

    Args:
        values: float64 [curves, lengths].
        weights: above 0, one a length.
    """
    number, lengths = values.shape
    # A stack of blocks a curve: mean, weight, and the length that each block ends before.
    means, sums = np.zeros((number, lengths)), np.zeros((number, lengths))
    ends = np.zeros((number, lengths), np.int64)
    top = np.full(number, -1)
    for length in range(lengths):
        top += 1
        rows = np.arange(number)
        means[rows, top], sums[rows, top] = values[:, length], weights[length]
        ends[rows, top] = length + 1
        while True:
            rows = np.flatnonzero(top > 0)
            last = top[rows]
            rows = rows[means[rows, last - 1] < means[rows, last]]
            if not len(rows):
                break
            last = top[rows]
            total = sums[rows, last - 1] + sums[rows, last]
            pooled = means[rows, last - 1] * sums[rows, last - 1]
            pooled = (pooled + means[rows, last] * sums[rows, last]) / total
            means[rows, last - 1], sums[rows, last - 1] = pooled, total
            ends[rows, last - 1] = ends[rows, last]
            top[rows] -= 1
    # A length belongs to the first block that ends behind it.
    valid = np.arange(lengths) <= top[:, None]
    behind = (ends[:, None, :] > np.arange(lengths)[:, None]) & valid[:, None, :]
    found: np.ndarray = np.take_along_axis(means, behind.argmax(axis=2), axis=1)
    return found


def kept_until(fits: np.ndarray, share: float) -> np.ndarray:
    """Return how many steps each falling curve keeps a share of its first value.

    Args:
        fits: float64 [curves, lengths], never rising.
        share: above 0, at most 1.

    Returns:
        float64 [curves], from 0 to the number of lengths less 1; NaN where a curve starts at 0.
    """
    number, lengths = fits.shape
    bound = share * fits[:, 0]
    below = fits < (bound - _ZERO)[:, None]
    falls = below.any(axis=1)
    after = np.where(falls, below.argmax(axis=1), lengths - 1)
    rows, before = np.arange(number), np.maximum(after - 1, 0)
    drop = fits[rows, before] - fits[rows, after]
    with np.errstate(invalid="ignore", divide="ignore"):
        part = np.where(falls, (fits[rows, before] - bound) / drop, 1.0)
    found = np.where(falls, before + np.clip(part, 0.0, 1.0), lengths - 1.0)
    result: np.ndarray = np.where(fits[:, 0] > _ZERO, found, np.nan)
    return result


def _effective(
    values: Sequence[float],
    weights: Sequence[float],
    drawn: np.ndarray | None,
    share: float,
    reason: str,
) -> Effective | None:
    fit = falling(np.array([values], np.float64), weights)
    position = float(kept_until(fit, share)[0])
    if np.isnan(position):
        return None
    low = high = None
    if drawn is not None and not reason:
        found = kept_until(falling(drawn, weights), share)
        if np.isnan(found).any():
            reason = "not every resample has a value"
        else:
            tail = (1 - LEVEL) / 2
            low, high = (float(end) for end in np.quantile(found, [tail, 1 - tail]))
    return Effective(position, low, high, tuple(map(float, fit[0])), reason)


def effective(trees: Sequence[Leaf | Mean], share: float = SHARE) -> Effective | None:
    """Return how far a run keeps its score; None if a length has no score, or the first one is 0.

    Args:
        trees: the score at each length, the shortest first.
        share: of the score at the shortest length, above 0 and at most 1.
    """
    values = [tree.value for tree in trees if tree.value is not None]
    if len(values) < len(trees) or not values:
        return None
    drawn = [tree.resamples for tree in trees if tree.resamples is not None]
    matrix = np.stack(drawn, axis=1) if len(drawn) == len(trees) else None
    reason = next((tree.few for tree in trees if tree.few), "")
    return _effective(values, [tree.n for tree in trees], matrix, share, reason)


def effective_of_published(
    values: Sequence[float | None], questions: Sequence[int], share: float = SHARE
) -> Effective | None:
    """Return the same for a published row, of which only the means are known.

    Args:
        values: score at each length, a share of 1; None where none is published.
        questions: of each length; (): not known, and there is no interval.
        share: as for `effective`.
    """
    known = [value for value in values if value is not None]
    if len(known) < len(values) or not known:
        return None
    if not questions:
        return _effective(known, [1] * len(known), None, share, "it is not known how many")
    means, numbers = np.array(known), np.array(questions, np.float64)
    errors = np.sqrt(np.clip(means * (1 - means), 0, None) / numbers)
    generator = np.random.default_rng(SEED)
    drawn = generator.normal(means, errors, (RESAMPLES, len(known)))
    return _effective(known, questions, np.clip(drawn, _ZERO * 2, 1), share, "")


# ---------------------------------------------------------------------- by measured lengths

# Tokens of the shortest length; each of LENGTHS is twice the one before.
FIRST, LENGTHS = 8192, 8


@dataclass(frozen=True)
class ByTokens:
    """The score by measured length.

    Attributes:
        positions: of each group in steps from FIRST, a step a doubling, from 0 to LENGTHS - 1.
        leaves: score of each group, the shortest prompts first.
    """

    positions: tuple[float, ...]
    leaves: tuple[Leaf, ...]

    @property
    def longest(self) -> float:
        """Where the last group stands: of what is longer nothing is known."""
        return self.positions[-1]

    def effective(self, share: float = SHARE) -> Effective | None:
        """Return how far a run keeps its score, in steps from FIRST; as `effective.effective`."""
        found = effective(self.leaves, share)
        if found is None:
            return None
        ends = (found.position, found.low, found.high)
        moved = [None if end is None else self._step(end) for end in ends]
        assert moved[0] is not None
        return replace(found, position=moved[0], low=moved[1], high=moved[2])

    def _step(self, group: float) -> float:
        return float(np.interp(group, np.arange(len(self.positions)), self.positions))


def _groups(steps: np.ndarray) -> list[np.ndarray]:
    """Return the questions of each group, bool [questions]: steps of FEWEST questions or more."""
    found: list[np.ndarray] = []
    waiting = np.zeros(len(steps), bool)
    for step in np.unique(steps):
        waiting = waiting | (steps == step)
        if np.count_nonzero(waiting) >= FEWEST:
            found.append(waiting)
            waiting = np.zeros(len(steps), bool)
    if waiting.any() and found:
        found[-1] = found[-1] | waiting
    return found


def by_tokens(answers: Answers, tokens: np.ndarray, cut_at: np.ndarray) -> ByTokens | None:
    """Return the score by measured length; None where there are fewer than two groups.

    Args:
        answers: of one table.
        tokens: float64 [questions], of each whole prompt; NaN: it was cut and not counted.
        cut_at: float64 [questions], the limit at which such a prompt was cut; NaN: of others.
    """
    known = np.where(np.isnan(tokens), cut_at, tokens)
    if not len(known) or np.isnan(known).any():
        return None
    limits = cut_at[np.isnan(tokens)]
    if len(limits):  # lengths beyond the limit cannot be told apart for all
        known = np.minimum(known, limits.min())
    exact = np.clip(np.log2(np.maximum(known, 1.0) / FIRST), 0.0, LENGTHS - 1.0)
    groups = _groups(np.rint(exact))
    if len(groups) < 2:
        return None
    means = answers.means(answers.given)
    leaves = [
        leaf(answers, f"tokens/{number}", chosen, means, answers.given)
        for number, chosen in enumerate(groups)
    ]
    positions = [float(exact[chosen].mean()) for chosen in groups]
    return ByTokens(tuple(positions), tuple(leaves))
