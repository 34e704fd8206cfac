"""Pairs of items in the right order (LongBench Pro `Pairwise_Accuracy`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

from lm_eval_longbench.metrics.answer_items import gold_items, last_positions, prediction_items


def pairwise_accuracy(prediction: str, answers: Sequence[str]) -> float:
    """Return the share of the prediction's pairs that stand in gold order, in [0, 1].

    Counted are pairs of gold items, in gold order, that occur in the same order in the prediction,
    where a repeated item stands at its last position. They are divided by the number of pairs of
    all predicted items, repetitions included. Fewer than two items on either side: 0.

    A gold list that repeats items counts their pairs more than once and can come out above 1;
    official code then scores 0 (`metrics.longbench_pro.score_sample`).

    Source of the definition: LongBench Pro, tasks T2 and T6.3.
    """
    predicted, gold = prediction_items(prediction), gold_items(answers)
    if len(predicted) < 2 or len(gold) < 2:
        return 0.0
    last = last_positions(predicted)
    positions = [last[item] for item in gold if item in last]
    in_order = sum(first < second for first, second in combinations(positions, 2))
    return in_order / math.comb(len(predicted), 2)
