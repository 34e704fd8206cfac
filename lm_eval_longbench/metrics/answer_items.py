"""Items of LongBench Pro answers: a line each in an answer area, a string each in the gold list."""

from __future__ import annotations

from collections.abc import Sequence

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


def normalize(text: str) -> str:
    """Lower-case, collapse whitespace of any kind to single spaces, strip."""
    return " ".join(text.lower().split())


def prediction_items(prediction: str) -> list[str]:
    """Return the items of a prediction's answer area, one a newline; at least one.

    An empty line inside the area is the item "": it counts as a wrong item and takes a rank.
    Leading and trailing ones are no part of the area.
    """
    return [normalize(line) for line in answer_area(prediction).split("\n")]


def gold_items(answers: Sequence[str]) -> list[str]:
    """Return the gold items. They are not split: a newline in one is whitespace."""
    return [normalize(answer) for answer in answers]


def last_positions(items: Sequence[str]) -> dict[str, int]:
    """Map each item to the position of its last occurrence, in the order of these positions."""
    last = {item: position for position, item in enumerate(items)}
    return dict(sorted(last.items(), key=lambda pair: pair[1]))
