"""Longest common subsequences, against a plain table."""

from hypothesis import given
from hypothesis import strategies as st
from oracles.texts import examples

from lm_eval_longbench.metrics import rouge_l
from lm_eval_longbench.metrics.rouge_l import lcs_length, lcs_words

words = st.lists(st.sampled_from("abcde"), max_size=40)


def table(reference, prediction):
    cells = [[0] * (len(prediction) + 1) for _ in range(len(reference) + 1)]
    for i, word in enumerate(reference, start=1):
        for j, other in enumerate(prediction, start=1):
            longer = max(cells[i - 1][j], cells[i][j - 1])
            cells[i][j] = cells[i - 1][j - 1] + 1 if word == other else longer
    return cells


def walk(reference, prediction):
    cells = table(reference, prediction)
    i, j, found = len(reference), len(prediction), set()
    while i and j:
        if reference[i - 1] == prediction[j - 1]:
            found.add(reference[i - 1])
            i, j = i - 1, j - 1
        elif cells[i - 1][j] > cells[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return found


@examples(400)
@given(words, words)
def test_length_and_words_equal_the_tables(reference, prediction):
    assert lcs_length(reference, prediction) == table(reference, prediction)[-1][-1]
    assert lcs_words(reference, prediction) == walk(reference, prediction)


@examples(200)
@given(words, words, st.integers(1, 7))
def test_the_block_size_does_not_matter(reference, prediction, block):
    before = rouge_l._BLOCK
    rouge_l._BLOCK = block
    try:
        assert lcs_words(reference, prediction) == walk(reference, prediction)
    finally:
        rouge_l._BLOCK = before


def test_ties_step_back_in_the_prediction():
    # "a" and "b" are both longest. At the far corner neither table cell is strictly larger, so the
    # walk leaves the prediction's last word and meets the reference's.
    assert walk(["a", "b"], ["b", "a"]) == lcs_words(["a", "b"], ["b", "a"]) == {"b"}
    assert walk(["b", "a"], ["a", "b"]) == lcs_words(["b", "a"], ["a", "b"]) == {"a"}


def test_empty_lists():
    assert lcs_length([], ["a"]) == lcs_length(["a"], []) == lcs_length([], []) == 0
    assert lcs_words([], ["a"]) == lcs_words(["a"], []) == set()
