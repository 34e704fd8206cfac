import random
import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import rouge_l as oracle
from oracles.rouge_l import f_of
from oracles.texts import EXACT, anything, examples, joined
from rouge import Rouge

from lm_eval_longbench.metrics.rouge import rouge_l

# Few words, so that many longest common subsequences tie; odd stops and whitespace between them.
WORDS = ["x ", "y ", "z ", "w "]
tied = joined(
    [*WORDS, *WORDS, "x", "X ", "x, ", ". ", "..", *". \n\t\xa0\u3000\x1c。"], max_size=40
)
texts = st.one_of(tied, anything)
long_pieces = st.lists(st.sampled_from("abcdefghijklmnopqrst"), min_size=30, max_size=150).map(
    " ".join
)

CASES = {
    # prediction, answer, recall, precision; U is the set of words of the chosen subsequences
    "equal": ("x y", "x y", 1, 1),
    "nothing in common": ("x", "y", 0, 0),
    "case matters": ("X", "x", 0, 0),
    "punctuation is part of a word": ("x,", "x", 0, 0),
    "half of the prediction": ("x y", "x", 1, 1 / 2),
    "half of the answer": ("x", "x y", 1 / 2, 1),
    "distinct words only": ("x x x x", "x", 1, 1),
    "distinct words over pieces": ("x. x. x", "x", 1, 1),
    "order matters within a piece": ("z y x", "x y z", 1 / 3, 1 / 3),
    # pieces y | x against x y: {y} and {x} together
    "order does not matter between pieces": ("y. x", "x y", 1, 1),
    # pieces a b | c against a | b c: {a}, {}, {b}, {c}
    "union over all pairs": ("a b. c", "a. b c", 1, 1),
    "whitespace collapses": ("  x \t\n y\xa0\u3000", "x y", 1, 1),
    "a stop splits inside a word": ("x.y", "x y", 1, 1),
    "numbers are split": ("3.5", "3 5", 1, 1),
    "empty pieces are dropped": ("x..y", "x.y", 1, 1),
    "a final stop leaves no piece": ("x.", "x", 1, 1),
    # pieces x | \n: the words of the prediction are x and ""
    "a newline after the final stop is a word": ("x.\n", "x", 1, 1 / 2),
    "the empty word can match": ("x. ", "x. .", 1, 1),
    "a text of one space": (" ", " ", 1, 1),
    "whitespace of different kinds is the same word": ("\t\n", " ", 1, 1),
    "space between stops": (". .", ".. ..", 1, 1),
    # Walk for answer x y against prediction y x: y and x differ at the end and both cells hold 1,
    # so it steps back in the prediction and takes y. The second answer piece adds x: U = {x, y}.
    # The other choice takes x twice: U = {x}, 1/2 and 1/2.
    "tie steps back in the prediction": ("y x", "x y. x", 1, 1),
    # Answer y x against prediction x y: x and y differ, tie, back in the prediction: takes x.
    # The second prediction piece takes x again: U = {x}. The other choice gives {x, y}.
    "tie steps back in the prediction, words lost": ("x y. x", "y x", 1 / 2, 1 / 2),
    # Answer a b x against prediction x a b: without x the answer still has a b (2), without b the
    # prediction only a match of 1: step back in the answer, U = {a, b}.
    "a larger cell steps back in the answer": ("x a b", "a b x", 2 / 3, 2 / 3),
    # Answer x a b against prediction a b x: 1 without b, 2 without x: back in the prediction.
    "a larger cell steps back in the prediction": ("a b x", "x a b", 2 / 3, 2 / 3),
    # Answer p q p against prediction p p q. The end p, q: without p 2 (p q), without q 2 (p p):
    # tie, back in the prediction: p p. U = {p}. The other choice takes p q.
    "tie within one piece changes the number of words": ("p p q", "p q p", 1 / 2, 1 / 2),
    # Answer p p q against prediction p q p: end q, p: 2 (p p) and 2 (p q): back in the
    # prediction: p q.
    "the same texts the other way round": ("p q p", "p p q", 1, 1),
}
NOTHING = {
    "two empty texts": ("", ""),
    "empty prediction": ("", "x"),
    "empty answer": ("x", ""),
    "a stop has no piece": (".", "x"),
    "answer of stops": ("x", "..."),
    "stops on both sides": (".", "."),
    "space against empty": (" ", ""),
}


@pytest.mark.parametrize("score", [rouge_l, oracle.rouge_l], ids=["metric", "oracle"])
@pytest.mark.parametrize(
    ("prediction", "answer", "recall", "precision"), CASES.values(), ids=CASES.keys()
)
def test_hand_worked(score, prediction, answer, recall, precision):
    assert score(prediction, answer) == pytest.approx(f_of(recall, precision), rel=0, abs=EXACT)


@pytest.mark.parametrize("score", [rouge_l, oracle.rouge_l], ids=["metric", "oracle"])
@pytest.mark.parametrize(("prediction", "answer"), NOTHING.values(), ids=NOTHING.keys())
def test_no_piece_scores_zero(score, prediction, answer):
    assert score(prediction, answer) == 0.0


def test_the_epsilon_is_in_the_figure():
    # R = P = 1: 2 / (2 + 1e-8); R = 1, P = 1/2: 1 / (1.5 + 1e-8)
    assert rouge_l("x", "x") == pytest.approx(0.999999995, rel=0, abs=EXACT)
    assert rouge_l("x y", "x") == pytest.approx(0.6666666622222222, rel=0, abs=EXACT)


@examples(500)
@given(texts, texts)
def test_equals_oracle(prediction, answer):
    assert rouge_l(prediction, answer) == pytest.approx(
        oracle.rouge_l(prediction, answer), rel=0, abs=EXACT
    )


@examples(40)
@given(long_pieces, long_pieces, st.sampled_from([" ", " . "]))
def test_long_pieces_equal_oracle(prediction, answer, gap):
    # The same words again in another piece, so that the choice of words shows in the figure.
    prediction, answer = prediction + gap + "u v", "v u" + gap + answer
    assert rouge_l(prediction, answer) == pytest.approx(
        oracle.rouge_l(prediction, answer), rel=0, abs=EXACT
    )


def words_at_random(seed, count, vocabulary):
    rng = random.Random(seed)
    return " ".join(f"w{rng.randrange(vocabulary)}" for _ in range(count))


@pytest.mark.parametrize(
    ("hypothesis_words", "reference_words", "vocabulary"),
    [(900, 1023, 300), (700, 1024, 300), (800, 1025, 300), (600, 2100, 500), (2100, 600, 500)],
)
def test_pieces_of_a_thousand_words_equal_oracle(hypothesis_words, reference_words, vocabulary):
    prediction = words_at_random(1, hypothesis_words, vocabulary)
    answer = words_at_random(2, reference_words, vocabulary)
    expected = oracle.rouge_l(prediction, answer)
    assert 0.05 < expected < 0.95  # the choice of words matters here
    assert rouge_l(prediction, answer) == pytest.approx(expected, rel=0, abs=EXACT)


def by_package(prediction, answer):
    """The score of the official scorer: the package's figure, 0 for any exception of its own.

    RecursionError is passed on: there the true value is wanted, not the 0 of the official code.
    """
    try:
        scores = Rouge().get_scores([prediction], [answer], avg=True)
    except RecursionError:
        raise
    except Exception:
        return 0.0
    return scores["rouge-l"]["f"]


@pytest.mark.parametrize(
    ("prediction", "answer"),
    [*((case[0], case[1]) for case in CASES.values()), *NOTHING.values()],
    ids=[*CASES, *NOTHING],
)
def test_hand_worked_cases_equal_the_package(prediction, answer):
    assert rouge_l(prediction, answer) == pytest.approx(
        by_package(prediction, answer), rel=0, abs=EXACT
    )


@examples(400)
@given(texts, texts)
def test_equals_the_package(prediction, answer):
    assert rouge_l(prediction, answer) == pytest.approx(
        by_package(prediction, answer), rel=0, abs=EXACT
    )


@examples(30)
@given(long_pieces, long_pieces)
def test_long_pieces_equal_the_package(prediction, answer):
    try:
        expected = by_package(prediction, answer)
    except RecursionError:
        assume(False)
    assert rouge_l(prediction, answer) == pytest.approx(expected, rel=0, abs=EXACT)


def test_true_value_where_the_package_stops():
    # 3,000 different words, the last 1,000 of the answer first in the prediction: the longest
    # common subsequence is the other 2,000, so R = P = 2/3.
    words = [f"w{number}" for number in range(3000)]
    prediction, answer = " ".join(words[2000:] + words[:2000]), " ".join(words)
    assert rouge_l(prediction, answer) == pytest.approx(f_of(2 / 3, 2 / 3), rel=0, abs=EXACT)


def test_fifty_thousand_words_in_one_piece():
    words = [f"{number:x}" for number in range(51_000)]
    prediction, answer = " ".join(words[34_000:] + words[:34_000]), " ".join(words)
    begin = time.perf_counter()
    score = rouge_l(prediction, answer)
    assert time.perf_counter() - begin < 60  # a plain table has 2.6e9 cells: half an hour
    assert score == pytest.approx(f_of(2 / 3, 2 / 3), rel=0, abs=EXACT)


def test_fifty_thousand_words_of_a_small_vocabulary():
    prediction = words_at_random(3, 50_000, 40) + " only-here"
    answer = words_at_random(4, 50_000, 40) + " only-there"
    begin = time.perf_counter()
    score = rouge_l(prediction, answer)
    assert time.perf_counter() - begin < 60
    # All 40 common words are in so long a match; one word on each side is not.
    assert score == pytest.approx(f_of(40 / 41, 40 / 41), rel=0, abs=EXACT)


@examples(150)
@given(texts)
def test_a_text_against_itself(text):
    expected = f_of(1, 1) if text.strip(".") else 0.0
    assert rouge_l(text, text) == pytest.approx(expected, rel=0, abs=EXACT)


@examples(100)
@given(texts, texts)
def test_a_longer_answer_piece_list_never_loses_recall_words(prediction, answer):
    # Repeating every piece adds no distinct word and no new subsequence.
    assert rouge_l(prediction + "." + prediction, answer + "." + answer) == pytest.approx(
        rouge_l(prediction, answer), rel=0, abs=EXACT
    )
