"""Every figure of a sample, and the official figures of a dataset."""

import numpy as np
import pytest

from lm_eval_longbench.aggregation.longbench_v1 import (
    BUCKET_METRICS,
    ROUGE_DATASETS,
    bucket_percent,
    metric_names,
    percent,
    sample_figures,
)
from v1_tasks import BY_FILE, TASKS
from lm_eval_longbench.metrics.reasoning import DROP, answer_of

BUCKET_KEYS = ("score_0_4k", "score_4_8k", "score_8k_plus")
WITH_ROUGE = {"gov_report", "qmsum", "multi_news", "samsum"}


def figures(stem, response, answers=("Emma",), classes=None, length=3999, truncated=False):
    answer = answer_of(response, DROP)
    return sample_figures(BY_FILE[stem], answer, answers, classes, length, truncated)


def test_the_names():
    assert set(ROUGE_DATASETS) == WITH_ROUGE
    assert dict(zip(("0-4k", "4-8k", "8k+"), BUCKET_KEYS, strict=True)) == BUCKET_METRICS


@pytest.mark.parametrize("split", TASKS, ids=lambda split: split.dataset)
def test_keys_and_their_order(split):
    expected = ["score"]
    if split in E_TASKS:
        expected += BUCKET_KEYS
    if split.label in WITH_ROUGE:
        expected.append("rougeL_google")
    expected += ["failed", "truncated"]
    assert list(metric_names(split)) == expected
    for response in ("", "Paragraph 3", "<think>"):
        found = sample_figures(split, response, ["Paragraph 3"], ["a"], 5000, False)
        assert list(found) == expected
        known = [value for value in found.values() if value is not None]
        assert all(type(value) is float and 0 <= value <= 1 for value in known)
        assert len(expected) - len(known) == (2 if (split in E_TASKS) else 0)


@pytest.mark.parametrize(
    ("length", "own"),
    [(0, 0), (3999, 0), (4000, 1), (7999, 1), (8000, 2), (99999, 2)],
)
def test_a_sample_is_in_one_bucket(length, own):
    found = figures("qasper_e", "Emma Smith", length=length)
    values = [found[key] for key in BUCKET_KEYS]
    assert values[own] == found["score"] == pytest.approx(2 / 3)
    assert [value is None for value in values].count(True) == 2


def test_a_score_of_zero_is_in_its_bucket_too():
    found = figures("qasper_e", "nobody", length=4000)
    assert [found[key] for key in BUCKET_KEYS] == [None, 0.0, None]


def test_the_best_gold_answer_counts():
    assert figures("qasper", "The Emma!", ["Bob", "Emma"])["score"] == 1.0


def test_classes_are_used():
    found = figures("trec", "Human and Animal", ["Human"], ["Human", "Animal", "Other"])
    assert found["score"] == 0.5


def test_googles_rouge_is_another_figure():
    text, answer = "The cat sat. A dog ran.", "A dog ran. The cat sat."
    found = figures("gov_report", text, [answer, "none"])
    # One longest common subsequence of three words out of six, not the union over sentences.
    assert found["rougeL_google"] == pytest.approx(0.5)
    assert found["score"] > 0.99


def test_googles_rouge_reads_the_first_line_of_samsum_only():
    found = figures("samsum", "\nAmy sings.\nAnd more and more.", ["Amy sings."])
    assert found["rougeL_google"] == 1.0
    assert found["score"] == pytest.approx(1.0)


def test_googles_rouge_reads_no_reasoning():
    found = figures("qmsum", "<think>Amy sings.</think>\nBob.", ["Amy sings."])
    assert found["rougeL_google"] == 0.0
    assert figures("qmsum", "<think>Bob</think>\nAmy sings.", ["Amy sings."])["rougeL_google"] == 1


def test_reasoning_is_dropped_before_scoring():
    found = figures("qasper", "<think>Bob? No.</think>\n\nEmma")
    assert (found["score"], found["failed"]) == (1.0, 0.0)
    assert figures("qasper", "Bob? No.</think>Emma")["score"] == 1.0
    # The first line of a few-shot answer is found behind the reasoning.
    assert figures("triviaqa", "<think>\nBob\n</think>\nEmma\nBob")["score"] == 1.0


@pytest.mark.parametrize(
    ("response", "failed"),
    [
        ("", 1.0),
        (" \n\t", 1.0),
        ("<think>Emma", 1.0),
        ("\n <think>\nEmma\n", 1.0),
        ("<think>Emma</think>", 1.0),
        ("<think>Emma</think>\n ", 1.0),
        ("Emma", 0.0),
        ("0", 0.0),
        (".", 0.0),
        ("Emma <think>Bob", 0.0),
        ("<think>x</think>.", 0.0),
    ],
)
def test_failed_is_an_answer_without_anything_in_it(response, failed):
    found = figures("qasper", response)
    assert found["failed"] == failed
    if failed:
        assert found["score"] == 0.0


def test_a_wrong_answer_is_not_failed():
    assert figures("qasper", "Bob") == {"score": 0.0, "failed": 0.0, "truncated": 0.0}


def test_truncated_is_told():
    assert figures("qasper", "Emma", truncated=True)["truncated"] == 1.0
    assert figures("qasper", "Emma", truncated=False)["truncated"] == 0.0


# ---------------------------------------------------------------------- official figures


def test_percent():
    assert percent([]) is None
    assert percent([0.0]) == 0.0
    assert percent([1.0, 0.0, 0.0]) == 33.33
    assert percent([2 / 3]) == 66.67
    assert percent((1, 1)) == 100.0


def test_percent_by_bucket():
    scored = {"0-4k": [1.0, 0.0, 0.0], "4-8k": [0.0], "8k+": []}
    assert bucket_percent(scored) == {"0-4k": 33.33, "4-8k": 0.0, "8k+": None}
    assert list(bucket_percent(scored)) == ["0-4k", "4-8k", "8k+"]
    assert bucket_percent({}) == {"0-4k": None, "4-8k": None, "8k+": None}
    assert bucket_percent({"8k+": [0.5]}) == {"0-4k": None, "4-8k": None, "8k+": 50.0}


def test_figures_are_plain_numbers():
    assert type(percent([0.5])) is float
    assert type(bucket_percent({"8k+": [0.5]})["8k+"]) is float


def test_buckets_are_added_as_numpy_adds_and_v1_is_not():
    """The official scorers add pairwise and from the left; here their second decimals differ."""
    scores = [0.221, 0.992, 0.432, 0.743, 0.029, 0.54, 0.227, 0.782]
    assert percent(scores) == 49.57
    assert bucket_percent({"8k+": scores})["8k+"] == 49.58 == round(100 * np.mean(scores), 2)
