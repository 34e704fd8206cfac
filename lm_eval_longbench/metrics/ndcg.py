"""Ranking of items against the gold ranking (LongBench Pro `NDCG`, trec_eval's `ndcg_cut`)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from lm_eval_longbench.metrics.answer_items import gold_items, last_positions, prediction_items


def _dcg(gains: Iterable[int]) -> float:
    """Return the discounted gain of a ranking: the first rank counts whole, rank r by log2(r+1)."""
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def ndcg(prediction: str, answers: Sequence[str]) -> float:
    """Return NDCG@k for k gold items, in [0, 1]; 0 without a gold item.

    The gain of gold item i of n is n-i, linear: n for the first, 1 for the last; of an item that
    the gold list repeats, the last. Every distinct predicted item takes one rank, in the order of
    the last occurrences, so that no two ranks tie and trec_eval's order of ties never matters.

    Source of the definition: LongBench Pro, task T1. Official code hands the items to trec_eval,
    which stops or crashes on lone surrogates and NUL; they are ordinary characters here.
    """
    gold = gold_items(answers)
    if not gold:
        return 0.0
    gains = {item: len(gold) - position for position, item in enumerate(gold)}
    ranked = list(last_positions(prediction_items(prediction)))[: len(gold)]
    ideal = sorted(gains.values(), reverse=True)
    return _dcg(gains.get(item, 0) for item in ranked) / _dcg(ideal)
