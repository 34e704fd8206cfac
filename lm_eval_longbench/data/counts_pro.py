"""Count the questions of LongBench Pro data by dimension and compare with the official counts."""

from __future__ import annotations

from collections.abc import Mapping

from lm_eval_longbench.catalog_pro import COUNTS, QUESTIONS

Counts = dict[str, dict[str, int]]


def no_counts() -> Counts:
    """Return counts of nothing: 0 for every value of every dimension."""
    return {dimension: dict.fromkeys(values, 0) for dimension, values in COUNTS.items()}


def add_row(counts: Counts, row: Mapping[str, str]) -> None:
    """Count one checked row."""
    for dimension, values in counts.items():
        values[row[dimension]] += 1


def total(counts: Counts) -> int:
    """Return the number of questions counted."""
    return sum(counts["secondary_task"].values())


def differences(counts: Counts) -> list[str]:
    """Return one phrase for each count that is not the official one; empty if all are."""
    questions = total(counts)
    found = []
    if questions != QUESTIONS:
        found.append(f"{questions} questions instead of {QUESTIONS}")
    for dimension, values in COUNTS.items():
        for value, official in values.items():
            number = counts[dimension][value]
            if number != official:
                found.append(f"{dimension} {value!r} {number} instead of {official}")
    return found
