"""What the description of a tokenizer proves, and what must not be believed."""

import itertools
import json
import re
import unicodedata

import pytest
from oracles.tokenizer_zoo import (
    CL100K,
    DEEPSEEK,
    GPT2,
    HAN,
    KINDS,
    LLAMA3,
    O200K,
    QWEN,
    QWEN35,
    build,
)
from tokenizers import Regex, pre_tokenizers

from lm_eval_longbench.prompts.tokens.patterns import Split, alternatives, pattern_split
from lm_eval_longbench.prompts.tokens.rules import (
    NFC_QUIET,
    Bound,
    Place,
    TokenizerRules,
    read_rules,
)

pytestmark = pytest.mark.slow


def described(name):
    return json.loads(build(name).backend_tokenizer.to_str())


@pytest.mark.parametrize("name", KINDS)
def test_proves_neither_less_nor_more(name):
    _, places, bound = KINDS[name]
    rules = read_rules(described(name))
    assert {place.name for place in rules.places} == set(places.split())
    assert rules.bound is Bound[bound]


@pytest.mark.parametrize("regex", [GPT2, QWEN, LLAMA3, O200K, QWEN35, CL100K, DEEPSEEK, HAN])
def test_no_known_regex_ever_matches_over_a_cut(regex):
    known = pattern_split(regex)
    assert known is (Split.NEVER if regex == HAN else Split.ALWAYS)
    splitter = pre_tokenizers.Split(Regex(regex), "isolated")

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
            if known is Split.ALWAYS:
                assert whole == apart
            else:  # at most the cut itself is one more boundary
                assert "".join(whole) == "".join(apart)
                ends = [set(itertools.accumulate(map(len, some))) for some in (whole, apart)]
                assert ends[1] - ends[0] <= {len(left + head)}
                assert ends[0] <= ends[1]


def test_alternatives_are_split_outside_brackets_only():
    assert alternatives(r"a|(b|c)|[|d\]|]|\||e") == ["a", "(b|c)", r"[|d\]|]", r"\|", "e"]
    assert pattern_split(r"\p{L}+|\w+ \w+") is Split.UNKNOWN
    assert pattern_split(O200K.split("|", 1)[0]) is Split.UNKNOWN


def test_quiet_characters_are_in_form_nfc_and_combine_with_nothing():
    quiet = re.compile(f"[{NFC_QUIET}]")
    characters = [chr(n) for n in range(0x110000) if not 0xD800 <= n < 0xE000]
    second = set()
    for char in characters:
        parts = unicodedata.normalize("NFD", char)
        if len(parts) > 1 and unicodedata.normalize("NFC", char) == char:
            second |= set(parts[1:])
    for char in filter(quiet.match, characters):
        assert unicodedata.normalize("NFC", char) == char
        assert not unicodedata.combining(char)
        assert char not in second


def change(**parts):
    """The description of a tokenizer like GPT-2's, changed."""
    return {**described("gpt2"), **parts}


@pytest.mark.parametrize(
    "parts",
    [
        {"normalizer": {"type": "Replace", "pattern": {"Regex": "x"}, "content": ""}},
        {"normalizer": {"type": "NFC", "form": "new"}},
        {"normalizer": {"type": "Prepend", "prepend": "▁"}},
        {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "mode": 2}},
        {"post_processor": {"type": "New"}},
        {"added_tokens": [{"content": "x", "fuzzy": True}]},
        {"model": {"type": "BPE", "vocab": {}, "merges": [], "dropout": 0.1}},
        {"model": {"type": "New", "vocab": {}}},
        {"model": None},
    ],
)
def test_nothing_is_proven_about_what_is_not_known(parts):
    assert read_rules(change()).bound is Bound.ALWAYS
    assert read_rules(change(**parts)) == TokenizerRules()


def test_an_added_token_found_in_normalized_text_must_be_bracketed():
    token = {"id": 1, "content": "ledger", "special": False, "normalized": True}
    flags = {"single_word": False, "lstrip": False, "rstrip": False}
    nfc = {"type": "NFC"}
    for content, places in (("ledger", set()), ("<ledger>", set(Place)), ("<a b>", set())):
        tokens = [{**token, **flags, "content": content}]
        rules = read_rules(change(added_tokens=tokens, normalizer=nfc))
        assert rules.places == places


def test_a_token_shorter_than_the_prefix_behind_it_ends_the_bound():
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    prefixed = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True}
    for content, bound in (("#", Bound.NEVER), ("##", Bound.ALWAYS)):
        tokens = [{"id": 1, "content": content, "special": False, **flags}]
        assert read_rules(change(added_tokens=tokens, pre_tokenizer=prefixed)).bound is bound


def test_special_tokens_are_read():
    for name in KINDS:
        tokenizer = build(name)
        rules = read_rules(described(name))
        ids = tokenizer("the ledger")["input_ids"]
        bare = tokenizer("the ledger", add_special_tokens=False)["input_ids"]
        assert ids == [*rules.prefix, *bare, *rules.suffix]
