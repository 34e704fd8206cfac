"""Items of an answer, and what only some metrics of lists have to give."""

import random

import pytest
import pytrec_eval
from hypothesis import assume, given
from oracles import pro_items as oracle
from oracles.hand_worked import NDCG
from oracles.pro_texts import distinct_golds, golds, predictions
from oracles.texts import EXACT, examples

from lm_eval_longbench.metrics.lists import (
    answer_area,
    gold_items,
    item_f1,
    last_positions,
    ndcg,
    pairwise_accuracy,
    prediction_items,
)

AREAS = {
    "no mark": (" the whole\ntext \n", "the whole\ntext"),
    "English mark": ("so\n[Answer]\na\nb\n", "a\nb"),
    "Chinese mark": ("so\n[答案]\n甲\n", "甲"),
    "on the line of the mark": ("[Answer] a", "a"),
    "the last English mark": ("[Answer]a[Answer]b", "b"),
    "the last Chinese mark": ("[答案]甲[答案]乙", "乙"),
    "English wins in front": ("[Answer]\na\n[答案]\nb", "a\n[答案]\nb"),
    "English wins behind": ("[答案]\na\n[Answer]\nb", "b"),
    "only an earlier English mark": ("[Answer]a[答案]b[答案]c", "a[答案]b[答案]c"),
    "case matters": ("[answer]\na", "[answer]\na"),
    "a capitalized mark is none": ("[ANSWER]a", "[ANSWER]a"),
    "spaces in the mark": ("[ Answer ]a", "[ Answer ]a"),
    "mark within brackets": ("[[Answer]]a", "]a"),
    "nothing behind the mark": ("a\n[Answer]", ""),
    "nothing behind the last mark": ("[Answer]a[Answer] \n", ""),
    "empty": ("", ""),
    "whitespace": (" \n\u3000", ""),
    "reasoning is not taken out here": ("<think>a</think>b", "<think>a</think>b"),
}
PREDICTIONS = {
    "one a line": ("a\nb", ["a", "b"]),
    "only behind the mark": ("a\n[Answer]\nb\nc", ["b", "c"]),
    "lower case": ("Part A\nÉ", ["part a", "é"]),
    "whitespace in a line": ("a  b\t c\n\u3000d\xa0", ["a b c", "d"]),
    "lines around the area are stripped": ("\n\na\n \n", ["a"]),
    "an empty line inside is an item": ("a\n\n \nb", ["a", "", "", "b"]),
    "carriage return is whitespace": ("a\r\nb\rc", ["a", "b c"]),
    "line separator is whitespace": ("a\u2028b\x0bc", ["a b c"]),
    "commas do not split": ("a, b", ["a, b"]),
    "bullets stay": ("- a\n1. b", ["- a", "1. b"]),
    "repetitions stay": ("a\nA\na", ["a", "a", "a"]),
    "empty": ("", [""]),
    "nothing behind the mark": ("a\n[Answer]\n", [""]),
}
GOLDS = {
    "normalized": (["Part  A", " b\t"], ["part a", "b"]),
    "a newline does not split": (["a\nb"], ["a b"]),
    "no area is taken out": (["[Answer] a"], ["[answer] a"]),
    "none": ([], []),
    "an empty one stays": (["", "a"], ["", "a"]),
}


@pytest.mark.parametrize("area", [answer_area, oracle.area], ids=["metric", "oracle"])
@pytest.mark.parametrize(("text", "expected"), AREAS.values(), ids=AREAS.keys())
def test_area(area, text, expected):
    assert area(text) == expected


@examples(150)
@given(predictions, predictions)
def test_nothing_before_the_last_english_mark_counts(before, behind):
    assert answer_area(f"{before}[Answer]{behind}") == answer_area(f"[Answer]{behind}")


@pytest.mark.parametrize("items", [prediction_items, oracle.predicted], ids=["metric", "oracle"])
@pytest.mark.parametrize(("text", "expected"), PREDICTIONS.values(), ids=PREDICTIONS.keys())
def test_prediction(items, text, expected):
    assert items(text) == expected


@pytest.mark.parametrize("items", [gold_items, oracle.golden], ids=["metric", "oracle"])
@pytest.mark.parametrize(("answers", "expected"), GOLDS.values(), ids=GOLDS.keys())
def test_gold(items, answers, expected):
    assert items(answers) == expected


def test_last_positions():
    # a stands at 0 and 2, b at 1, c at 3
    assert list(last_positions(["a", "b", "a", "c"]).items()) == [("b", 1), ("a", 2), ("c", 3)]
    assert last_positions([]) == {}


@examples(300)
@given(predictions, golds)
def test_equals_oracle(prediction, answers):
    items = prediction_items(prediction)
    assert answer_area(prediction) == oracle.area(prediction)
    assert items == oracle.predicted(prediction)
    assert gold_items(answers) == oracle.golden(answers)
    found = last_positions(items)
    assert found == {item: oracle.last_index(items, item) for item in items}
    assert list(found.values()) == sorted(found.values())


@examples(100)
@given(golds)
def test_the_gold_list_itself_is_exactly_one(answers):
    items = oracle.golden(answers)
    assert item_f1("\n".join(["[Answer]x", *items, "x"]), [*items, "x"]) == 1.0


def by_trec_eval(prediction, answers):
    similarity, gains = oracle.run_and_gains(prediction, answers)
    cutoff = len(answers)
    evaluator = pytrec_eval.RelevanceEvaluator({"question": gains}, {f"ndcg_cut.{cutoff}"})
    run = {item: float(value) for item, value in similarity.items()}
    return evaluator.evaluate({"question": run})["question"][f"ndcg_cut_{cutoff}"]


@pytest.mark.parametrize(
    ("prediction", "answers"),
    [case[:2] for case in NDCG.values() if case[1]],
    ids=[name for name, case in NDCG.items() if case[1]],
)
def test_hand_worked_cases_equal_trec_eval(prediction, answers):
    assert ndcg(prediction, answers) == pytest.approx(
        by_trec_eval(prediction, answers), rel=0, abs=EXACT
    )


@examples(500)
@given(predictions, golds)
def test_equals_trec_eval(prediction, answers):
    assume(answers)
    # trec_eval reads C strings: it cannot take surrogates, and NUL ends the item (it can crash).
    assume(not any(c == "\0" or "\ud800" <= c <= "\udfff" for c in prediction + "".join(answers)))
    assert ndcg(prediction, answers) == pytest.approx(
        by_trec_eval(prediction, answers), rel=0, abs=EXACT
    )


@pytest.mark.parametrize("size", [2, 10, 100, 400])
def test_long_rankings_equal_trec_eval(size):
    rng = random.Random(size)
    gold = [f"item {number}" for number in range(size)]
    for _ in range(5):
        items = rng.choices([*gold, *(f"wrong {number}" for number in range(size))], k=2 * size)
        prediction = "\n".join(items)
        expected = by_trec_eval(prediction, gold)
        assert 0.0 <= expected < 1.0
        assert ndcg(prediction, gold) == pytest.approx(expected, rel=0, abs=EXACT)


def test_the_gold_ranking_is_exactly_one():
    # pass@N asks for 1.0 itself.
    for size in range(1, 300):
        gold = [f"item {number}" for number in range(size)]
        assert ndcg("\n".join(gold), gold) == 1.0
        assert ndcg("\n".join([*gold, "more"]), gold) == 1.0


def test_true_value_where_trec_eval_stops():
    assert ndcg("\ud800\nb", ["\ud800", "b"]) == 1.0
    assert ndcg("a\0x\na\0y", ["a\0x", "a\0y"]) == 1.0


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
