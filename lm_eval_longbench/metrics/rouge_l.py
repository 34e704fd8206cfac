"""Summary-level union ROUGE-L on distinct words, as the PyPI package `rouge` 1.0.1 computes it.

Every (reference piece, prediction piece) pair contributes the words of ONE longest common
subsequence. Which one depends on how ties are broken on the way back through the table, so the
walk below follows the package's choice exactly. The table itself is never built: one integer a
row holds its horizontal steps as bits (Hyyro's bit-parallel LCS), and those bits are all that the
walk asks for:
for unequal words, table[i-1][j] > table[i][j-1] holds exactly when table[i][j] > table[i][j-1].
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

# Rows kept at a time. Longer references are walked block by block, so that memory stays small.
_BLOCK = 1024


def pieces(text: str) -> list[list[str]]:
    """Split on ".", drop empty pieces, collapse whitespace, split on single spaces.

    A piece of whitespace only becomes the one word "".
    """
    return [" ".join(piece.split()).split(" ") for piece in text.split(".") if piece]


def _positions(words: Sequence[str]) -> dict[str, int]:
    """Map each word to the integer whose set bits are the word's positions."""
    masks: dict[str, int] = {}
    for index, word in enumerate(words):
        masks[word] = masks.get(word, 0) | (1 << index)
    return masks


def _rows(reference: Sequence[str], masks: dict[str, int], state: int, full: int) -> Iterator[int]:
    """Yield each row's bits j with table[i][j+1] == table[i][j]; `state` is the row before."""
    for word in reference:
        matches = masks.get(word, 0)
        if matches:
            hits = state & matches
            state = ((state + hits) | (state - hits)) & full
        yield state


def lcs_words(reference: Sequence[str], prediction: Sequence[str]) -> set[str]:
    """Return the distinct words of the longest common subsequence that the walk selects.

    The walk starts at the end of both lists: equal words match; otherwise it steps back in the
    reference if that table cell is strictly larger, else in the prediction.
    """
    masks = _positions(prediction)
    full = (1 << len(prediction)) - 1

    state = full
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


def rouge_l(prediction: str, answer: str) -> float:
    """Return the ROUGE-L F of two texts, in [0, 1); 0 if either has no piece.

    Source of the definition: LongBench v1 `rouge_score`. The package stops with RecursionError on
    very long pieces; the true value is computed here (docs/differences.md).
    """
    reference, hypothesis = pieces(answer), pieces(prediction)
    if not reference or not hypothesis:
        return 0.0
    reference_words = [set(piece) for piece in reference]
    hypothesis_words = [set(piece) for piece in hypothesis]

    union: set[str] = set()
    for ref, ref_words in zip(reference, reference_words, strict=True):
        for hyp, hyp_words in zip(hypothesis, hypothesis_words, strict=True):
            # A pair adds at most its common words: nothing new, no need to align.
            if not (ref_words & hyp_words) <= union:
                union |= lcs_words(ref, hyp)

    recall = len(union) / len(set().union(*reference_words))
    precision = len(union) / len(set().union(*hypothesis_words))
    return 2.0 * (precision * recall / (precision + recall + 1e-8))
