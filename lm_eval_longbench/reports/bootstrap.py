"""The percentile bootstrap over questions."""

from __future__ import annotations

import numpy as np

RESAMPLES = 2000
SEED = 1234
LEVEL = 0.95
# Numbers drawn at once: what the processor's cache holds. It does not change what is drawn.
_AT_ONCE = 50_000
# A resampled difference this small is zero: summing in another order leaves more.
_ZERO = 1e-12


def resampled_means(values: np.ndarray, stream: str) -> np.ndarray:
    """Return the means of RESAMPLES samples drawn from `values` with replacement.

    Args:
        values: one a question, at least one; the order decides which are drawn.
        stream: name of the figure. Figures of different names are drawn independently (they are
            strata of a mean of means); the same name and size draws the same positions.

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
        means[start : start + size] = values[drawn].mean(axis=1)
    return means


def percentile_interval(resamples: np.ndarray) -> tuple[float, float] | None:
    """Return the middle 95% of resampled figures; None if one of them is not a number.

    Quantiles are interpolated linearly.
    """
    if not np.isfinite(resamples).all():
        return None
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(resamples, [tail, 1 - tail])
    return float(low), float(high)


def two_sided_p(resamples: np.ndarray) -> float:
    """Return the two-sided bootstrap p-value of a paired difference.

    2 * min(share of resampled differences <= 0, share >= 0), capped at 1; each share is
    (count + 1) / (resamples + 1), so that no p-value is 0. Equal runs have p = 1; the smallest
    possible one is 2 / (RESAMPLES + 1). This inverts the percentile interval: p is below 0.05 about
    where the 95% interval of the difference leaves out 0.
    """
    below = np.count_nonzero(resamples <= _ZERO) + 1
    above = np.count_nonzero(resamples >= -_ZERO) + 1
    return float(min(1.0, 2 * min(below, above) / (len(resamples) + 1)))
