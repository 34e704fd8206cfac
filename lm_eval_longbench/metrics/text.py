"""The metrics of LongBench v1 and E by their names in task files: words, classes and numbers."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from lm_eval_longbench.errors import UnknownNameError
from lm_eval_longbench.metrics.code import code_sim
from lm_eval_longbench.metrics.rouge import rouge_l, rouge_l_google, rouge_l_zh
from lm_eval_longbench.metrics.words import gold_words, words

# ----------------------------------------------------------------------
# Token F1 for question answering (LongBench v1 `qa_f1_score` and `qa_f1_zh_score`).


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


# ----------------------------------------------------------------------
# Class found in the prediction (LongBench v1 `classification_score`).


def classification(prediction: str, answer: str, all_classes: Sequence[str]) -> float:
    """Return 1/k if the true class is among the k classes found in the prediction, else 0.

    A class is found when it is a substring of the prediction. Found classes that are proper
    substrings of the truth do not count, but the official loop removes them from the list it is
    walking and so passes over the class after each removal; that is kept (docs/differences.md).
    """
    found = [name for name in all_classes if name in prediction]
    position = 0
    while position < len(found):
        name = found[position]
        if name != answer and name in answer:
            found.remove(name)
        position += 1
    return 1.0 / len(found) if answer in found else 0.0


# ----------------------------------------------------------------------
# Share of the prediction's numbers that equal the gold number (LongBench v1 `count_score`).

_NUMBER = re.compile(r"\d+")


def count(prediction: str, answer: str) -> float:
    """Return the share of the digit runs in `prediction` that equal `answer` as strings, in [0, 1].

    No digit run: 0. "07" is not "7".
    """
    numbers = _NUMBER.findall(prediction)
    return numbers.count(answer) / len(numbers) if numbers else 0.0


# ----------------------------------------------------------------------
# Number of the right paragraph (LongBench v1 `retrieval_score` and `retrieval_zh_score`).

_GOLD = re.compile(r"Paragraph (\d+)")


def numbered(prediction: str, answer: str, gold: re.Pattern[str]) -> float:
    """Score `prediction` by the first number that `gold` finds in `answer`; 0 without one."""
    match = gold.search(answer)
    return count(prediction, match[1]) if match else 0.0


def retrieval(prediction: str, answer: str) -> float:
    """Return the share of the prediction's numbers that name the gold paragraph, in [0, 1]."""
    return numbered(prediction, answer, _GOLD)


_GOLD_ZH = re.compile(r"段落(\d+)")


def retrieval_zh(prediction: str, answer: str) -> float:
    """Return the share of the prediction's numbers that name the gold paragraph, in [0, 1]."""
    return numbered(prediction, answer, _GOLD_ZH)


# ---------------------------------------------------------------------- by their names

CLASSIFICATION = classification.__name__
# With which also Google's ROUGE-L is reported.
ROUGE = rouge_l.__name__
METRICS: Mapping[str, Callable[[str, str], float]] = {
    one.__name__: one
    for one in (
        qa_f1,
        qa_f1_zh,
        rouge_l,
        rouge_l_zh,
        count,
        retrieval,
        retrieval_zh,
        code_sim,
    )
}


def scored_text(prediction: str, *, first_line: bool) -> str:
    """Return the part of a prediction that is scored.

    Few-shot answers end at the line, so that models that go on with another example are not
    punished: the first line after leading newlines. Nothing else is stripped.
    """
    return prediction.lstrip("\n").split("\n", 1)[0] if first_line else prediction


def score_sample(
    metric: str,
    prediction: str,
    answers: Sequence[str],
    all_classes: Sequence[str] | None = None,
    *,
    first_line: bool = False,
) -> float:
    """Return the official score of one prediction, in [0, 1]: the best over its gold answers.

    Args:
        metric: its name.
        prediction: the answer.
        answers: gold ones; none: 0.
        all_classes: for classification.
        first_line: whether only the first line of the prediction is scored.

    Raises:
        UnknownNameError: there is no such metric.
    """
    if metric not in (*METRICS, CLASSIFICATION):
        raise UnknownNameError("LongBench v1 metric", metric, [*METRICS, CLASSIFICATION])
    text = scored_text(prediction, first_line=first_line)
    if metric == CLASSIFICATION:
        scores = [classification(text, answer, all_classes or ()) for answer in answers]
    else:
        scores = [METRICS[metric](text, answer) for answer in answers]
    return max(scores, default=0.0)


def rouge_l_google_sample(
    prediction: str, answers: Sequence[str], *, first_line: bool = False
) -> float:
    """Return Google's rougeL of one prediction, in [0, 1]: the best over its gold answers."""
    text = scored_text(prediction, first_line=first_line)
    return max((rouge_l_google(text, answer) for answer in answers), default=0.0)
