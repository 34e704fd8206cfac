"""F1 of two sets of items (LongBench Pro `F1_Score`)."""

from __future__ import annotations

from collections.abc import Sequence

from lm_eval_longbench.metrics.answer_items import gold_items, prediction_items
from lm_eval_longbench.metrics.qa_f1 import multiset_f1


def item_f1(prediction: str, answers: Sequence[str]) -> float:
    """Return the F1 of the distinct predicted and the distinct gold items, in [0, 1].

    Source of the definition: LongBench Pro, tasks T5, T6.2, T7 and T9.
    """
    predicted, gold = (
        list(dict.fromkeys(items)) for items in (prediction_items(prediction), gold_items(answers))
    )
    return multiset_f1(predicted, gold)
