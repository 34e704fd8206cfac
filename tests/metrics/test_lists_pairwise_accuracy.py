import random

import pytest
from hypothesis import given
from oracles import pro_items as oracle
from oracles.pro_texts import distinct_golds, golds, predictions
from oracles.texts import EXACT, examples

from lm_eval_longbench.metrics.lists import pairwise_accuracy

CASES = {
    # prediction, gold, gold pairs in order / pairs of predicted items
    "equal": ("a\nb\nc", ["a", "b", "c"], 1.0),  # 3/3
    "reversed": ("c\nb\na", ["a", "b", "c"], 0.0),
    "two swapped": ("b\na\nc", ["a", "b", "c"], 2 / 3),  # ac, bc of 3
    "case and whitespace": ("PART  1\npart 2", ["part 1", "Part\t2"], 1.0),
    # the denominator is the prediction's: a missing item costs nothing
    "the first two of four": ("a\nb", ["a", "b", "c", "d"], 1.0),  # 1/1
    "a wrong item between": ("a\nx\nb", ["a", "b"], 1 / 3),  # ab of 3
    "an empty line between": ("a\n\nb", ["a", "b"], 1 / 3),
    "two empty lines count twice": ("a\n\n\nb", ["a", "b"], 1 / 6),  # ab of 6
    # a at 2 and b at 1: no pair in order
    "a repeated item stands at its last position": ("a\nb\na", ["a", "b"], 0.0),
    # b at 1, c at 2, a at 3: bc in order, of 6
    "a repeated first item": ("a\nb\nc\na", ["a", "b", "c"], 1 / 6),
    # a at 1, b at 2: ab, of 3: the repetition counts in the denominator
    "repetitions count among the pairs": ("a\na\nb", ["a", "b"], 1 / 3),
    "nothing in common": ("x\ny", ["a", "b"], 0.0),
    "one predicted item": ("a", ["a", "b"], 0.0),
    "one gold item": ("a\nb", ["a"], 0.0),
    "one on both sides": ("a", ["a"], 0.0),
    "one item behind the mark": ("a\n[Answer]\nb", ["a", "b"], 0.0),
    "nothing": ("", ["a", "b"], 0.0),
    "no gold item": ("a\nb", [], 0.0),
    # gold pairs ab, aa, ab, ba, bb, ab: ab three times, of 1
    "repeated gold items can come out above one": ("a\nb", ["a", "b", "a", "b"], 3.0),
    # gold pairs ab, aa, ba: ab once, of 1
    "repeated gold items": ("a\nb", ["a", "b", "a"], 1.0),
}


@pytest.mark.parametrize(
    "score", [pairwise_accuracy, oracle.pairwise_accuracy], ids=["metric", "oracle"]
)
@pytest.mark.parametrize(("prediction", "answers", "expected"), CASES.values(), ids=CASES.keys())
def test_hand_worked(score, prediction, answers, expected):
    assert score(prediction, answers) == pytest.approx(expected, rel=0, abs=EXACT)


@examples(400)
@given(predictions, golds)
def test_equals_oracle(prediction, answers):
    assert pairwise_accuracy(prediction, answers) == pytest.approx(
        oracle.pairwise_accuracy(prediction, answers), rel=0, abs=EXACT
    )


@examples(300)
@given(predictions, distinct_golds)
def test_distinct_gold_items_never_come_out_above_one(prediction, answers):
    assert 0.0 <= pairwise_accuracy(prediction, answers) <= 1.0


def test_the_gold_order_is_exactly_one():
    for size in range(2, 200):
        gold = [f"item {number}" for number in range(size)]
        assert pairwise_accuracy("\n".join(gold), gold) == 1.0


def test_a_shuffled_list_and_its_reverse_share_the_pairs():
    rng = random.Random(1)
    gold = [f"item {number}" for number in range(40)]
    shuffled = rng.sample(gold, 40)
    one = pairwise_accuracy("\n".join(shuffled), gold)
    other = pairwise_accuracy("\n".join(shuffled[::-1]), gold)
    assert one + other == pytest.approx(1.0, rel=0, abs=EXACT)
