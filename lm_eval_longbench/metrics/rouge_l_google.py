"""ROUGE-L as Google's `rouge-score` computes it: an extra figure, never the official one."""

from __future__ import annotations

from lm_eval_longbench.metrics.lcs import lcs_length


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
