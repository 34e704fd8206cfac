"""F1 of two token multisets, the core of the question-answering metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def multiset_f1(prediction: Sequence[str], answer: Sequence[str]) -> float:
    """Return the F1 of two token lists as multisets, in [0, 1]; 0 without a common token."""
    common = (Counter(prediction) & Counter(answer)).total()
    if common == 0:
        return 0.0
    precision = common / len(prediction)
    recall = common / len(answer)
    return 2 * precision * recall / (precision + recall)
