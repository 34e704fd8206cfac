import json
import math
from pathlib import Path

import pytest
from longbench_pro_facts import BY_CODE, SECONDARY_TASKS
from oracles.rouge_l import f_of
from oracles.texts import EXACT

from lm_eval_longbench.errors import UnknownNameError
from lm_eval_longbench.metrics.summary import (
    SummaryParts,
    sample_failed,
    score_sample,
    summary_score,
)

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden" / "longbench_pro"

# Gold a b against prediction b a x, which tells all metrics apart.
PREDICTION, GOLD = "so\n[Answer]\nb\na\nx", ["a", "b"]
EXPECTED = {
    "accuracy": 0.0,  # b is not a
    "f1": 4 / 5,  # 2*2/(3+2)
    "sub_em": 1.0,  # both found
    "ndcg": (1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3)),
    "pairwise_accuracy": 0.0,  # ab is not in order
}
METRIC_OF = {
    "accuracy": "t3_1 t3_2 t11_1 t11_2",
    "f1": "t5_1 t5_2 t6_2 t7_1 t7_2 t7_3 t9_1 t9_2",
    "sub_em": "t6_1 t8_1 t8_2 t8_3 t10_1 t10_2",
    "ndcg": "t1_1 t1_2",
    "pairwise_accuracy": "t2_1 t2_2 t6_3",
}
ITEM_TASKS = [(code, metric) for metric, codes in METRIC_OF.items() for code in codes.split()]
SUMMARY_TASKS = ["t4_1", "t4_2"]
each_item_task = pytest.mark.parametrize(("code", "metric"), ITEM_TASKS)
each_task = pytest.mark.parametrize("task", SECONDARY_TASKS.values(), ids=BY_CODE.keys())


def close(expected):
    return pytest.approx(expected, rel=0, abs=EXACT)


@each_item_task
@pytest.mark.parametrize("language", ["Chinese", "English"])
def test_each_task_has_its_metric(code, metric, language):
    assert score_sample(BY_CODE[code].metric, language, PREDICTION, GOLD) == close(EXPECTED[metric])
    assert score_sample(BY_CODE[code].metric, language, "[答案]\na\nb", GOLD) == 1.0
    assert not sample_failed(BY_CODE[code].metric, PREDICTION, GOLD)


@pytest.mark.parametrize("code", SUMMARY_TASKS)
def test_summaries_have_parts(code):
    english = score_sample(BY_CODE[code].metric, "English", "[Answer] X", ["y", "x"])
    assert english == SummaryParts(rouge_l=close(f_of(1, 1 / 2)), empty=False)
    # The question's language decides: cut into 北京 and 天气, or one word.
    assert score_sample(BY_CODE[code].metric, "Chinese", "北京天气", ["北京"]).rouge_l == close(
        f_of(1, 1 / 2)
    )
    assert score_sample(BY_CODE[code].metric, "English", "北京天气", ["北京"]).rouge_l == 0.0


@each_task
@pytest.mark.parametrize("prediction", ["", " ", "\n", "\u3000\t\r\n"])
def test_an_empty_prediction_scores_zero_and_is_failed(task, prediction):
    """One of white space has not failed, but a summary has: the official ROUGE raises of it."""
    for answers in (["a", "b"], []):
        score = score_sample(task.metric, "English", prediction, answers)
        failed = prediction == "" or task.metric == "summary"
        assert sample_failed(task.metric, prediction, answers) is failed
        if task.metric == "summary":
            assert score.failed(None)
            assert score.failed(0.9)
            # Known without the similarity, and never half a similarity.
            assert score.score(None) == score.score(0.9) == 0.0
        else:
            assert score == 0.0


@each_item_task
def test_an_empty_answer_area_scores_zero_and_is_not_failed(code, metric):
    assert score_sample(BY_CODE[code].metric, "English", "a\nb\n[Answer]\n", GOLD) == 0.0
    assert not sample_failed(BY_CODE[code].metric, "a\nb\n[Answer]\n", GOLD)


@pytest.mark.parametrize("code", METRIC_OF["pairwise_accuracy"].split())
def test_a_metric_above_one_scores_zero_and_is_failed(code):
    # Gold a b a b against a b: three pairs in order, of one (tests of pairwise_accuracy).
    assert score_sample(BY_CODE[code].metric, "English", "a\nb", ["a", "b", "a", "b"]) == 0.0
    assert sample_failed(BY_CODE[code].metric, "a\nb", ["a", "b", "a", "b"])
    assert score_sample(BY_CODE[code].metric, "English", "a\nb", ["a", "b", "a"]) == 1.0
    assert not sample_failed(BY_CODE[code].metric, "a\nb", ["a", "b", "a"])


def test_reasoning_is_not_taken_out_here():
    assert score_sample(BY_CODE["t3_1"].metric, "English", "<think>x</think>\na", ["a"]) == 0.0


SUMMARY_SCORES = {
    # ROUGE, similarity, score = 0.5 * both, failed
    "half and half": (0.4, 0.8, 0.6, False),  # 0.2 + 0.4
    "no ROUGE": (0.0, 0.9, 0.45, False),
    "no similarity": (0.4, 0.0, 0.2, False),
    "all": (1.0, 1.0, 1.0, False),
    "nothing": (0.0, 0.0, 0.0, False),
    "a negative similarity can be made up for": (0.4, -0.2, 0.1, False),  # 0.2 - 0.1
    "a negative sum": (0.1, -0.2, 0.0, True),
    "a sum above one": (0.999999995, 1.0000002, 0.0, True),
    "a similarity above one can still be below": (0.5, 1.0000002, 0.7500001, False),
    "infinite": (0.5, math.inf, 0.0, True),
    "not known": (0.4, None, None, False),
    "not a number": (0.4, math.nan, None, False),
}


@pytest.mark.parametrize(
    ("rouge", "similarity", "expected", "failed"),
    SUMMARY_SCORES.values(),
    ids=SUMMARY_SCORES.keys(),
)
def test_summary_score(rouge, similarity, expected, failed):
    parts = SummaryParts(rouge, empty=False)
    for score in (summary_score(rouge, similarity), parts.score(similarity)):
        assert score is None if expected is None else score == close(expected)
    assert parts.failed(similarity) is failed


@each_task
@pytest.mark.parametrize("language", ["english", "zh", "", "German"])
def test_an_unknown_language_is_an_error(task, language):
    with pytest.raises(UnknownNameError, match="Chinese, English"):
        score_sample(task.metric, language, "a", ["a"])


needs_golden = pytest.mark.skipif(
    not GOLDEN.is_dir(), reason="no shared/golden folder beside this repository"
)


@needs_golden
def test_equals_the_official_scorer():
    lines = (GOLDEN / "metric_cases.jsonl").read_text(encoding="utf-8").split("\n")
    cases = [json.loads(line) for line in lines if line]
    assert len(cases) == 600
    assert {case["secondary_task"] for case in cases} == SECONDARY_TASKS.keys()
    differences = []
    for case in cases:
        task = SECONDARY_TASKS[case["secondary_task"]]
        score = score_sample(task.metric, case["language"], case["prediction"], case["answer"])
        if task.metric == "summary":
            assert case["expected_metric"] == "rouge_l_max"
            score = score.rouge_l
        if not abs(score - case["expected"]) <= 1e-9:
            differences.append((case["id"], task.name, score, case["expected"]))
    assert differences == []
