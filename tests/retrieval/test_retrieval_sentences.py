"""Chunks that end with sentences, and ranking by embeddings."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.retrieval import chunks as chunks_module
from lm_eval_longbench.retrieval.chunks import (
    first_words,
    rank_by_embedding,
    sentence_chunks,
    words_in,
)

TEXTS = st.text(alphabet="ab 1._?!。？\n; 这是é", max_size=80)


@given(TEXTS, st.integers(1, 12))
@example("1\n 1", 1)  # blanks after the line belong to it
def test_chunks_are_the_text_and_as_long_as_they_may_be(text, size):
    found = sentence_chunks(text, size)
    assert "".join(found) == text
    for own, following in pairwise(found):
        end = own.rstrip()
        assert end[-1:] in set(".?!。？;") or "\n" in own[len(end) :]
        first = sentence_chunks(following, 1)[0]
        assert words_in(own) + words_in(first) > size
    for own in found:
        assert words_in(own) <= size or words_in(own) == max(map(words_in, sentence_chunks(own, 1)))


def test_words_are_chinese_characters_and_runs_of_others():
    assert words_in("It's 12.5 kg, 三十公斤") == 5 + 4
    assert first_words("One, two. Three", 2) == "One, two"
    assert first_words("...", 2) == ""


class ByLetters:
    """Embeds a text as its numbers of the letters a and b."""

    name, identity = "letters", "letters, for a test"

    def check(self):
        pass

    def embed(self, texts):
        raw = np.array([[text.count("a"), text.count("b")] for text in texts], np.float32)
        return raw / np.maximum(np.linalg.norm(raw, axis=1, keepdims=True), 1e-9)


def test_the_nearest_come_first_and_of_equal_ones_the_earlier(monkeypatch, tmp_path):
    monkeypatch.setenv("LM_EVAL_LONGBENCH_CACHE", str(tmp_path))
    monkeypatch.setattr(chunks_module, "choose_embedder", lambda model, url: ByLetters())
    chunks = ["b", "ab", "a", "aa"]
    found = rank_by_embedding(chunks, "aaa", 3, model="letters", url=None)
    assert [(one["c_idx"], one["content"]) for one in found] == [(2, "a"), (3, "aa"), (1, "ab")]
    assert rank_by_embedding([], "a", 3, model="letters", url=None) == []


def test_an_embedding_model_is_needed():
    with pytest.raises(OptionError, match="embedding_model"):
        rank_by_embedding(["a"], "a", 1, model=None, url=None)
