"""Share of the gold items that were found (LongBench Pro `SubEM`)."""

from __future__ import annotations

from collections.abc import Sequence

from lm_eval_longbench.metrics.answer_items import gold_items, prediction_items


def sub_em(prediction: str, answers: Sequence[str]) -> float:
    """Return the share of the gold items that are among the predicted items, in [0, 1].

    Whole items are compared; further predicted items cost nothing. A gold item that is listed
    twice counts twice. No gold item: 0.
    Source of the definition: LongBench Pro, tasks T6.1, T8 and T10.
    """
    gold = gold_items(answers)
    predicted = set(prediction_items(prediction))
    return sum(item in predicted for item in gold) / len(gold) if gold else 0.0
