"""Longest common subsequences, against a plain table."""

from hypothesis import given
from hypothesis import strategies as st
from oracles.rouge_l import lcs_table, walk
from oracles.texts import examples

from lm_eval_longbench.metrics import rouge
from lm_eval_longbench.metrics.rouge import lcs_length, lcs_words

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
