"""Similarity of the first line of code to the gold line (LongBench v1 `code_sim_score`).

The official scorer calls fuzzywuzzy, which uses difflib unless python-Levenshtein happens to be
installed; then scores of 500 real answers rise by 1.7 (lcc) and 2.4 points (repobench-p). Published
scores are the difflib ones, so this metric counts difflib's blocks and nothing else.
"""

from __future__ import annotations

from lm_eval_longbench.metrics.matching import matched

_NOT_CODE = ("`", "#", "//")


def first_code_line(prediction: str) -> str:
    """Return the first line without a backtick, `#` or `//` after leading newlines; "" if none."""
    for line in prediction.lstrip("\n").split("\n"):
        if not any(mark in line for mark in _NOT_CODE):
            return line
    return ""


def code_sim(prediction: str, answer: str) -> float:
    """Return difflib's ratio (default autojunk) in whole percent as a fraction, in [0, 1].

    fuzzywuzzy's guards in its order: equal strings, two empty ones included, give 1; else an
    empty one gives 0. The ratio is not symmetric.
    """
    line = first_code_line(prediction)
    if line == answer:
        return 1.0
    if not line or not answer:
        return 0.0
    ratio = 2.0 * matched(line, answer) / (len(line) + len(answer))
    return round(100 * ratio) / 100
