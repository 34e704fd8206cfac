import pytest
from hypothesis import given
from oracles import pro_items as oracle
from oracles.pro_texts import golds, predictions
from oracles.texts import EXACT, examples

from lm_eval_longbench.metrics.lists import item_f1

CASES = {
    # prediction, gold, F1 = 2 * common / (distinct predicted + distinct gold)
    "equal": ("a\nb", ["a", "b"], 1.0),
    "order does not matter": ("b\na", ["a", "b"], 1.0),
    "case and whitespace": ("PART  1\n part 2 ", ["Part 1", "part\t2"], 1.0),
    "nothing in common": ("a", ["b"], 0.0),
    "one of two found": ("a", ["a", "b"], 2 / 3),  # 2*1/(1+2)
    "one too many": ("a\nb\nc", ["a", "b"], 4 / 5),  # 2*2/(3+2)
    "two of three and two of four": ("a\nb\nx", ["a", "b", "c", "d"], 4 / 7),  # 2*2/(3+4)
    "repetitions count once": ("a\na\na\nb", ["a", "b"], 1.0),
    "gold repetitions count once": ("a", ["a", "A"], 1.0),
    "an empty line is a wrong item": ("a\n\nb", ["a", "b"], 4 / 5),  # a, "", b: 2*2/(3+2)
    "several empty lines are one wrong item": ("a\n\n\n\nb", ["a", "b"], 4 / 5),
    "one line is one item": ("a, b", ["a", "b"], 0.0),
    "text before the mark does not count": ("x\n[Answer]\na", ["a"], 1.0),
    "text without a mark does": ("x\na", ["a"], 2 / 3),
    "nothing": ("", ["a"], 0.0),
    "no gold item": ("a", [], 0.0),
}


@pytest.mark.parametrize("score", [item_f1, oracle.item_f1], ids=["metric", "oracle"])
@pytest.mark.parametrize(("prediction", "answers", "expected"), CASES.values(), ids=CASES.keys())
def test_hand_worked(score, prediction, answers, expected):
    assert score(prediction, answers) == pytest.approx(expected, rel=0, abs=EXACT)


@examples(400)
@given(predictions, golds)
def test_equals_oracle(prediction, answers):
    assert item_f1(prediction, answers) == pytest.approx(
        oracle.item_f1(prediction, answers), rel=0, abs=EXACT
    )


@examples(100)
@given(golds)
def test_the_gold_list_itself_is_exactly_one(answers):
    items = oracle.golden(answers)
    assert item_f1("\n".join(["[Answer]x", *items, "x"]), [*items, "x"]) == 1.0
