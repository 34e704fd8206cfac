"""ROUGE-L is that of the official package, however long the pieces."""

import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles.hand_worked import METRICS, NO_PIECE, ROUGE_L
from oracles.rouge_l import f_of, lcs_table, walk
from oracles.texts import EXACT, examples
from rouge import Rouge

from lm_eval_longbench.metrics import rouge
from lm_eval_longbench.metrics.rouge import lcs_length, lcs_words, rouge_l, rouge_l_zh

texts = METRICS["rouge_l"][2][0]
long_pieces = st.lists(st.sampled_from("abcdefghijklmnopqrst"), min_size=30, max_size=150).map(
    " ".join
)


def test_the_epsilon_is_in_the_figure():
    # R = P = 1: 2 / (2 + 1e-8); R = 1, P = 1/2: 1 / (1.5 + 1e-8)
    assert rouge_l("x", "x") == pytest.approx(0.999999995, rel=0, abs=EXACT)
    assert rouge_l("x y", "x") == pytest.approx(0.6666666622222222, rel=0, abs=EXACT)


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
    [case[:2] for case in (ROUGE_L | NO_PIECE).values()],
    ids=ROUGE_L | NO_PIECE,
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


@examples(100)
@given(texts, texts)
def test_a_longer_answer_piece_list_never_loses_recall_words(prediction, answer):
    # Repeating every piece adds no distinct word and no new subsequence.
    assert rouge_l(prediction + "." + prediction, answer + "." + answer) == pytest.approx(
        rouge_l(prediction, answer), rel=0, abs=EXACT
    )


@pytest.mark.parametrize(
    ("prediction", "answer"), [("", ""), ("", "北京"), ("北京", ""), (".", "北京"), ("北京", ".")]
)
def test_no_piece_scores_zero(prediction, answer):
    assert rouge_l_zh(prediction, answer) == 0.0


# ---------------------------------------------------------------------- longest common subsequences

words = st.lists(st.sampled_from("abcde"), max_size=40)


@examples(400)
@given(words, words)
def test_length_and_words_equal_the_tables(reference, prediction):
    assert lcs_length(reference, prediction) == lcs_table(reference, prediction)[-1][-1]
    assert lcs_words(reference, prediction) == set(walk(reference, prediction))


@examples(200)
@given(words, words, st.integers(1, 7))
def test_the_block_size_does_not_matter(reference, prediction, block):
    before = rouge._BLOCK
    rouge._BLOCK = block
    try:
        assert lcs_words(reference, prediction) == set(walk(reference, prediction))
    finally:
        rouge._BLOCK = before


def test_ties_step_back_in_the_prediction():
    # "a" and "b" are both longest. At the far corner neither table cell is strictly larger, so the
    # walk leaves the prediction's last word and meets the reference's.
    assert set(walk(["a", "b"], ["b", "a"])) == lcs_words(["a", "b"], ["b", "a"]) == {"b"}
    assert set(walk(["b", "a"], ["a", "b"])) == lcs_words(["b", "a"], ["a", "b"]) == {"a"}


def test_empty_lists():
    assert lcs_length([], ["a"]) == lcs_length(["a"], []) == lcs_length([], []) == 0
    assert lcs_words([], ["a"]) == lcs_words(["a"], []) == set()
