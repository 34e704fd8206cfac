import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_longbench.retrieval.chunks import UNSPACED, chunks

TEXT = st.text(st.characters(), max_size=120) | st.text(
    "ab1_é-. \n\t中灯ア한。\u3000", max_size=120
)


def is_unspaced(character):
    """By code points, without a regular expression."""
    return any(
        low <= ord(character) <= high
        for low, high in [
            (0x3040, 0x30FF),
            (0x3400, 0x4DBF),
            (0x4E00, 0x9FFF),
            (0xF900, 0xFAFF),
            (0x20000, 0x3FFFF),
        ]
    )


def token_starts(text):
    """Where tokens begin, character by character."""
    starts = []
    in_run = False
    for place, character in enumerate(text):
        joins = character.isalnum() and not is_unspaced(character)
        if not character.isspace() and not (joins and in_run):
            starts.append(place)
        in_run = joins
    return starts


@given(TEXT, st.integers(1, 9))
def test_pieces_of_so_many_tokens_that_are_the_text_again(text, size):
    found = chunks(text, size)
    assert "".join(found) == text
    assert all(found)
    counts = [len(token_starts(piece)) for piece in found]
    total = len(token_starts(text))
    assert counts[:-1] == [size] * (len(counts) - 1)
    assert sum(counts) == total
    assert len(counts) == max(-(-total // size), bool(text))


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", []),
        (" \n", [" \n"]),
        ("one two three", ["one two ", "three"]),
        (" one\n\ntwo\tthree ", [" one\n\ntwo\t", "three "]),
        ("don't stop", ["don'", "t stop"]),
        ("x_y = 3.14", ["x_", "y = ", "3.", "14"]),
        ("灯塔 亮了。", ["灯塔 ", "亮了", "。"]),
        ("用BERT模型v2", ["用BERT", "模型", "v2"]),
        ("한국어 문장 둘", ["한국어 문장 ", "둘"]),
        ("naïve\u00a0Ünï", ["naïve\u00a0Ünï"]),
    ],
)
def test_pieces_of_two_tokens(text, pieces):
    assert chunks(text, 2) == pieces


def test_the_oracle_knows_the_scripts():
    assert all(map(is_unspaced, "ぁヿ㐀䶿一鿿豈\U00020000"))
    assert not any(map(is_unspaced, "a。한Ａ１"))
    assert UNSPACED.count("-") == 5
