"""Prompts of many documents: whole or cut, and hashed."""

import hashlib

import pytest

from lm_eval_longbench.prompts.prepare import Prompt, prepare, text_sha256
from lm_eval_longbench.prompts.truncation import ends_decoded_together, halves_decoded_apart


def never():
    raise AssertionError("the tokenizer was loaded")


def test_without_a_limit_no_tokenizer_is_loaded():
    texts = ["one", "", "今天 \ud83d"]
    assert prepare(iter(texts), None, never, halves_decoded_apart) == [
        Prompt("one", None, False),
        Prompt("", None, False),
        Prompt("今天 \ud83d", None, False),
    ]
    with pytest.raises(AssertionError, match="loaded"):
        prepare(texts, 5, never, halves_decoded_apart)


def test_with_a_limit_it_is_loaded_once_and_the_rule_is_used(plain):
    loads = []

    def load():
        loads.append(1)
        return plain

    texts = ["abcdefghij", "x", "0123456789"] * 30
    apart = prepare((text for text in texts), 5, load, halves_decoded_apart)
    assert loads == [1]
    assert [prompt.truncated for prompt in apart] == [True, False, True] * 30
    assert apart[1] == Prompt("x", None, False)
    together = prepare(texts, 5, load, ends_decoded_together)
    assert [apart[2].text, together[2].text] == ["0189", "01789"]
    assert apart[2].tokens == together[2].tokens == 10


@pytest.mark.parametrize(
    ("text", "raw"),
    [
        ("", b""),
        ("abc", b"abc"),
        ("今🙂", "今🙂".encode()),
        ("\ud83d", b"\xed\xa0\xbd"),
        ("a\udc00\n", b"a\xed\xb0\x80\n"),
        ("\ud83d\ude42", b"\xed\xa0\xbd\xed\xb9\x82"),  # two halves are not the emoji
    ],
)
def test_the_hash_of_a_text(text, raw):
    assert text_sha256(text) == hashlib.sha256(raw).hexdigest()
