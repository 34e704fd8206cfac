import logging
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_longbench.retrieval.chunks import rank

ROUNDING = 1e-5  # scores are float32
WORDS = st.lists(st.sampled_from(["ann", "Ann", "bob", "cow", "dig", "the", "。", "."]), max_size=9)
TEXTS = WORDS.map(" ".join)


def places(found):
    return [chunk["c_idx"] for chunk in found]


def oracle(texts, query):
    """BM25 of Lucene, from its formula, word by word; the texts' words stand between spaces."""
    documents = [[w.lower() for w in text.split() if w[0].isalnum()] for text in texts]
    mean = sum(map(len, documents)) / len(documents)
    totals = []
    for document in documents:
        total = 0.0
        for word in {w.lower() for w in query.split() if w[0].isalnum()}:
            having = sum(word in other for other in documents)
            idf = math.log(1 + (len(documents) - having + 0.5) / (having + 0.5))
            count = document.count(word)
            if count:
                total += idf * count / (count + 1.5 * (1 - 0.75 + 0.75 * len(document) / mean))
        totals.append(total)
    return totals


@given(st.lists(TEXTS, min_size=1, max_size=8), TEXTS, st.integers(1, 9))
def test_the_order_is_that_of_the_formula(texts, query, top_n):
    found = rank(texts, query, top_n)
    scores = oracle(texts, query)
    taken = [scores[place] for place in places(found)]
    assert len(found) == len(set(places(found))) == min(top_n, len(texts))
    assert all(texts[chunk["c_idx"]] == chunk["content"] for chunk in found)
    left = [score for place, score in enumerate(scores) if place not in places(found)]
    floors = [*taken[1:], max(left, default=0.0)]
    assert all(one >= next_one - ROUNDING for one, next_one in zip(taken, floors, strict=True))


@given(st.lists(TEXTS, min_size=1, max_size=5), TEXTS)
def test_of_equal_chunks_the_earlier_comes_first(texts, query):
    doubled = texts + texts
    found = places(rank(doubled, query, len(doubled)))
    for place in range(len(texts)):
        assert found.index(place) < found.index(place + len(texts))


def test_chinese():
    texts = ["母牛吃青草。", "天黑了。", "灯塔由王小明建造。"]
    assert places(rank(texts, "谁建造灯塔？", 1)) == [2]


@pytest.mark.parametrize("query", ["", "?", "zebra"])
def test_nothing_in_common_gives_the_first_chunks(query):
    assert places(rank(["a", "", "b", "c"], query, 3)) == [0, 1, 2]


def test_neither_logs_nor_shows_progress(caplog, capfd):
    with caplog.at_level(logging.DEBUG):
        rank(["a b", "c"] * 2000, "a", 3)
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")
