import importlib.util
import random
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import code_sim as oracle
from oracles.texts import EXACT, anything, examples, joined

from lm_eval_longbench.metrics.code import code_sim

code = joined([*"xy=1()#/` \n", "==", "//", "self.", "    ", "return "], 15)
texts = st.one_of(code, anything)
no_levenshtein = pytest.mark.skipif(
    importlib.util.find_spec("Levenshtein") is not None,
    reason="fuzzywuzzy does not use difflib here: python-Levenshtein is installed",
)

OTHERS = "".join(map(chr, range(300, 500)))
CASES = {
    # prediction, answer, score; M characters match of T in both texts: round(100 * 2M/T) / 100
    "equal": ("x = 1", "x = 1", 1.0),
    "four of five characters": ("x = 2", "x = 1", 0.8),  # M=4, T=10
    "nothing in common": ("abc", "xyz", 0.0),
    "case matters": ("X", "x", 0.0),
    "leading newlines": ("\n\n\nx = 1", "x = 1", 1.0),
    "first line only": ("x = 1\ny = 2", "x = 1", 1.0),
    "fence is passed over": ("```python\nx = 1\n```", "x = 1", 1.0),
    "backtick anywhere in the line": ("see `x`\nx = 1", "x = 1", 1.0),
    "comment is passed over": ("# set x\nx = 1", "x = 1", 1.0),
    "comment behind code": ("x = 1  # one\nx = 2", "x = 1", 0.8),
    "double slash is passed over": ("// set x\nx = 1", "x = 1", 1.0),
    "double slash in an address": ("u = 'http://a'\nx = 1", "x = 1", 1.0),
    "single slash is code": ("x / 1", "x / 1", 1.0),
    "several lines are passed over": ("```\n# a\n// b\nx = 1", "x = 1", 1.0),
    # after a comment an empty line is a line: "" against x = 1
    "empty line after a comment": ("# a\n\nx = 1", "x = 1", 0.0),
    "empty line after a comment, empty answer": ("# a\n\nx = 1", "", 1.0),
    "no line left": ("# a\n// b", "x = 1", 0.0),
    "no line left, empty answer": ("# a\n// b", "", 1.0),
    "only newlines are stripped": (" \nx = 1", "x = 1", 0.33),  # " ": M=1, T=6
    "carriage return is part of the line": ("\r\nx", "\r", 1.0),
    "indentation counts": ("    x = 1", "x = 1", 0.71),  # M=5, T=14: 71.43
    "the answer is not filtered": ("x # c", "x # c", 0.0),
    "answer of two lines": ("x\ny", "x\ny", 0.5),  # x against x\ny: M=1, T=4
    "two empty texts": ("", "", 1.0),
    "newlines against empty": ("\n\n", "", 1.0),
    "empty prediction": ("", "x = 1", 0.0),
    "empty answer": ("x = 1", "", 0.0),
    # M=1, T=16: 12.5 goes to the even 12. M=3: 37.5 to 38. M=5: 62.5 to 62.
    "half goes down to even": ("aPQRSTUV", "abcdefgh", 0.12),
    "half goes up to even": ("abcRSTUV", "abcdefgh", 0.38),
    "half goes down to even again": ("abcdeTUV", "abcdefgh", 0.62),
    # Blocks of one character. tide, diet: t is first in the prediction and last in the answer,
    # nothing is left to match behind it: M=1, T=8: 12.5 * 2 = 25.
    "tide against diet": ("tide", "diet", 0.25),
    # diet, tide: d first, behind it iet and e share e: M=2.
    "diet against tide": ("diet", "tide", 0.5),
    # Below 200 characters x^199 is matched at once: M=198, T=398: 99.497.
    "no autojunk at 199 characters": ("y" + "x" * 198, "x" * 199, 0.99),
    # At 200 x fills more than 1 % of the answer, so no block starts with it; y is not in the
    # answer and the two texts differ at their beginning: nothing is left.
    "autojunk at 200 characters": ("y" + "x" * 199, "x" * 200, 0.0),
    # The length of the answer decides, not that of the prediction.
    "no autojunk for a long prediction": ("y" + "x" * 250, "x" * 199, 0.88),  # 398/450: 88.44
    # Popular is more than 200 // 100 + 1 = 3 times. OTHERS has no character twice.
    "three in two hundred are not popular": ("qz", "zzz" + OTHERS[:197], 0.01),  # M=1, T=202
    "four in two hundred are popular": ("qz", "zzzz" + OTHERS[:196], 0.0),
    # A block that starts with u grows over a popular z: M=2, T=203: 1.97. No block: M=0.
    "blocks grow over popular characters": ("quz", "uzzzz" + OTHERS[:195], 0.02),
    # Without any block the two beginnings are still compared: M=1, T=201.
    "popular character at both beginnings": ("z", "zzzz" + OTHERS[:196], 0.01),
}


@pytest.mark.parametrize("score", [code_sim, oracle.code_sim], ids=["metric", "oracle"])
@pytest.mark.parametrize(("prediction", "answer", "expected"), CASES.values(), ids=CASES.keys())
def test_hand_worked(score, prediction, answer, expected):
    assert score(prediction, answer) == pytest.approx(expected, rel=0, abs=EXACT)


@examples(400)
@given(texts, texts)
def test_equals_oracle(prediction, answer):
    assert code_sim(prediction, answer) == pytest.approx(
        oracle.code_sim(prediction, answer), rel=0, abs=EXACT
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


@pytest.mark.parametrize(("prediction", "answer"), LONG)
def test_long_lines_equal_oracle(prediction, answer):
    assert code_sim(prediction, answer) == pytest.approx(
        oracle.code_sim(prediction, answer), rel=0, abs=EXACT
    )


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
    [*LONG, *((case[0], case[1]) for case in CASES.values())],
)
def test_long_lines_and_hand_worked_cases_equal_fuzzywuzzy(prediction, answer):
    assert code_sim(prediction, answer) == pytest.approx(
        fuzzy_ratio(prediction, answer), rel=0, abs=EXACT
    )


@examples(150)
@given(texts)
def test_a_line_against_itself(text):
    assert code_sim(text, oracle.first_line(text)) == 1.0


@examples(150)
@given(texts, texts)
def test_whole_percents(prediction, answer):
    score = code_sim(prediction, answer)
    assert score == round(score * 100) / 100
