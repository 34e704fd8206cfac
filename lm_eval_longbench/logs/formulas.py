"""The harness's formulas: standard errors, and means of groups."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lm_eval_longbench.figures.means import running_mean

# Beyond any figure: sums of larger numbers need not be exact.
_BEYOND = 1e150


def safe_sum(values: Sequence[float]) -> float:
    """Return the exact sum; of numbers that no figure can have, infinity or NaN and no error."""
    return math.fsum(values) if all(abs(value) < _BEYOND for value in values) else sum(values)


def standard_error(values: Sequence[float]) -> float:
    """Return the standard error of the mean of two values or more."""
    mean = running_mean(values)
    squares = safe_sum([(value - mean) * (value - mean) for value in values])
    return math.sqrt(squares / (len(values) - 1)) / math.sqrt(len(values))


def weighted_mean(values: Sequence[float], sizes: Sequence[int]) -> float:
    """Return a group's mean of its tasks' figures, weighted by their numbers of questions."""
    pairs = zip(values, sizes, strict=True)
    return safe_sum([value * size for value, size in pairs]) / sum(sizes)
