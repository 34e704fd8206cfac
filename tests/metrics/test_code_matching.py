"""The blocks are difflib's, whatever the texts: those of the library are the oracle."""

from difflib import SequenceMatcher
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lm_eval_longbench.metrics.code import matched


def official(first, second):
    blocks = SequenceMatcher(None, first, second).get_matching_blocks()
    return sum(block.size for block in blocks)


@settings(max_examples=500)
@given(st.text("ab\0\x01 汉", max_size=40), st.text("ab\0\x01 汉", max_size=40))
@example("", "")
@example("a", "")
@example("", "a")
def test_short_texts(first, second):
    assert matched(first, second) == official(first, second)


@pytest.mark.parametrize("seed", range(120))
def test_texts_with_popular_characters(seed):
    """From 200 characters on difflib leaves some aside, and lets blocks grow over them."""
    dice = Random(seed)
    alphabet = "ab" * dice.choice([1, 1, 5]) + "cdefgh() =_."[: dice.randint(0, 12)] + "0123456789"
    for length in (190, 199, 200, 201, 320):
        second = "".join(dice.choices(alphabet, k=length))
        at = dice.randrange(length)
        first = second[:at] + "".join(dice.choices(alphabet, k=dice.randint(0, 60))) + second[at:]
        kept = "".join(sign for sign in first if dice.random() < 0.9)
        for one in (first, kept, kept[::-1], "".join(dice.choices(alphabet, k=length))):
            assert matched(one, second) == official(one, second)
            assert matched(second, one) == official(second, one)


def test_all_first_signs_are_taken():
    """The two that stand for what is in no block are looked for among the others."""
    first = "".join(map(chr, range(300)))
    assert matched(first, first[::-1]) == official(first, first[::-1])
    assert matched(first, first) == 300
