"""The metrics of LongBench Pro whose answers are lists of items."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

from lm_eval_longbench.metrics.text import multiset_f1

# ----------------------------------------------------------------------
# Items of LongBench Pro answers: a line each in an answer area, a string each in the gold list.

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


# ----------------------------------------------------------------------
# First item equals the first gold item (LongBench Pro `Accuracy`).


def accuracy(prediction: str, answers: Sequence[str]) -> float:
    """Return 1 if the first item of the prediction is the first gold item, else 0.

    Nothing else of either list is looked at. No gold item: 0.
    Source of the definition: LongBench Pro, tasks T3 and T11.
    """
    gold = gold_items(answers[:1])
    return float(prediction_items(prediction)[:1] == gold)


# ----------------------------------------------------------------------
# F1 of two sets of items (LongBench Pro `F1_Score`).


def item_f1(prediction: str, answers: Sequence[str]) -> float:
    """Return the F1 of the distinct predicted and the distinct gold items, in [0, 1].

    Source of the definition: LongBench Pro, tasks T5, T6.2, T7 and T9.
    """
    predicted, gold = (
        list(dict.fromkeys(items)) for items in (prediction_items(prediction), gold_items(answers))
    )
    return multiset_f1(predicted, gold)


# ----------------------------------------------------------------------
# Share of the gold items that were found (LongBench Pro `SubEM`).


def sub_em(prediction: str, answers: Sequence[str]) -> float:
    """Return the share of the gold items that are among the predicted items, in [0, 1].

    Whole items are compared; further predicted items cost nothing. A gold item that is listed
    twice counts twice. No gold item: 0.
    Source of the definition: LongBench Pro, tasks T6.1, T8 and T10.
    """
    gold = gold_items(answers)
    predicted = set(prediction_items(prediction))
    return sum(item in predicted for item in gold) / len(gold) if gold else 0.0


# ----------------------------------------------------------------------
# Ranking of items against the gold ranking (LongBench Pro `NDCG`, trec_eval's `ndcg_cut`).


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


# ----------------------------------------------------------------------
# Pairs of items in the right order (LongBench Pro `Pairwise_Accuracy`).


def pairwise_accuracy(prediction: str, answers: Sequence[str]) -> float:
    """Return the share of the prediction's pairs that stand in gold order, in [0, 1].

    Counted are pairs of gold items, in gold order, that occur in the same order in the prediction,
    where a repeated item stands at its last position. They are divided by the number of pairs of
    all predicted items, repetitions included. Fewer than two items on either side: 0.

    A gold list that repeats items counts their pairs more than once and can come out above 1;
    official code then scores 0 (`metrics.summary.score_sample`).

    Source of the definition: LongBench Pro, tasks T2 and T6.3.
    """
    predicted, gold = prediction_items(prediction), gold_items(answers)
    if len(predicted) < 2 or len(gold) < 2:
        return 0.0
    last = last_positions(predicted)
    positions = [last[item] for item in gold if item in last]
    in_order = sum(first < second for first, second in combinations(positions, 2))
    return in_order / math.comb(len(predicted), 2)


# By their names in task files.
ITEM_METRICS: dict[str, Callable[[str, Sequence[str]], float]] = {
    "accuracy": accuracy,
    "f1": item_f1,
    "sub_em": sub_em,
    "ndcg": ndcg,
    "pairwise_accuracy": pairwise_accuracy,
}
