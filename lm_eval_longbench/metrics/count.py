"""Share of the prediction's numbers that equal the gold number (LongBench v1 `count_score`)."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"\d+")


def share_of_numbers(prediction: str, gold: str) -> float:
    """Return the share of the digit runs in `prediction` that equal `gold` as strings, in [0, 1].

    No digit run: 0. "07" is not "7".
    """
    numbers = _NUMBER.findall(prediction)
    return numbers.count(gold) / len(numbers) if numbers else 0.0


def count(prediction: str, answer: str) -> float:
    """Return the share of the prediction's numbers that equal the answer itself, in [0, 1]."""
    return share_of_numbers(prediction, answer)
