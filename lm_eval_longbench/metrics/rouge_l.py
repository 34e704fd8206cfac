"""Summary-level union ROUGE-L on distinct words, as the PyPI package `rouge` 1.0.1 computes it."""

from __future__ import annotations

from lm_eval_longbench.metrics.lcs import lcs_words, positions


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
