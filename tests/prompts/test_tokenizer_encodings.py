"""Encodings of tiktoken cut as official v2 does: cases computed by hand from a small encoding."""

import sys

import pytest
import tiktoken.registry

from lm_eval_longbench.errors import TokenizerError, UnknownNameError
from lm_eval_longbench.prompts.prepare import prepare
from lm_eval_longbench.prompts.tokenizer import load_encoding, load_tokenizer
from lm_eval_longbench.prompts.tokens.fast import tokenizer_sha256
from lm_eval_longbench.prompts.truncation import RULE_V1, RULE_V2, count_tokens, truncate

# 256 bytes, and the merges ab, cd, abcd, " a": "abcd" is one token, "abc" two (ab, c).
PLUGIN = """
def tiny():
    ranks = {bytes([value]): value for value in range(256)}
    ranks |= {b"ab": 256, b"cd": 257, b"abcd": 258, b" a": 259}
    return {
        "name": "tiny_for_tests",
        "pat_str": r" ?[a-z]+|[^a-z]",
        "mergeable_ranks": ranks,
        "special_tokens": {"<|end|>": 260},
    }

ENCODING_CONSTRUCTORS = {"tiny_for_tests": tiny}
"""


@pytest.fixture(autouse=True)
def tiny(tmp_path, monkeypatch):
    """An encoding that a package adds, as packages do: a module in tiktoken_ext."""
    folder = tmp_path / "tiktoken_ext"
    folder.mkdir()
    (folder / "tiny_for_tests.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [one for one in sys.modules if one.partition(".")[0] == "tiktoken_ext"]:
        monkeypatch.delitem(sys.modules, name)
    import tiktoken_ext

    monkeypatch.setattr(tiktoken.registry, "tiktoken_ext", tiktoken_ext)
    monkeypatch.setattr(tiktoken.registry, "ENCODING_CONSTRUCTORS", None)
    monkeypatch.setattr(tiktoken.registry, "ENCODINGS", {})
    tiktoken.registry._available_plugin_modules.cache_clear()
    load_encoding.cache_clear()
    yield
    tiktoken.registry._available_plugin_modules.cache_clear()
    load_encoding.cache_clear()


# Text, its tokens by hand, limit, and what is left of it by hand.
CASES = [
    # abcd abcd abcd abcd in one run: one word of four tokens; both ends of one.
    ("abcdabcdabcdabcd", 4, 2, "abcdabcd"),
    # ab c | space ab c | space ab c. An odd limit: one token of the head (ab), two of the tail.
    ("abc abc abc", 8, 3, "ababc"),
    # Just as long as allowed: whole.
    ("abcd.abcd", 3, 3, "abcd.abcd"),
    # One less, and the tail is longer: abcd, then "." and abcd -> 1 + 1 of an even limit.
    ("abcd.abcd", 3, 2, "abcdabcd"),
    # 艾 is the bytes e8 89 be, three tokens. x e8 and be y are left: e8 be is one sequence that
    # breaks off, and one replacement character.
    ("x艾y", 5, 4, "x\ufffdy"),
    # A special token in a prompt is text: <|end|> is < | e n d | >, seven tokens.
    ("a<|end|>b", 9, 6, "a<||>b"),
    # The head keeps the first half of a merged word whole, tokens are never split.
    ("ab cd ab cd", 7, 4, "ab  cd"),
]


@pytest.mark.parametrize(("text", "tokens", "limit", "left"), CASES)
def test_cuts_computed_by_hand(text, tokens, limit, left):
    tokenizer = load_tokenizer("tiktoken:tiny_for_tests", {})
    assert count_tokens(tokenizer, text) == tokens
    (cut,) = truncate([text], tokenizer, limit, RULE_V2)
    assert (cut.text, cut.truncated) == (left, tokens > limit)
    # The official formula, in its own words.
    encoding = tiktoken.get_encoding("tiny_for_tests")
    ids = encoding.encode(text, disallowed_special=())
    if len(ids) > limit:
        ids = ids[: limit // 2] + ids[-limit // 2 :]
    assert cut.text == encoding.decode(ids)


def test_other_rules_cut_with_it_too():
    tokenizer = load_tokenizer("tiktoken:tiny_for_tests", {})
    (cut,) = truncate(["x艾y"], tokenizer, 4, RULE_V1)
    assert cut.text == "x\ufffd" + "\ufffdy"


def test_prompts_are_remembered_by_what_the_encoding_is(tmp_path, monkeypatch):
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path))
    tokenizer = load_tokenizer("tiktoken:tiny_for_tests", {})
    digest = tokenizer_sha256(tokenizer)
    assert len(digest) == 64
    for _ in range(2):
        (prompt,) = prepare(["abcdabcdabcdabcd"], 2, lambda: tokenizer, RULE_V2, "source")
        assert (prompt.text, prompt.truncated) == ("abcdabcd", True)
    other = type(tokenizer)(
        "x",
        tiktoken.Encoding(
            "x", pat_str=".", mergeable_ranks={bytes([v]): v for v in range(256)}, special_tokens={}
        ),
    )
    assert tokenizer_sha256(other) != digest


def test_a_model_s_name_means_its_encoding(monkeypatch):
    asked = []
    monkeypatch.setattr(tiktoken, "get_encoding", lambda name: asked.append(name))
    load_tokenizer("tiktoken:gpt-4o-2024-08-06", {})
    load_tokenizer("tiktoken:cl100k_base", {})
    assert asked == ["o200k_base", "cl100k_base"]


def test_names_that_do_not_exist():
    with pytest.raises(UnknownNameError, match=r"of tiktoken 'gpt4o'\. Did you mean 'gpt-4o'"):
        load_tokenizer("tiktoken:gpt4o", {})


def test_a_file_that_cannot_be_had(monkeypatch):
    def refuse(name):
        raise ConnectionError("no network")

    monkeypatch.setattr(tiktoken, "get_encoding", refuse)
    with pytest.raises(TokenizerError, match=r"'o200k_base'.*no network.*TIKTOKEN_CACHE_DIR"):
        load_tokenizer("tiktoken:gpt-4o", {})


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    with pytest.raises(TokenizerError, match=r'pip install "lm-eval-longbench\[tiktoken\]"'):
        load_tokenizer("tiktoken:gpt-4o", {})
