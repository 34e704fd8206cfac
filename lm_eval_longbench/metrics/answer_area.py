"""The part of a LongBench Pro prediction that holds the answer."""

from __future__ import annotations

# In this order: a Chinese mark counts only where the English one occurs nowhere.
_MARKS = ("[Answer]", "[答案]")


def answer_area(prediction: str) -> str:
    """Return the stripped text after the last answer mark, or the whole text without one.

    Marks are case-sensitive. `[Answer]` goes first wherever it stands: a later `[答案]` is then
    part of the answer.
    """
    for mark in _MARKS:
        _, found, area = prediction.rpartition(mark)
        if found:
            return area.strip()
    return prediction.strip()
