"""Summary-level union ROUGE-L on distinct words, as the PyPI package `rouge` 1.0.1 computes it."""

from __future__ import annotations

from lm_eval_longbench.metrics.lcs import lcs_words, positions


def pieces(text: str) -> list[tuple[str, ...]]:
    """Split on ".", drop empty pieces, collapse whitespace, split on single spaces.

    A piece of whitespace only becomes the one word "". Of equal pieces one is kept: the score asks
    which words there are, and equal pieces align alike.
    """
    found = (tuple(" ".join(piece.split()).split(" ")) for piece in text.split(".") if piece)
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
    reference_words = [set(piece) for piece in reference]
    hypothesis_words = [positions(piece) for piece in hypothesis]

    union: set[str] = set()
    for ref, ref_words in zip(reference, reference_words, strict=True):
        for hyp, hyp_words in zip(hypothesis, hypothesis_words, strict=True):
            # A pair adds at most its common words: nothing new, no need to align.
            if not (ref_words & hyp_words.keys()) <= union:
                union |= lcs_words(ref, hyp, hyp_words)

    recall = len(union) / len(set().union(*reference_words))
    precision = len(union) / len(set().union(*hypothesis_words))
    return 2.0 * (precision * recall / (precision + recall + 1e-8))
