"""Number of the right paragraph in Chinese (LongBench v1 `retrieval_zh_score`)."""

from __future__ import annotations

import re

from lm_eval_longbench.metrics.retrieval import numbered

_GOLD = re.compile(r"段落(\d+)")


def retrieval_zh(prediction: str, answer: str) -> float:
    """Return the share of the prediction's numbers that name the gold paragraph, in [0, 1]."""
    return numbered(prediction, answer, _GOLD)
