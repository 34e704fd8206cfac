import itertools
import logging

import numpy as np
import pytest

from lm_eval_longbench.errors import DataError, EmbeddingError
from lm_eval_longbench.retrieval.embedding import summary_similarities
from lm_eval_longbench.retrieval.remote import RemoteEmbedder
from lm_eval_longbench.retrieval.vectors import VectorCache

GUITAR = "a man is playing the guitar"
PAIRS = [
    (GUITAR, ["interest rates rose by a percent", "someone plays guitar"]),
    ("the river flooded the village", ["water from the river entered houses", "cats sleep a lot"]),
    (GUITAR, ["cats sleep a lot"]),
    ("一个男人在弹吉他", ["有人在弹吉他", "利率上升了"]),
]


class Fixed:
    """Vectors chosen by the test."""

    name = identity = "fixed"

    def __init__(self, vectors):
        self.vectors = vectors

    def embed(self, texts):
        return np.array([self.vectors[text] for text in texts], dtype=np.float32)


def test_equals_the_library(local):
    from sentence_transformers import SentenceTransformer, util

    model = SentenceTransformer(local.name, device="cpu")

    def encode(text):
        return model.encode([text])

    expected = [
        max(float(util.cos_sim(encode(text), encode(one))) for one in references)
        for text, references in PAIRS
    ]
    assert summary_similarities(PAIRS, local) == expected  # to the last bit
    assert len(set(expected)) == 4


def test_the_best_reference_counts(local):
    text, references = PAIRS[0]
    singles = [summary_similarities([(text, [one])], local)[0] for one in references]
    assert singles[0] < 0.2 < 0.7 < singles[1]
    for order in itertools.permutations(references):
        assert summary_similarities([(text, order)], local) == pytest.approx([singles[1]], abs=1e-6)


def test_each_text_is_embedded_once_and_cleaned(counting):
    pairs = [
        ("A  Cat\n", ["a cat", "A DOG"]),
        ("a dog", ["a\tcat ", "a bird"]),
        ("a cat", ["Fish"]),
    ]
    summary_similarities(pairs, counting)
    assert sorted(counting.texts) == ["a bird", "a cat", "a dog", "fish"]
    assert len(counting.batches) == 1


def test_many_texts_go_in_batches_and_are_kept_as_they_come(local, cache, counting):
    class Failing:
        name, identity = counting.name, counting.identity

        def embed(self, texts):
            if len(counting.batches) == 1:
                raise EmbeddingError("gone")
            return counting.embed(texts)

    pairs = [(f"prediction {number}", ["reference"]) for number in range(300)]
    with pytest.raises(EmbeddingError, match="gone"):
        summary_similarities(pairs, Failing(), cache)
    assert [len(batch) for batch in counting.batches] == [256]
    summary_similarities(pairs, counting, cache)
    assert [len(batch) for batch in counting.batches] == [256, 45]


def test_empty_predictions_have_none_and_cost_nothing(counting):
    pairs = [("", ["only here"]), (" \n", ["only here"]), ("a cat", ["a cat"])]
    values = summary_similarities(pairs, counting)
    assert values[:2] == [None, None]
    assert values[2] == pytest.approx(1)
    assert counting.texts == ["a cat"]


@pytest.mark.parametrize("references", [[], [""], [" ", "\n"]])
@pytest.mark.parametrize("prediction", ["a cat", ""])
def test_no_reference(local, references, prediction):
    with pytest.raises(DataError, match="no reference"):
        summary_similarities([(prediction, references)], local)


def test_half_surrogates_do_not_stop_a_run(local):
    assert summary_similarities([("a cat \ud83d", ["a cat"])], local)[0] > 0.8


def test_a_vector_of_zeros_has_no_direction():
    assert summary_similarities([("a", ["b"])], Fixed({"a": [0, 0], "b": [1, 0]})) == [0.0]


def test_cached_texts_are_not_embedded_again(counting, cache):
    first = summary_similarities(PAIRS, counting, cache)
    number = len(counting.texts)
    assert number == 9
    again = summary_similarities(PAIRS, counting, VectorCache(cache.path.parent))
    assert len(counting.texts) == number
    assert again == first
    summary_similarities([("a new text", ["cats sleep a lot"])], counting, cache)
    assert counting.texts[number:] == ["a new text"]


def test_a_model_of_other_dimensions_under_the_same_name(cache, caplog):
    small = Fixed({"a": [1, 0], "b": [0, 1]})
    assert summary_similarities([("a", ["b"])], small, cache) == pytest.approx([0])
    large = Fixed({"a": [1, 0, 0], "b": [0.6, 0.8, 0], "c": [-1, 0, 0]})
    with caplog.at_level(logging.WARNING):
        values = summary_similarities([("a", ["b"]), ("a", ["c"])], large, cache)
    assert values == pytest.approx([0.6, -1])
    assert "embedding every text anew" in caplog.text
    del large.vectors["a"]  # kept from now on
    assert summary_similarities([("a", ["b"])], large, cache) == pytest.approx([0.6])


def test_local_and_served_model_agree(local, server, cache, monkeypatch):
    monkeypatch.setattr("lm_eval_longbench.retrieval.remote._BATCH", 3)
    remote = RemoteEmbedder(server.url, "small")
    expected = summary_similarities(PAIRS, local)
    assert summary_similarities(PAIRS, remote, cache) == pytest.approx(expected, abs=2e-6)
    number = len(server.bodies)
    assert number == 3
    summary_similarities(PAIRS, remote, cache)
    assert len(server.bodies) == number
