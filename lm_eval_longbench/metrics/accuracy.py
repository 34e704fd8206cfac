"""First item equals the first gold item (LongBench Pro `Accuracy`)."""

from __future__ import annotations

from collections.abc import Sequence

from lm_eval_longbench.metrics.answer_items import gold_items, prediction_items


def accuracy(prediction: str, answers: Sequence[str]) -> float:
    """Return 1 if the first item of the prediction is the first gold item, else 0.

    Nothing else of either list is looked at. No gold item: 0.
    Source of the definition: LongBench Pro, tasks T3 and T11.
    """
    gold = gold_items(answers[:1])
    return float(prediction_items(prediction)[:1] == gold)
