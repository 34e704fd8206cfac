"""Put the figures of questions together as the tasks' YAML says."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lm_eval_longbench.aggregation.means import mean_if_all_known, mean_of_known, running_mean

Values = Sequence[float | None]


def _plain_mean(values: Values) -> float:
    """Return the mean as the harness's own `mean` does; NaN where it would stop."""
    return math.nan if None in values else running_mean(values)  # type: ignore[arg-type]


AGGREGATIONS: Mapping[str, Callable[[Values], float]] = {
    "mean": _plain_mean,
    "mean_of_known": mean_of_known,
    "mean_if_all_known": mean_if_all_known,
}
_BEYOND = 1e150
# The harness dumps a function by its source.
_FUNCTION = re.compile(r"\s*def\s+(\w+)\s*\(")


def aggregation_names(config: Mapping[str, Any]) -> dict[str, str]:
    """Return the name of each metric's aggregation in a task's dumped configuration."""
    names = {}
    entries = config.get("metric_list")
    for entry in entries if isinstance(entries, Sequence) else ():
        if isinstance(entry, Mapping):
            text = str(entry.get("aggregation", "mean"))
            source = _FUNCTION.match(text)
            names[str(entry.get("metric"))] = source[1] if source else text
    return names


def standard_error(values: Sequence[float]) -> float:
    """Return the standard error of the mean of two values or more, as the harness computes it."""
    mean = running_mean(values)
    squares = safe_sum([(value - mean) * (value - mean) for value in values])
    return math.sqrt(squares / (len(values) - 1)) / math.sqrt(len(values))


def safe_sum(values: Sequence[float]) -> float:
    """Return the exact sum; of numbers that no figure can have, infinity or NaN and no error."""
    return math.fsum(values) if all(abs(value) < _BEYOND for value in values) else sum(values)


def same_number(found: Any, expected: Any, tolerance: float = 1e-9) -> bool:
    """Whether two figures are equal up to rounding; None and NaN are equal to themselves only."""
    if isinstance(found, bool) or isinstance(expected, bool):
        return found is expected
    if isinstance(found, float | int) and isinstance(expected, float | int):
        if found == expected:  # infinity too
            return True
        if math.isnan(found) or math.isnan(expected):
            return math.isnan(found) and math.isnan(expected)
        return abs(found - expected) <= tolerance
    return found == expected
