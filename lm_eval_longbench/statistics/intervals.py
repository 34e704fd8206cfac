"""Intervals and p-values over documents: the bootstrap, Student's t, and Wilson's interval.

What varies are documents, each with all its questions: questions about one document are alike, so
that an interval over single questions would be too narrow. Where each question has a document of
its own, or it is not known, these are the questions.

Figures: the bias-corrected and accelerated bootstrap (BCa; Efron, JASA 82, 1987). Its levels are
widened for few documents by a t quantile (Hesterberg, The American Statistician 69, 2015), whose
degrees of freedom are the effective number of documents less 1 (Kish, Survey Sampling, 1965; of
several strata together by Satterthwaite, Biometrics Bulletin 2, 1946), and by the jackknife's
variance, which a large document does not make too small. A plain percentile interval holds too
little: 90% in place of 95% with 60 questions of 43 documents and a mean of 0.1 or 0.9.

Paired differences: Student's t with that variance and these degrees of freedom. Most differences
are 0 where two runs mostly agree; of the few others the bootstrap is far too sure.

`scripts/coverage_of_intervals.py` measures all of this.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

RESAMPLES = 2000
SEED = 1234
LEVEL = 0.95
# Fewer questions, or documents, tell nothing: no interval and no p-value is made of them.
FEWEST = 20
# Numbers drawn at once: what the processor's cache holds. It does not change what is drawn.
_AT_ONCE = 50_000
# What is this small is zero: summing in another order leaves more.
_ZERO = 1e-12
_NORMAL = NormalDist()
_Z = 1.959963984540054  # two-sided 95% point of the standard normal distribution


def resampled_means(values: np.ndarray, stream: str, sizes: np.ndarray | None = None) -> np.ndarray:
    """Return the means of RESAMPLES samples drawn from `values` with replacement.

    Args:
        values: one a question, at least one, or with `sizes` the sum of a document's questions; the
            order decides which are drawn.
        stream: name of the figure. Figures of different names are drawn independently (they are
            strata of a mean of means); the same name and number draws the same positions.
        sizes: questions of each document; None: one each.

    Returns:
        float64 [RESAMPLES].
    """
    generator = np.random.default_rng([SEED, *stream.encode()])
    n = len(values)
    means = np.empty(RESAMPLES)
    step = max(1, _AT_ONCE // n)
    for start in range(0, RESAMPLES, step):
        size = min(step, RESAMPLES - start)
        drawn = generator.integers(0, n, size=(size, n))
        if sizes is None:
            means[start : start + size] = values[drawn].mean(axis=1)
        else:
            means[start : start + size] = values[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    return means


@dataclass(frozen=True)
class Influence:
    """How the documents of one stratum move a figure.

    Attributes:
        moves: of each document: what the figure gains by it, to first order; they add up to 0.
        shares: of each document: its part of the questions.
    """

    moves: np.ndarray
    shares: np.ndarray

    def times(self, factor: float) -> Influence:
        """Return how they move a multiple of the figure."""
        return Influence(factor * self.moves, self.shares)

    @property
    def documents(self) -> float:
        """The effective number of documents: fewer than there are if some have more questions."""
        return 1 / float(self.shares @ self.shares)

    @property
    def variance(self) -> float:
        """The variance of the figure by the jackknife over documents."""
        number = len(self.moves)
        left_out = self.moves / (1 - self.shares)
        return float(left_out @ left_out) * (number - 1) / number


def influence_of_mean(sums: np.ndarray, sizes: np.ndarray) -> Influence:
    """Return the influence of documents on the mean, from the sum and number of their questions."""
    n = sizes.sum()
    return Influence((sums - sums.sum() / n * sizes) / n, sizes / n)


@dataclass(frozen=True)
class _Shape:
    """What the interval of a figure needs besides its resamples.

    Attributes:
        bias: how far the middle of the resamples is off, as a normal deviate.
        acceleration: how the spread changes with the figure.
        widening: of normal deviates, for the variance that resampling leaves out.
        degrees: of freedom.
    """

    bias: float
    acceleration: float
    widening: float
    degrees: float

    def level(self, deviate: float) -> float:
        """Return which quantile of the resamples is the end at a deviate; BCa."""
        moved = self.bias + deviate
        scale = 1 - self.acceleration * moved
        if scale <= 0:
            return 1.0 if moved > 0 else 0.0
        return _NORMAL.cdf(self.bias + moved / scale)


def _moved(strata: Sequence[Influence]) -> bool:
    """Whether any document moves the figure."""
    return any(bool((np.abs(one.moves) > _ZERO).any()) for one in strata)


def _variance(strata: Sequence[Influence]) -> tuple[float, float]:
    """Return the variance of a figure that documents move, above 0, and its degrees of freedom."""
    variances = [one.variance for one in strata]
    variance = sum(variances)
    degrees = variance**2 / sum(
        own**2 / (one.documents - 1) for own, one in zip(variances, strata, strict=True) if own
    )
    return variance, degrees


def _shape(value: float, resamples: np.ndarray, strata: Sequence[Influence]) -> _Shape | None:
    """Return the shape of a figure; None if nothing moves it."""
    if not _moved(strata):
        return None
    spread = sum(float(one.moves @ one.moves) for one in strata)
    variance, degrees = _variance(strata)
    number = len(resamples)
    below = np.count_nonzero(resamples < value - _ZERO)
    at_most = np.count_nonzero(resamples <= value + _ZERO)
    middle = min(max((below + at_most) / 2, 1), number - 1) / number
    third = sum(float((one.moves**3).sum()) for one in strata)
    return _Shape(
        _NORMAL.inv_cdf(middle),
        third / spread**1.5 / 6,
        math.sqrt(variance / spread),
        degrees,
    )


def bootstrap_interval(
    value: float, resamples: np.ndarray, strata: Sequence[Influence]
) -> tuple[float, float] | None:
    """Return the 95% interval of a figure; None if a resampled figure is not a number.

    Quantiles are interpolated linearly; both ends are within the resamples.

    Args:
        value: the figure.
        resamples: of the figure, float64 [RESAMPLES].
        strata: those that were resampled, each with two documents or more.
    """
    if not np.isfinite(resamples).all():
        return None
    shape = _shape(value, resamples, strata)
    if shape is None:
        return value, value
    end = shape.widening * t_point((1 + LEVEL) / 2, shape.degrees)
    low, high = np.quantile(resamples, [shape.level(-end), shape.level(end)])
    return float(low), float(high)


def t_interval(value: float, strata: Sequence[Influence]) -> tuple[float, float]:
    """Return the 95% interval of a paired difference.

    Args:
        value: the difference.
        strata: those that it is made of, each with two documents or more.
    """
    if not _moved(strata):
        return value, value
    variance, degrees = _variance(strata)
    half = t_point((1 + LEVEL) / 2, degrees) * math.sqrt(variance)
    return value - half, value + half


def two_sided_p(value: float, strata: Sequence[Influence]) -> float:
    """Return the p-value of a paired difference: below 0.05 where `t_interval` leaves out 0.

    Equal runs have p = 1. Where all documents differ by the same, it is that of the sign test.

    Args: see `t_interval`.
    """
    if abs(value) <= _ZERO:
        return 1.0
    if not _moved(strata):
        return 2.0 ** (1 - sum(len(one.moves) for one in strata))
    variance, degrees = _variance(strata)
    return 2 * t_share(-abs(value) / math.sqrt(variance), degrees)


def wilson_interval(
    successes: float, n: int, strata: Influence | None = None
) -> tuple[float, float] | None:
    """Return the 95% interval of a share; None for n = 0.

    With p = successes / n and z = 1.96 it is
    (p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n); both ends lie in [0, 1].
    Source: Wilson, JASA 22 (1927), without continuity correction.

    Where questions share documents, n is divided by the design effect, the variance over documents
    by that of as many independent questions, and z is a t quantile (source: Korn and Graubard,
    Survey Methodology 24, 1998). Where all questions end alike, the effect is the largest there
    can be, as if a document had one answer.

    Args:
        successes: from 0 to n.
        n: trials.
        strata: influence of the documents on the share; None: each question has its own.
    """
    if n == 0:
        return None
    share, z, number = successes / n, _Z, float(n)
    if strata is not None:
        z = t_point((1 + LEVEL) / 2, strata.documents - 1)
        alone = share * (1 - share) / (n - 1)
        effect = strata.variance / alone if alone else n / strata.documents
        number = n / effect if effect else number
    spread = z * math.sqrt(share * (1 - share) / number + z**2 / (4 * number**2))
    centre, scale = share + z**2 / (2 * number), 1 + z**2 / number
    # At 0 and n one end is exact; rounding may not push it out.
    low = 0.0 if successes == 0 else max(0.0, (centre - spread) / scale)
    high = 1.0 if successes == n else min(1.0, (centre + spread) / scale)
    return low, high


def t_share(deviate: float, degrees: float) -> float:
    """Return the share of Student's t distribution below a deviate.

    Args:
        deviate: finite.
        degrees: of freedom, above 0, not only whole ones.
    """
    from scipy.special import betainc  # slow to import

    tail = float(betainc(degrees / 2, 0.5, degrees / (degrees + deviate**2))) / 2
    return 1 - tail if deviate > 0 else tail


@functools.lru_cache
def t_point(share: float, degrees: float) -> float:
    """Return the deviate below which a share of Student's t distribution lies.

    Args:
        share: above 0.5 and below 1.
        degrees: of freedom, 1 or more, not only whole ones.
    """
    from scipy.special import betaincinv  # slow to import

    tail = float(betaincinv(degrees / 2, 0.5, 2 * (1 - share)))
    return math.sqrt(degrees * (1 - tail) / tail)
