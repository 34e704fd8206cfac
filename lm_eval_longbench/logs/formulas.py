"""The harness's formulas: standard errors, means of groups, and what --limit leaves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

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


def pooled_error(errors: Sequence[float], sizes: Sequence[int]) -> float | None:
    """Return a group's standard error from those of its tasks; None: a question each is too few.

    Args:
        errors: one a task.
        sizes: numbers of questions.
    """
    freedom = sum(sizes) - len(sizes)
    if freedom <= 0:
        return None
    pairs = zip(errors, sizes, strict=True)
    pooled = safe_sum([(size - 1) * (value * value) * size for value, size in pairs])
    return math.sqrt(pooled / freedom / sum(sizes))


def plain_error(errors: Sequence[float]) -> float:
    """Return the standard error of the plain mean of tasks, which are independent."""
    return math.sqrt(safe_sum([value * value for value in errors])) / len(errors)


def left_by_limit(limit: Any, number: int | None) -> int | None:
    """Return how many of a task's questions --limit leaves; None: there was none, or it is lost.

    Args:
        limit: as given: below 1 a share, rounded up, else a number; 0 is no limit.
        number: of the questions; None: not known.
    """
    if number is None or isinstance(limit, bool) or not isinstance(limit, int | float):
        return None
    if not math.isfinite(limit) or limit < 0:
        return None
    left = math.ceil(number * limit) if limit < 1 else int(limit)
    return min(number, left or number)
