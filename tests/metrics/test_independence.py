"""Scores do not depend on what else is installed or on what else uses jieba."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import lm_eval_longbench

pytestmark = pytest.mark.slow  # four processes, each of which loads jieba's dictionary
SAMPLES = [
    ("def f(self, x):", "def g(x, self):"),
    ("    return x + 1", "return x - 1"),
    ("y" + "x" * 199, "x" * 200),
    ("The cat sat. It saw a dog.", "A cat saw the dog. It sat."),
    ("研究生命起源的人。", "研究生命的起源"),
    ("北京天气很好，7", "段落7"),
    ("Paragraph 7 or 8", "Paragraph 7"),
    ("12 of 13", "12"),
    ("abc", "abc"),
    ("", ""),
]

SCORE = """
import json, sys
from lm_eval_longbench.metrics.text import classification
from lm_eval_longbench.metrics.code import code_sim
from lm_eval_longbench.metrics.text import count
from lm_eval_longbench.benchmarks.v1 import V1
from lm_eval_longbench.metrics.text import score_sample
from lm_eval_longbench.metrics.text import qa_f1
from lm_eval_longbench.metrics.text import qa_f1_zh
from lm_eval_longbench.metrics.text import retrieval
from lm_eval_longbench.metrics.text import retrieval_zh
from lm_eval_longbench.metrics.rouge import rouge_l
from lm_eval_longbench.metrics.rouge import rouge_l_google
from lm_eval_longbench.metrics.rouge import rouge_l_zh

scores = {}
for prediction, answer in json.loads(sys.argv[1]):
    for metric in (code_sim, count, qa_f1, qa_f1_zh, retrieval, retrieval_zh, rouge_l,
                   rouge_l_google, rouge_l_zh):
        scores[f"{metric.__name__} {prediction!r}"] = metric(prediction, answer)
    classes = ["a", "b", "abc"]
    scores[f"classification {prediction!r}"] = classification(prediction, answer, classes)
    for dataset in ("lcc", "repobench-p", "samsum", "dureader", "multifieldqa_zh", "trec"):
        task = V1.datasets[dataset]
        scores[f"{dataset} {prediction!r}"] = score_sample(
            task.metric, prediction, [answer], classes, first_line=task.first_line)
print(json.dumps([scores, seen]))
"""

FAKE = '''
"""A package that scores everything 0.12."""


def ratio(*args, **kwargs):
    return 0.12


jaro = jaro_winkler = normalized_similarity = similarity = ratio


def distance(*args, **kwargs):
    return 12345


def matching_blocks(*args, **kwargs):
    return []


opcodes = editops = matching_blocks


class StringMatcher:
    def __init__(self, *args, **kwargs):
        pass

    def ratio(self):
        return 0.12

    quick_ratio = real_quick_ratio = ratio


SequenceMatcher = StringMatcher


class Rouge:
    def __init__(self, *args, **kwargs):
        pass

    def get_scores(self, *args, **kwargs):
        return {"rouge-l": {"f": 0.12, "p": 0.12, "r": 0.12}}
'''


def add_package(folder, name, submodules=()):
    package = folder / name
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(FAKE)
    for submodule in submodules:
        (package / f"{submodule}.py").write_text(FAKE)


def run(before, fakes=None, hash_seed="1"):
    """Score the samples in a fresh interpreter; return the scores and what `before` put in seen."""
    home = str(Path(lm_eval_longbench.__file__).resolve().parents[1])
    path = [home] if fakes is None else [str(fakes), home]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", before + SCORE, json.dumps(SAMPLES)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path), "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    scores, seen = json.loads(done.stdout)
    assert len(scores) > 100
    return scores, seen


@pytest.fixture(scope="module")
def alone():
    # Nothing of the kind is imported beforehand. Another order of strings in sets than below, so
    # that the tests also show that no score depends on that order.
    return run("seen = None\n", hash_seed="2")[0]


def test_python_levenshtein_changes_nothing(alone, tmp_path):
    add_package(tmp_path, "Levenshtein", ["StringMatcher"])
    add_package(tmp_path, "rapidfuzz", ["fuzz", "distance", "process"])
    scores, seen = run(
        "import Levenshtein, rapidfuzz.fuzz\n"
        "from fuzzywuzzy import fuzz\n"
        "seen = [Levenshtein.__file__, rapidfuzz.fuzz.__file__, fuzz.ratio('abcd', 'abcx'),\n"
        "        fuzz.SequenceMatcher.__module__]\n",
        tmp_path,
    )
    assert seen[0].startswith(str(tmp_path))
    assert seen[1].startswith(str(tmp_path))
    # The installed fuzzywuzzy did switch over to the fake: 75 with difflib.
    assert seen[2] == 12
    assert seen[3] == "fuzzywuzzy.StringMatcher"
    assert scores == alone


def test_another_fuzzywuzzy_or_rouge_changes_nothing(alone, tmp_path):
    add_package(tmp_path, "fuzzywuzzy", ["StringMatcher", "fuzz", "utils", "process"])
    add_package(tmp_path, "thefuzz", ["fuzz"])
    add_package(tmp_path, "rouge", ["rouge", "rouge_score"])
    scores, seen = run(
        "import fuzzywuzzy.fuzz, fuzzywuzzy.StringMatcher, rouge, thefuzz.fuzz\n"
        "seen = [fuzzywuzzy.fuzz.ratio('a', 'b'),\n"
        "        fuzzywuzzy.StringMatcher.StringMatcher(None, 'a', 'b').ratio(),\n"
        "        rouge.Rouge().get_scores(['a'], ['b'])['rouge-l']['f'],\n"
        "        thefuzz.fuzz.ratio('a', 'b')]\n",
        tmp_path,
    )
    assert seen == [0.12] * 4
    assert scores == alone


def test_words_added_to_jieba_elsewhere_change_nothing(alone):
    scores, seen = run(
        "import jieba\n"
        "before = list(jieba.cut('研究生命起源'))\n"
        "jieba.add_word('研究生命起源')\n"
        "seen = [before, list(jieba.cut('研究生命起源'))]\n"
    )
    assert seen == [["研究", "生命", "起源"], ["研究生命起源"]]  # the added word took hold
    assert scores == alone
