"""Token F1 for English question answering (LongBench v1 `qa_f1_score`)."""

from __future__ import annotations

import re
import string

from lm_eval_longbench.metrics.overlap import multiset_f1

_DROP_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


def normalize(text: str) -> str:
    """Lower-case, drop ASCII punctuation, blank out articles, collapse whitespace in order."""
    bare = text.lower().translate(_DROP_PUNCTUATION)
    return " ".join(_ARTICLE.sub(" ", bare).split())


def qa_f1(prediction: str, answer: str) -> float:
    """Return the F1 of the normalized words of two texts, in [0, 1].

    Source of the definition: LongBench v1, question answering in English.
    """
    return multiset_f1(normalize(prediction).split(), normalize(answer).split())
