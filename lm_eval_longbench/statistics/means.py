"""Means of scores, each added up in the order that its benchmark's official code has."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

import numpy as np


def running_mean(values: Iterable[float]) -> float:
    """Return the mean, added up one by one from the left; NaN of nothing.

    The official v1 scorer adds this way. `sum` does not from Python 3.12 on: it compensates, and
    the last bit of a mean would depend on the interpreter.
    """
    total, number = 0.0, 0
    for value in values:
        total += value
        number += 1
    return total / number if number else math.nan


def running_total(values: np.ndarray) -> float:
    """Return the sum of float64 values, added up one by one from the left."""
    return float(np.add.accumulate(values)[-1]) if len(values) else 0.0


def percent_of(total: float, number: int, digits: int) -> float:
    """Return `total` of `number` in percent, in the official order of operations of v1 and v2.

    To divide first and to multiply then gives another last digit now and then: 27.25 of 200 is
    officially 13.62, and would be 13.63.
    """
    return round(100 * total / number, digits)


def question_means(values: np.ndarray, counted: np.ndarray, *, exact: bool = False) -> np.ndarray:
    """Return the mean of each question's answers, float64 [questions].

    NaN without an answer that counts, and where the value of one is NaN.

    Args:
        values: float64 [questions, repeats].
        counted: the answers that count, bool [questions, repeats].
        exact: whether the sum is rounded once; else it is added up from the left.
    """
    kept, numbers = np.where(counted, values, 0.0), counted.sum(axis=1)
    if exact and values.shape[1] > 2:  # the sum of two is rounded once anyway
        sums = np.array([math.fsum(row) for row in kept], np.float64)
    else:
        sums = np.add.accumulate(kept, axis=1)[:, -1]
    with np.errstate(invalid="ignore", divide="ignore"):
        means: np.ndarray = sums / numbers
    return means


def best_scores(scores: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Return each question's best score; NaN if one is unscored or none counts.

    Args:
        scores: float64 [questions, repeats]; NaN where unscored.
        counted: the answers that count, bool [questions, repeats].
    """
    unknown = (counted & np.isnan(scores)).any(axis=1) | ~counted.any(axis=1)
    return np.where(unknown, np.nan, np.where(counted, scores, -1.0).max(axis=1))


def mean(values: Iterable[float | None]) -> float:
    """Return the mean as the harness's own `mean` does; NaN where it would stop."""
    values = list(values)
    known = [value for value in values if value is not None]
    return running_mean(known) if len(known) == len(values) else math.nan


def mean_of_known(values: Iterable[float | None]) -> float:
    """Return the mean of the values that are not None; NaN if all are.

    A task reports every key for every document, as None where it does not apply: with several
    ranks the harness loses keys that only some documents have.
    """
    return running_mean(value for value in values if value is not None)


def mean_if_all_known(values: Iterable[float | None]) -> float:
    """Return the mean; NaN if any value is None (not scored yet), or there is none.

    For figures that every question has: the mean of those that happen to be scored would be
    another figure under the same name.
    """
    return mean(values)


# What the task files name.
AGGREGATIONS: Mapping[str, Callable[[Iterable[float | None]], float]] = {
    "mean": mean,
    "mean_of_known": mean_of_known,
    "mean_if_all_known": mean_if_all_known,
}
