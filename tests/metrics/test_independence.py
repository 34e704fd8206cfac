"""Scores do not depend on what else is installed or on what else uses jieba."""

import os
import subprocess
import sys

import pytest

SCORED = """
from lm_eval_longbench.metrics.code import code_sim
from lm_eval_longbench.metrics.rouge import rouge_l_zh
from lm_eval_longbench.metrics.text import qa_f1_zh

for text, other in (("研究生命起源的人。", "研究生命的起源"), ("北京天气很好", "北京")):
    print(qa_f1_zh(text, other), rouge_l_zh(text, other), code_sim(text, other))
"""
ADDED = """
import jieba

assert list(jieba.cut("研究生命起源")) == ["研究", "生命", "起源"]
jieba.add_word("研究生命起源")
assert list(jieba.cut("研究生命起源")) == ["研究生命起源"]
"""


def printed(code, hash_seed):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        timeout=200,
        check=True,
    )
    return done.stdout


@pytest.mark.slow  # two processes, each of which loads jieba's dictionary
def test_words_added_to_jieba_elsewhere_and_the_order_of_sets_change_nothing():
    assert printed(SCORED, "1") == printed(ADDED + SCORED, "2")


def test_no_package_of_others_scores():
    """Two packages called Levenshtein or rouge give other scores; none of them is asked."""
    code = SCORED + "import sys; print(*(name.partition('.')[0] for name in sys.modules))"
    loaded = set(printed(code, "1").split())
    assert "lm_eval_longbench" in loaded
    assert not loaded & {"Levenshtein", "rapidfuzz", "fuzzywuzzy", "thefuzz", "rouge"}
