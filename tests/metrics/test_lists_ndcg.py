import random
from math import log2

import pytest
import pytrec_eval
from hypothesis import assume, given
from oracles import pro_items as oracle
from oracles.pro_texts import golds, predictions
from oracles.texts import EXACT, examples

from lm_eval_longbench.metrics.lists import ndcg

# Ranks are discounted by 1, log2(3), log2(4) = 2. Ideal of three: 3/1 + 2/log2(3) + 1/2.
IDEAL_2 = 2 + 1 / log2(3)
IDEAL_3 = 3 + 2 / log2(3) + 1 / 2
CASES = {
    "equal": ("a\nb\nc", ["a", "b", "c"], 1.0),
    "case and whitespace": ("PART  1\npart 2", ["part 1", "Part\t2"], 1.0),
    "nothing in common": ("x\ny", ["a", "b"], 0.0),
    "one gold item found": ("a", ["a"], 1.0),
    "one gold item on the second rank is beyond k": ("x\na", ["a"], 0.0),
    "two swapped": ("b\na", ["a", "b"], (1 + 2 / log2(3)) / IDEAL_2),
    # gains 1, 2, 3 from the last
    "reversed": ("c\nb\na", ["a", "b", "c"], (1 + 2 / log2(3) + 3 / 2) / IDEAL_3),
    "only the first": ("a", ["a", "b", "c"], 3 / IDEAL_3),
    "only the last, in front": ("c", ["a", "b", "c"], 1 / IDEAL_3),
    "a wrong item takes a rank": ("x\na", ["a", "b"], (2 / log2(3)) / IDEAL_2),
    # k is the number of gold items: b comes third and is cut
    "beyond the k-th rank": ("a\nx\nb", ["a", "b"], 2 / IDEAL_2),
    # a moves behind b: b a
    "a repeated item takes its last position": ("a\nb\na", ["a", "b"], (1 + 2 / log2(3)) / IDEAL_2),
    # a a b is a b: a takes one rank, not two
    "a repeated item takes one rank": ("a\na\nb", ["a", "b"], 1.0),
    "empty lines take one rank together": ("a\n\n\nb", ["a", "b"], 2 / IDEAL_2),
    # k = 3; a has the gain of its last place, 1, and b has 2: ideal b a = 2 + 1/log2(3)
    "a repeated gold item has its last gain": (
        "a\nb",
        ["a", "b", "a"],
        (1 + 2 / log2(3)) / IDEAL_2,
    ),
    "nothing": ("", ["a"], 0.0),
    "no gold item": ("a", [], 0.0),
}


@pytest.mark.parametrize("score", [ndcg, oracle.ndcg], ids=["metric", "oracle"])
@pytest.mark.parametrize(("prediction", "answers", "expected"), CASES.values(), ids=CASES.keys())
def test_hand_worked(score, prediction, answers, expected):
    assert score(prediction, answers) == pytest.approx(expected, rel=0, abs=EXACT)


@examples(400)
@given(predictions, golds)
def test_equals_oracle(prediction, answers):
    assert ndcg(prediction, answers) == pytest.approx(
        oracle.ndcg(prediction, answers), rel=0, abs=EXACT
    )


def by_trec_eval(prediction, answers):
    similarity, gains = oracle.run_and_gains(prediction, answers)
    cutoff = len(answers)
    evaluator = pytrec_eval.RelevanceEvaluator({"question": gains}, {f"ndcg_cut.{cutoff}"})
    run = {item: float(value) for item, value in similarity.items()}
    return evaluator.evaluate({"question": run})["question"][f"ndcg_cut_{cutoff}"]


@pytest.mark.parametrize(
    ("prediction", "answers"),
    [case[:2] for case in CASES.values() if case[1]],
    ids=[name for name, case in CASES.items() if case[1]],
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
