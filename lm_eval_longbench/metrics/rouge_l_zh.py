"""ROUGE-L for Chinese: both texts are segmented first (LongBench v1 `rouge_zh_score`)."""

from __future__ import annotations

from lm_eval_longbench.metrics.rouge_l import rouge_l
from lm_eval_longbench.metrics.segment import gold_words, words


def rouge_l_zh(prediction: str, answer: str) -> float:
    """Return `rouge_l` of the jieba tokens of both texts, joined by single spaces, in [0, 1)."""
    return rouge_l(" ".join(words(prediction)), " ".join(gold_words(answer)))
