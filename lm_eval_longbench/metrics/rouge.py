"""ROUGE-L: LongBench v1's `rouge_score` and `rouge_zh_score`, and Google's as an extra figure.

The official scores are the summary-level union ROUGE-L on distinct words, as the PyPI package
`rouge` 1.0.1 computes it. Longest common subsequences take one integer for a row of the table. Bit
j of a row is 0 exactly where table[i][j+1] > table[i][j] (Hyyro's bit-parallel LCS). Those bits are
all that the length and the official walk back through the table ask for: for unequal words,
table[i-1][j] > table[i][j-1] holds exactly when table[i][j] > table[i][j-1].
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lm_eval_longbench.metrics.words import gold_words, words

# ---------------------------------------------------------------------- the subsequences

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


# ---------------------------------------------------------------------- the scores


def pieces(text: str) -> list[tuple[str, ...]]:
    """Split on ".", drop empty pieces, split on whitespace.

    A piece of whitespace only becomes the one word "". Of equal pieces one is kept: the score asks
    which words there are, and equal pieces align alike.
    """
    found = (tuple(piece.split()) or ("",) for piece in text.split(".") if piece)
    return list(dict.fromkeys(found))


def rouge_l(prediction: str, answer: str) -> float:
    """Return the ROUGE-L F of two texts, in [0, 1); 0 if either has no piece.

    Every (reference piece, prediction piece) pair contributes the words of one longest common
    subsequence; precision and recall are shares of the distinct words on either side.

    Source of the definition: LongBench v1 `rouge_score`. The package stops with RecursionError on
    very long pieces; the true value is computed here (docs/differences.md).
    """
    reference, hypothesis = pieces(answer), pieces(prediction)
    if not reference or not hypothesis:
        return 0.0
    reference_words = list(map(set, reference))
    hypothesis_words = list(map(set, hypothesis))
    of_reference, of_hypothesis = set().union(*reference_words), set().union(*hypothesis_words)

    masks: list[dict[str, int] | None] = [None] * len(hypothesis)
    union: set[str] = set()
    for ref, ref_words in zip(reference, reference_words, strict=True):
        # A pair adds at most its common words: nothing new, no need to align.
        missing = (ref_words & of_hypothesis) - union
        for place, hyp_words in enumerate(hypothesis_words):
            if missing.isdisjoint(hyp_words):
                continue
            common = ref_words & hyp_words
            if len(common) > 1:
                hyp_masks = masks[place]
                if hyp_masks is None:
                    hyp_masks = masks[place] = positions(hypothesis[place])
                common = lcs_words(ref, hypothesis[place], hyp_masks)
            # else the one common word is the longest common subsequence
            union |= common
            missing -= common
            if not missing:
                break

    recall = len(union) / len(of_reference)
    precision = len(union) / len(of_hypothesis)
    return 2.0 * (precision * recall / (precision + recall + 1e-8))


def rouge_l_zh(prediction: str, answer: str) -> float:
    """Return `rouge_l` of the jieba tokens of both texts, joined by single spaces, in [0, 1)."""
    return rouge_l(" ".join(words(prediction)), " ".join(gold_words(answer)))


def rouge_l_google(prediction: str, answer: str) -> float:
    """Return rouge-score's sentence-level rougeL F-measure without stemming, in [0, 1].

    Words and F-measure are the library's own. Only the length of the common subsequence is ours:
    the library's table takes gigabytes when a model answers without end.
    """
    # Not the library's tokenizers nor its scorer: they import nltk and scipy for a stemmer.
    from rouge_score import scoring, tokenize

    target, words = tokenize.tokenize(answer, None), tokenize.tokenize(prediction, None)
    if not target or not words:
        return 0.0
    length = lcs_length(target, words)
    return float(scoring.fmeasure(length / len(words), length / len(target)))
