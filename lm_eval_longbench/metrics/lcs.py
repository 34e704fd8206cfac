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
    matching = [row for row, word in enumerate(reference) if word in masks]
    words = [reference[row] for row in matching]

    starts = []
    states: list[int] = []
    for begin in range(0, len(words), _BLOCK):
        starts.append(state)
        states = list(_rows(words[begin : begin + _BLOCK], masks, state, full))
        state = states[-1]

    found: set[str] = set()
    begin = (len(starts) - 1) * _BLOCK
    above = len(reference)  # the row that the walk comes from
    left = full  # the columns that the walk has not passed
    for place in range(len(words) - 1, -1, -1):
        if place < begin:
            begin -= _BLOCK
            states = list(
                _rows(words[begin : begin + _BLOCK], masks, starts[begin // _BLOCK], full)
            )
        # Within a row the walk goes to the next column that matches or is larger than the one
        # before it. Rows in between, which match nowhere, are like the one that they follow.
        larger = left & ~states[place - begin]
        if above > matching[place] + 1:
            left = (1 << larger.bit_length()) - 1
        above = matching[place]
        matches = left & masks[words[place]]
        column = (larger | matches).bit_length() - 1
        if column < 0:
            break
        if (matches >> column) & 1:
            found.add(words[place])
            left = (1 << column) - 1
        else:
            left = (2 << column) - 1
    return found
