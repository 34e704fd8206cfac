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
