"""Code is compared as the official scorer does, and blocks are difflib's, whatever the texts."""

import importlib.util
import random
import warnings
from difflib import SequenceMatcher

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles import code_sim as oracle
from oracles.hand_worked import CODE_SIM, METRICS
from oracles.texts import EXACT, examples

from lm_eval_longbench.metrics.code import code_sim, matched

texts = METRICS["code_sim"][2][0]
no_levenshtein = pytest.mark.skipif(
    importlib.util.find_spec("Levenshtein") is not None,
    reason="fuzzywuzzy does not use difflib here: python-Levenshtein is installed",
)


@examples(200)
@given(texts, texts)
def test_equals_matching_blocks_found_by_hand(prediction, answer):
    assert code_sim(prediction, answer) == pytest.approx(
        oracle.code_sim_by_blocks(prediction, answer), rel=0, abs=EXACT
    )


def long_line(seed, length):
    rng = random.Random(seed)
    return "".join(rng.choice("abcdefghij    ()=._" + chr(300 + k)) for k in range(length))


LONG = [
    (long_line(seed, length), long_line(seed // 2, length + shift))
    for seed, length in enumerate([150, 199, 200, 201, 300, 600, 1500])
    for shift in (-3, 0, 4)
]


def fuzzy_ratio(prediction, answer):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it recommends python-Levenshtein
        from fuzzywuzzy import fuzz
    return fuzz.ratio(oracle.first_line(prediction), answer) / 100


@no_levenshtein
@examples(300)
@given(texts, texts)
def test_equals_fuzzywuzzy(prediction, answer):
    assert code_sim(prediction, answer) == pytest.approx(
        fuzzy_ratio(prediction, answer), rel=0, abs=EXACT
    )


@no_levenshtein
@pytest.mark.parametrize(
    ("prediction", "answer"),
    [*LONG, *((case[0], case[1]) for case in CODE_SIM.values())],
)
def test_long_lines_and_hand_worked_cases_equal_fuzzywuzzy(prediction, answer):
    assert code_sim(prediction, answer) == pytest.approx(
        fuzzy_ratio(prediction, answer), rel=0, abs=EXACT
    )


@examples(150)
@given(texts)
def test_a_line_against_itself(text):
    assert code_sim(text, oracle.first_line(text)) == 1.0


def official(first, second):
    blocks = SequenceMatcher(None, first, second).get_matching_blocks()
    return sum(block.size for block in blocks)


@settings(max_examples=500)
@given(st.text("ab\0\x01 汉", max_size=40), st.text("ab\0\x01 汉", max_size=40))
@example("", "")
@example("a", "")
@example("", "a")
def test_short_texts(first, second):
    assert matched(first, second) == official(first, second)


@pytest.mark.parametrize("seed", range(120))
def test_texts_with_popular_characters(seed):
    """From 200 characters on difflib leaves some aside, and lets blocks grow over them."""
    dice = random.Random(seed)
    alphabet = "ab" * dice.choice([1, 1, 5]) + "cdefgh() =_."[: dice.randint(0, 12)] + "0123456789"
    for length in (190, 199, 200, 201, 320):
        second = "".join(dice.choices(alphabet, k=length))
        at = dice.randrange(length)
        first = second[:at] + "".join(dice.choices(alphabet, k=dice.randint(0, 60))) + second[at:]
        kept = "".join(sign for sign in first if dice.random() < 0.9)
        for one in (first, kept, kept[::-1], "".join(dice.choices(alphabet, k=length))):
            assert matched(one, second) == official(one, second)
            assert matched(second, one) == official(second, one)


def test_all_first_signs_are_taken():
    """The two that stand for what is in no block are looked for among the others."""
    first = "".join(map(chr, range(300)))
    assert matched(first, first[::-1]) == official(first, first[::-1])
    assert matched(first, first) == 300
