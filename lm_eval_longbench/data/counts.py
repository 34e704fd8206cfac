"""Count the questions of some data by dimension and compare with the official counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

# Questions that have each value, by dimension. Every question has one value of each dimension.
Counts = Mapping[str, Mapping[str, int]]
# Differing counts that a message names.
SHOWN = 8


def no_counts(official: Counts) -> dict[str, dict[str, int]]:
    """Return counts of nothing: 0 for every value of every dimension of the official counts."""
    return {dimension: dict.fromkeys(values, 0) for dimension, values in official.items()}


def add_row(counts: dict[str, dict[str, int]], row: Mapping[str, str]) -> None:
    """Count one checked row."""
    for dimension, values in counts.items():
        values[row[dimension]] += 1


def total(counts: Counts) -> int:
    """Return the number of questions counted, which is the sum over any dimension."""
    return sum(next(iter(counts.values())).values())


def differences(counts: Counts, official: Counts) -> list[str]:
    """Return one phrase for each count that is not the official one; empty if all are."""
    found = []
    if total(counts) != total(official):
        found.append(f"{total(counts)} questions instead of {total(official)}")
    for dimension, values in official.items():
        for value, expected in values.items():
            number = counts[dimension][value]
            if number != expected:
                found.append(f"{dimension} {value!r} {number} instead of {expected}")
    return found


def listed(found: Sequence[str]) -> str:
    """Return phrases as one, the first `SHOWN` of them and the number of the others."""
    more = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return "; ".join(found[:SHOWN]) + more
