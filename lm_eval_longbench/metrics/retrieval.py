"""Number of the right paragraph (LongBench v1 `retrieval_score` and `retrieval_zh_score`)."""

from __future__ import annotations

import re

from lm_eval_longbench.metrics.count import share_of_numbers

_GOLD = re.compile(r"Paragraph (\d+)")


def numbered(prediction: str, answer: str, gold: re.Pattern[str]) -> float:
    """Score `prediction` by the first number that `gold` finds in `answer`; 0 without one."""
    match = gold.search(answer)
    return share_of_numbers(prediction, match[1]) if match else 0.0


def retrieval(prediction: str, answer: str) -> float:
    """Return the share of the prediction's numbers that name the gold paragraph, in [0, 1]."""
    return numbered(prediction, answer, _GOLD)


_GOLD_ZH = re.compile(r"段落(\d+)")


def retrieval_zh(prediction: str, answer: str) -> float:
    """Return the share of the prediction's numbers that name the gold paragraph, in [0, 1]."""
    return numbered(prediction, answer, _GOLD_ZH)
