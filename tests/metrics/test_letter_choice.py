"""The letter an answer names, in the official words only."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_longbench.metrics.letter import extract_choice


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("The correct answer is (B).", "B"),
        ("The correct answer is C", "C"),
        ("**The correct answer is (D)**", "D"),
        ("The correct answer is **(A)** because", "A"),
        ("I think. The correct answer is (A). The correct answer is (B).", "A"),  # the first
        # With brackets wins, wherever it stands.
        ("The correct answer is A. No: The correct answer is (B).", "B"),
        ("The correct answer is Apple", "A"),  # officially so
        ("The correct answer is (E)", None),
        ("The correct answer is ( B)", None),
        ("The correct answer is (b)", None),
        ("the correct answer is (B)", None),
        ("The correct answer is: (B)", None),
        ("The correct answer\nis (B)", None),
        ("(B)", None),
        ("B", None),
        ("", None),
    ],
)
def test_cases(answer, letter):
    assert extract_choice(answer) == letter


def by_hand(answer):
    """The obvious way: look at every place in turn, first with brackets, then without."""
    plain = "".join(mark for mark in answer if mark != "*")
    phrase = "The correct answer is "
    for opened, closed in (("(", ")"), ("", "")):
        for start in range(len(plain)):
            for letter in "ABCD":
                if plain.startswith(phrase + opened + letter + closed, start):
                    return letter
    return None


PIECES = st.sampled_from(
    ["The correct answer is ", "(A)", "(", ")", "B", "C", "(D)", "E", "*", " ", "\n", "The", "x"]
)


@given(st.lists(PIECES, max_size=14).map("".join))
def test_against_the_obvious_way(answer):
    assert extract_choice(answer) == by_hand(answer)
