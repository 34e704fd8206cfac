"""Our quicker way through jieba's dictionary and tables finds the words that jieba finds."""

import functools
import marshal
import random
import tempfile
import time

import jieba
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jieba import finalseg
from longbench_v1_facts import DATASETS
from v1_tasks import V1_TASKS, load

from lm_eval_longbench.metrics import words as module
from lm_eval_longbench.metrics.segmenter import Segmenter
from lm_eval_longbench.metrics.words import gold_words, words


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


def sign_classes(random):
    """Ways to draw a piece of text, one a class of signs."""
    tables = finalseg.emit_P
    probable = sorted(set().union(*tables.values()))
    in_few_states = [sign for sign in probable if sum(sign in own for own in tables.values()) < 3]
    chinese = list(map(chr, range(0x4E00, 0xA000)))
    in_none = sorted(set(chinese) - set(probable))
    blanks = [" ", "\n", "\r\n", "\r", "\t", "\u3000", "\x1c", "\x85", "\u2028", "\0", "\ufeff"]
    planes = (range(0x20, 0x3000), range(0x3000, 0xD800), range(0xD800, 0xE000))
    planes += (range(0xE000, 0x110000),)

    def some(signs, most):
        return "".join(random.choices(signs, k=random.randrange(1, most)))

    return [
        lambda: random.choice(dictionary()),
        lambda: random.choice(dictionary())[::-1],
        lambda: random.choice(chinese) * random.randrange(1, 30),
        lambda: some(probable, 12),
        lambda: some(in_few_states, 12),
        lambda: some(in_none, 8),
        lambda: some(chinese, 10),
        lambda: some("abcXYZ019.%-+#&_ ", 10),
        lambda: random.choice(blanks),
        lambda: some("。，！？“”…—·《》", 3),
        lambda: some("ぁあアカ가나다ЖщéñÀΩאب", 4),
        lambda: f"{random.randrange(10**6)}{random.choice(['%', '.5', '年', ''])}",
        lambda: "".join(chr(random.choice(random.choice(planes))) for _ in range(3)),
        lambda: chr(random.choice([0x9FD5, 0x9FD6, 0x4E00, 0x4DFF, 0x3400, 0x20000, 0xF900])),
    ]


def test_texts_of_all_classes_of_signs():
    random_ = random.Random(7)
    classes = sign_classes(random_)
    for _ in range(1500):
        pieces = random_.randrange(random_.choice([3, 8, 25]))
        text = "".join(random_.choice(classes)() for _ in range(pieces))
        if random_.random() < 0.3:
            text = "".join(random_.sample(text, len(text)))
        assert tuple(module._segmenter().words(text)) == tuple(plain().cut(text)), text


@pytest.mark.parametrize("sign", ["丂", "的", "a"])
def test_time_is_linear_in_a_run_of_one_sign(sign):
    begun = time.perf_counter()
    found = words(sign * 200_000)
    taken = time.perf_counter() - begun
    assert "".join(found) == sign * 200_000
    assert taken < 15  # half a second here; jieba takes minutes


def test_words_that_a_user_forbids_change_nothing():
    """`del_word` of any tokenizer reaches all of jieba's through a module-wide set."""
    text, unknown = "小明在杭研大厦", "杭研"
    before = words(text)
    assert unknown in before
    try:
        jieba.Tokenizer().del_word(unknown)
        assert unknown not in plain().cut(text)
        words.cache_clear()
        assert words(text) == before
    finally:
        finalseg.Force_Split_Words.discard(unknown)


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
    module._segmenter.cache_clear()
    words.cache_clear()
    try:
        assert words("北京大学") == ("北京大学",)
    finally:
        module._segmenter.cache_clear()
    assert marshal.loads((tmp_path / "jieba.cache").read_bytes()) == ({"北": 1}, 1)


def lines(*entries):
    return "".join(f"{entry}\n" for entry in entries)


@pytest.mark.parametrize(
    "text",
    [
        lines("研究 50 n", "研究生 60 n", "生命 70 n", "命 5 n", "起源 9 n"),
        # A word twice, far from the others of its sign; a sign that is no word; a word forbidden.
        lines("研究 50 n", "生命 70 n", "研究 2 n", "研究生 60 n", "起源 0 n", "起 3 n"),
        lines("研究生 60 n", "研究 50", "生命 70 n"),  # a line without a kind
        lines("研究生 60 n", "生命 70 n", "起源 9 n").rstrip("\n"),
        lines("研究生 60 n extra", "生命 70 n", "起源 9 n"),
    ],
)
def test_dictionaries_of_other_shapes(text, tmp_path, monkeypatch):
    path = tmp_path / "dict.txt"
    path.write_bytes(text.encode())
    theirs = jieba.Tokenizer(str(path))
    theirs.tmp_dir = str(tmp_path)
    opened = jieba.Tokenizer(str(path)).get_dict_file
    monkeypatch.setattr(jieba.Tokenizer, "get_dict_file", lambda self: opened())
    ours = Segmenter()
    for words_ in (
        "研究生命起源",
        "起源研究",
        "命研生究起",
        "研究生研究生命命",
        "源起研",
        "a研究1",
    ):
        assert tuple(ours.words(words_)) == tuple(theirs.cut(words_))


def test_whole_documents():
    texts = [
        text
        for split in V1_TASKS
        if DATASETS[split.label].language == "zh"
        for text in load(split, "sample").rows["context"]
    ]
    assert sum(map(len, texts)) > 5_000
    for text in texts:
        assert words(text) == tuple(plain().cut(text, cut_all=False))
