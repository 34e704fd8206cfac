"""Longest common subsequences of word lists, with one integer for a row of the table.

Bit j of a row is 0 exactly where table[i][j+1] > table[i][j] (Hyyro's bit-parallel LCS). Those bits
are all that the length and the official walk back through the table ask for: for unequal words,
table[i-1][j] > table[i][j-1] holds exactly when table[i][j] > table[i][j-1].
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

# Rows kept at a time. Longer references are walked block by block, so that memory stays small.
_BLOCK = 1024


def positions(words: Sequence[str]) -> dict[str, int]:
    """Map each word to the integer whose set bits are the word's positions."""
    masks: dict[str, int] = {}
    for index, word in enumerate(words):
        masks[word] = masks.get(word, 0) | (1 << index)
    return masks


def _rows(reference: Sequence[str], masks: dict[str, int], state: int, full: int) -> Iterator[int]:
    """Yield the row after each word of `reference`; `state` is the row before."""
    for word in reference:
        matches = masks.get(word, 0)
        if matches:
            hits = state & matches
            state = ((state + hits) | (state - hits)) & full
        yield state


def lcs_length(reference: Sequence[str], prediction: Sequence[str]) -> int:
    """Return the length of the longest common subsequence of two word lists."""
    full = state = (1 << len(prediction)) - 1
    for row in _rows(reference, positions(prediction), state, full):
        state = row
    return len(prediction) - state.bit_count()


def lcs_words(
    reference: Sequence[str], prediction: Sequence[str], masks: dict[str, int] | None = None
) -> set[str]:
    """Return the distinct words of the longest common subsequence that the official walk selects.

    The walk starts at the end of both lists: equal words match; otherwise it steps back in the
    reference if that table cell is strictly larger, else in the prediction.

    Args:
        masks: `positions(prediction)`, if it is at hand.
    """
    masks = positions(prediction) if masks is None else masks
    full = state = (1 << len(prediction)) - 1

    starts = []
    rows: list[int] = []
    for begin in range(0, len(reference), _BLOCK):
        starts.append(state)
        rows = list(_rows(reference[begin : begin + _BLOCK], masks, state, full))
        state = rows[-1]

    found: set[str] = set()
    block = len(starts) - 1
    row, column = len(reference) - 1, len(prediction) - 1
    while row >= 0 and column >= 0:
        if row < block * _BLOCK:
            block = row // _BLOCK
            begin = block * _BLOCK
            rows = list(_rows(reference[begin : begin + _BLOCK], masks, starts[block], full))
        if reference[row] == prediction[column]:
            found.add(reference[row])
            row -= 1
            column -= 1
        elif (rows[row - block * _BLOCK] >> column) & 1:
            column -= 1
        else:
            row -= 1
    return found
