"""Class found in the prediction (LongBench v1 `classification_score`)."""

from __future__ import annotations

from collections.abc import Sequence


def classification(prediction: str, answer: str, all_classes: Sequence[str]) -> float:
    """Return 1/k if the true class is among the k classes found in the prediction, else 0.

    A class is found when it is a substring of the prediction. Found classes that are proper
    substrings of the truth do not count, but the official loop removes them from the list it is
    walking and so passes over the class after each removal; that is kept (docs/differences.md).
    """
    found = [name for name in all_classes if name in prediction]
    position = 0
    while position < len(found):
        name = found[position]
        if name != answer and name in answer:
            found.remove(name)
        position += 1
    return 1.0 / len(found) if answer in found else 0.0
