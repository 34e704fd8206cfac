"""Which tokenizers are of the list, and what must not be believed."""

import itertools
import json

import pytest
from oracles.tokenizer_zoo import KINDS, build
from tokenizers import Regex, pre_tokenizers

from lm_eval_longbench.prompts.tokens.rules import (
    BEFORE,
    HAN,
    PATTERNS,
    WORD,
    TokenizerRules,
    read_rules,
)

pytestmark = pytest.mark.slow


def described(name):
    return json.loads(build(name).backend_tokenizer.to_str())


@pytest.mark.parametrize("name", KINDS)
def test_says_neither_less_nor_more(name):
    _, places, bound = KINDS[name]
    rules = read_rules(described(name))
    assert rules.places == "|".join({"WORD": WORD, "HAN": HAN}[place] for place in places.split())
    assert (rules.bounded, rules.composes) == (bound != "NEVER", bound == "NFC")
    assert bound != "NEVER" or rules == TokenizerRules()


@pytest.mark.parametrize("name", [*PATTERNS, *BEFORE])
def test_no_listed_regex_ever_matches_over_a_cut(name):
    splitter = pre_tokenizers.Split(Regex(PATTERNS.get(name, name)), "isolated")

    def pieces(text):
        return [piece for piece, _ in splitter.pre_tokenize_str(text)]

    around = ["", *"aS 1'，。的.\n\r\u0301É"]
    sides = ["".join(pair) for pair in itertools.product(around, repeat=2)]
    for cut in ("s|t", "B| c", "的|，合", "合|。的"):
        head, tail = cut.replace("s|t", "s| t").split("|")
        befores = {left: pieces(left + head) for left in sides}
        afters = {right: pieces(tail + right) for right in sides}
        for left, right in itertools.product(sides, repeat=2):
            apart = befores[left] + afters[right]
            whole = pieces(left + head + tail + right)
            if name in PATTERNS:
                assert whole == apart
            else:  # at most the cut itself is one more boundary
                assert "".join(whole) == "".join(apart)
                ends = [set(itertools.accumulate(map(len, some))) for some in (whole, apart)]
                assert ends[1] - ends[0] <= {len(left + head)}
                assert ends[0] <= ends[1]


def change(**parts):
    """The description of a tokenizer like GPT-2's, changed."""
    return {**described("gpt2"), **parts}


def split(regex, behavior="Isolated", invert=False):
    last = {"add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    step = {"pattern": {"Regex": regex}, "behavior": behavior, "invert": invert}
    steps = [{"type": "Split", **step}, {"type": "ByteLevel", **last}]
    return {"type": "Sequence", "pretokenizers": steps}


QWEN = PATTERNS["Qwen"]
MODEL = {"unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None}
MODEL |= {"type": "BPE", "dropout": None, "fuse_unk": False, "byte_fallback": False}
MODEL |= {"ignore_merges": False, "vocab": {"a": 0}, "merges": []}


@pytest.mark.parametrize(
    "parts",
    [
        {"normalizer": {"type": "Replace", "pattern": {"Regex": "x"}, "content": ""}},
        {"normalizer": {"type": "NFC", "form": "new"}},
        {"normalizer": {"type": "Prepend", "prepend": "▁"}},
        {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "mode": 2}},
        {"pre_tokenizer": split(QWEN + "x")},
        {"pre_tokenizer": split(QWEN, "MergedWithNext")},
        {"pre_tokenizer": split(QWEN, "Isolated", True)},
        {"pre_tokenizer": split(r"\p{N}")},
        {"pre_tokenizer": {"type": "Sequence", "pretokenizers": []}},
        {"added_tokens": [{"content": 3}]},
        {"model": MODEL | {"dropout": 0.1}},
        {"model": MODEL | {"byte_fallback": True}},
        {"model": MODEL | {"end_of_word_suffix": "</w>"}},
        {"model": MODEL | {"mode": "new"}},
        {"model": {"type": "New", "vocab": {}}},
        {"model": None},
    ],
)
def test_nothing_is_known_about_what_is_not_listed(parts):
    assert read_rules(change(model=MODEL)).bounded
    assert read_rules(change(pre_tokenizer=split(QWEN))).bounded
    assert read_rules(change(**parts)) == TokenizerRules()


FLAGS = {"single_word": False, "lstrip": False, "rstrip": False, "special": False}


def test_an_added_token_found_in_normalized_text_must_be_bracketed():
    for content, places in (("ledger", ""), ("<ledger>", f"{WORD}|{HAN}"), ("<a b>", "")):
        tokens = [{"id": 1, "content": content, "normalized": True, **FLAGS}]
        rules = read_rules(change(added_tokens=tokens, normalizer={"type": "NFC"}))
        assert rules.places == places


def test_a_token_shorter_than_the_mark_behind_it_ends_the_bound():
    for content, bounded in (("#", False), ("##", True)):
        tokens = [{"id": 1, "content": content, "normalized": False, **FLAGS}]
        assert read_rules(described("llama2") | {"added_tokens": tokens}).bounded is bounded
