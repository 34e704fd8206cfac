"""Token F1 for question answering (LongBench v1 `qa_f1_score` and `qa_f1_zh_score`)."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

from lm_eval_longbench.metrics.segment import gold_words, words


def multiset_f1(prediction: Sequence[str], answer: Sequence[str]) -> float:
    """Return the F1 of two token lists as multisets, in [0, 1]; 0 without a common token."""
    common = (Counter(prediction) & Counter(answer)).total()
    if common == 0:
        return 0.0
    precision = common / len(prediction)
    recall = common / len(answer)
    return 2 * precision * recall / (precision + recall)


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


# Code points in UTF-16, not characters: editors that straighten quotes must not change this set.
_CHINESE_PUNCTUATION = bytes.fromhex(
    "FF01 FF1F FF61 3002 FF02 FF03 FF04 FF05 FF06 FF07 FF08 FF09 FF0A FF0B FF0C FF0D FF0F FF1A "
    "FF1B FF1C FF1D FF1E FF20 FF3B FF3C FF3D FF3E FF3F FF40 FF5B FF5C FF5D FF5E FF5F FF60 FF62 "
    "FF63 FF64 3001 3003 300B 300C 300D 300E 300F 3010 3011 3014 3015 3016 3017 3018 3019 301A "
    "301B 301C 301D 301E 301F 3030 303E 303F 2013 2014 2018 2019 201B 201C 201D 201E 201F 2026 "
    "2027 FE4F 002E"
).decode("utf-16-be")
_DROP_ZH = str.maketrans("", "", string.punctuation + _CHINESE_PUNCTUATION)


def normalize_zh(token: str) -> str:
    """Lower-case a token and drop ASCII and Chinese punctuation and all whitespace."""
    return "".join(token.lower().translate(_DROP_ZH).split())


def qa_f1_zh(prediction: str, answer: str) -> float:
    """Return the F1 of the normalized jieba tokens of two texts, in [0, 1].

    Tokens that are empty after normalization do not count.
    Source of the definition: LongBench v1, question answering in Chinese.
    """
    pred, gold = (
        [token for token in map(normalize_zh, tokens) if token]
        for tokens in (words(prediction), gold_words(answer))
    )
    return multiset_f1(pred, gold)
