"""Our quicker way through jieba's dictionary finds the words that jieba finds."""

import functools
import marshal
import random
import tempfile

import jieba
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lm_eval_longbench.catalog import V1_SPLITS
from lm_eval_longbench.data.longbench_v1 import load
from lm_eval_longbench.metrics import segment
from lm_eval_longbench.metrics.segment import gold_words, words


@functools.cache
def plain():
    tokenizer = jieba.Tokenizer()
    tokenizer.initialize()
    return tokenizer


@functools.cache
def dictionary():
    """Words of the dictionary and beginnings of words, which have no frequency of their own."""
    return random.Random(5).sample(sorted(plain().FREQ), 4000)


@pytest.fixture(scope="module", autouse=True)
def _loaded():
    """Load both dictionaries before a test is timed."""
    dictionary()
    words("一")


PIECES = st.one_of(
    st.deferred(lambda: st.sampled_from(dictionary())),
    st.sampled_from(
        ["的", "一", "不", "研究", "研究生", "生命", "起源", "乒乓球", "拍卖", "。", " "]
    ),
    st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), max_size=4),
    st.text(max_size=3),
)


@settings(max_examples=400)
@given(st.lists(PIECES, max_size=12).map("".join))
def test_random_texts(text):
    expected = tuple(plain().cut(text, cut_all=False))
    assert words(text) == expected
    assert gold_words(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", " ", "a", "研究生命起源", "結婚的和尚未結婚的", "𠀀𠀁", "A股3.5%\n。", "丂丂丂", "ab丂的"],
)
def test_edges(text):
    assert words(text) == tuple(plain().cut(text, cut_all=False))


def test_a_cache_that_somebody_else_wrote_is_not_read(tmp_path, monkeypatch):
    """jieba takes any newer file of this name in the folder for temporary files."""
    (tmp_path / "jieba.cache").write_bytes(marshal.dumps(({"北": 1}, 1)))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    segment._tokenizer.cache_clear()
    words.cache_clear()
    try:
        assert words("北京大学") == ("北京大学",)
    finally:
        segment._tokenizer.cache_clear()
    assert marshal.loads((tmp_path / "jieba.cache").read_bytes()) == ({"北": 1}, 1)


def test_whole_documents():
    texts = [
        text
        for split in V1_SPLITS
        if split.info.language == "zh"
        for text in load(split, "sample").rows["context"]
    ]
    assert sum(map(len, texts)) > 5_000
    for text in texts:
        assert words(text) == tuple(plain().cut(text, cut_all=False))
