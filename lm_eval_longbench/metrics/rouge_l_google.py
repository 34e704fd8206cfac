"""ROUGE-L as Google's `rouge-score` computes it: an extra figure, never the official one."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rouge_score.rouge_scorer import RougeScorer


@functools.cache
def _scorer() -> RougeScorer:
    from rouge_score.rouge_scorer import RougeScorer  # brings nltk along: slow to import

    return RougeScorer(["rougeL"], use_stemmer=False)


def rouge_l_google(prediction: str, answer: str) -> float:
    """Return rouge-score's sentence-level rougeL F-measure without stemming, in [0, 1]."""
    return float(_scorer().score(answer, prediction)["rougeL"].fmeasure)
