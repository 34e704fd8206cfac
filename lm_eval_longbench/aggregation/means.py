"""Means of sample scores."""

from __future__ import annotations

import math
from collections.abc import Iterable


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


def percent_of(total: float, number: int, digits: int) -> float:
    """Return `total` of `number` in percent, in the official order of operations of v1 and v2.

    To divide first and to multiply then gives another last digit now and then: 27.25 of 200 is
    officially 13.62, and would be 13.63.
    """
    return round(100 * total / number, digits)


def rounded_percent(values: Iterable[float], digits: int) -> float | None:
    """Return the mean in percent, added up from the left, as `percent_of`; None of nothing."""
    total, number = 0.0, 0
    for value in values:
        total += value
        number += 1
    return percent_of(total, number, digits) if number else None


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
    values = list(values)
    known = [value for value in values if value is not None]
    return running_mean(known) if len(known) == len(values) else math.nan
