"""Figures of single questions recomputed from answers, and put together."""

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from longbench_v2_facts import COT_ANSWER
from v2_prompts import render

from lm_eval_longbench.benchmarks.longbench_pro import PRO
from lm_eval_longbench.benchmarks.longbench_v2 import V2
from lm_eval_longbench.check.figures import aggregation_names, recompute, standard_error
from lm_eval_longbench.check.verification import same_number
from lm_eval_longbench.errors import PredictionError, UnknownNameError
from lm_eval_longbench.metrics.summary import score_sample
from lm_eval_longbench.prompts.render import text_sha256
from lm_eval_longbench.retrieval.vectors import OFFICIAL_MODEL

V1_DOC = {
    "answers": ["blue harbor"],
    "all_classes": None,
    "length": 5000,
    "index": 0,
    "prompt": {"truncated": True},
}
V2_DOC = {
    "_id": "a",
    "index": 0,
    "answer": "B",
    "difficulty": "hard",
    "length": "short",
    "question": "Which?",
    **{f"choice_{letter}": letter for letter in "ABCD"},
    "prompt": {"truncated": False, "sha256": "0" * 64},
}


def v1(task="longbench_v1_qasper"):
    return {"benchmark": task.rpartition("_")[0], "task": task}


def v2(task="longbench_v2"):
    return {"benchmark": "longbench_v2", "task": task}


def test_v1():
    answers = ["blue harbor", "red harbor", "<think>blue"]
    found = recompute(v1(), V1_DOC, answers, {})
    assert found.taken == {}
    assert found.figures["capped"] is None
    assert {**found.figures, "capped": 0.0} == pytest.approx(
        {"score": 0.5, "failed": 1 / 3, "truncated": 1.0, "reasoned": 1 / 3, "capped": 0.0}
    )


def test_e_has_its_buckets():
    found = recompute(v1("longbench_v1_e_qasper"), V1_DOC, ["blue harbor"], {}).figures
    assert (found["score_0_4k"], found["score_4_8k"], found["score_8k_plus"]) == (None, 1.0, None)


def test_v2():
    answers = ["The correct answer is (B)", "I do not know"]
    found = recompute(v2(), V2_DOC, answers, {}).figures
    assert found["acc"] == found["acc_hard"] == found["acc_short"] == 0.5
    assert (found["acc_easy"], found["acc_compensated"], found["unparsed"]) == (None, 0.625, 0.5)


def test_chain_of_thought():
    found = recompute(v2("longbench_v2_cot"), V2_DOC, ["The correct answer is (B)"], {}).figures
    assert found == {
        "acc_one_call": 1.0,
        "unparsed": 0.0,
        "failed": 0.0,
        "truncated": 0.0,
        "reasoned": 0.0,
        "capped": None,
    }


def test_an_answer_without_reasoning_is_worth_nothing():
    answers = ["The correct answer is (B)"]
    task = V2.tasks[COT_ANSWER]
    empty = text_sha256(render(V2_DOC, "0shot_cot_ans", ""))
    for sha256, truncated, expected in (
        ("0" * 64, False, False),
        (empty, False, True),
        (empty, True, True),
        ("0" * 64, True, None),
    ):
        doc = {**V2_DOC, "prompt": {"truncated": truncated, "sha256": sha256}}
        assert V2.failed_before(task, doc) is expected
        logged = {"acc": 0.25, "failed": 0.0}
        found = recompute(v2("longbench_v2_cot_answer"), doc, answers, logged)
        if expected is None:
            assert found.figures == logged
            assert "cannot be told" in found.taken["acc"]
        else:
            assert found.figures["acc"] == float(not expected)
            assert found.figures["failed"] == float(expected)


def pro(code="t3_1", model=None, form="longbench_pro"):
    return {"benchmark": "longbench_pro", "task": f"{form}_{code}", "embedding_model": model}


def pro_doc(task):
    row = PRO.load(task, "sample").rows.without("context")[0]
    return {**row, "index": 0, "prompt": {"truncated": False}}


@pytest.mark.parametrize("form", ["longbench_pro", "longbench_pro_thinking"])
def test_pro(form):
    task = PRO.tasks[f"{form}_t3_1"]
    doc = {**pro_doc(task), "answer": ["B"]}
    answers = ["[Answer]\nB", "[Answer]\nA", "<think>B"]
    found = recompute(pro(form=form), doc, answers, {}).figures
    expected = {"score": 1 / 3, "best_of_n": 1.0, "pass_at_n": 1.0, "failed": 1 / 3}
    assert found.pop("capped") is None
    assert found == pytest.approx(expected | {"truncated": 0.0, "reasoned": 1 / 3})


SUMMARY = PRO.tasks["longbench_pro_t4_1"]


@pytest.fixture
def summary():
    """A question of T4 with its gold summary."""
    doc = pro_doc(SUMMARY)
    return doc, doc["answer"][0]


def rouge(doc, text):
    return score_sample("summary", doc["language"], text, doc["answer"]).rouge_l


def test_a_summary_needs_its_similarity(summary):
    doc, gold = summary
    for logged in ({}, {"semantic_similarity": None}, {"semantic_similarity": math.nan}):
        found = recompute(pro("t4_1"), doc, [gold], logged)
        assert found.taken == {}
        assert (found.figures["score"], found.figures["semantic_similarity"]) == (None, None)
        assert found.figures["rouge_l"] == rouge(doc, gold)


def test_a_summarys_score_follows_from_the_logged_similarity(summary):
    doc, gold = summary
    found = recompute(pro("t4_1", OFFICIAL_MODEL), doc, [gold], {"semantic_similarity": 0.8})
    assert set(found.taken) == {"semantic_similarity", "score", "best_of_n", "pass_at_n"}
    assert found.figures["score"] == pytest.approx(0.4 + rouge(doc, gold) / 2)
    other = recompute(pro("t4_1", "another"), doc, [gold], {"semantic_similarity": 0.8})
    assert other.figures["score"] is None
    assert other.figures["semantic_similarity"] == 0.8


def test_repeats_of_a_summary(summary):
    """The log has the mean of the similarities: enough for the mean score, not for the best."""
    doc, gold = summary
    answers = [gold, gold[:40], ""]
    similarities = [0.9, 0.6, 0.0]
    logged = {"semantic_similarity": 0.5, "best_of_n": 0.7, "pass_at_n": 1.0, "failed": 1 / 3}
    found = recompute(pro("t4_1", OFFICIAL_MODEL), doc, answers, logged)
    assert set(found.taken) == {"semantic_similarity", "score", "best_of_n", "pass_at_n"}
    scores = [
        (rouge(doc, text) + similarity) / 2 if text else 0.0
        for text, similarity in zip(answers, similarities, strict=True)
    ]
    assert found.figures["score"] == pytest.approx(statistics.fmean(scores))
    assert found.figures["failed"] == pytest.approx(1 / 3)
    assert found.figures["best_of_n"] == 0.7
    # More failed than are empty: some sum was out of range, and nobody knows which.
    beyond = recompute(
        pro("t4_1", OFFICIAL_MODEL), doc, answers, {**logged, "failed": 2 / 3, "score": 0.2}
    )
    assert (beyond.figures["score"], beyond.figures["failed"]) == (0.2, 2 / 3)


def test_empty_summaries_need_no_similarity(summary):
    doc, _ = summary
    found = recompute(pro("t4_1", OFFICIAL_MODEL), doc, ["", " "], {"semantic_similarity": 0.0})
    assert found.taken == {}
    assert (found.figures["score"], found.figures["failed"]) == (0.0, 1.0)


def test_unknown_names():
    with pytest.raises(UnknownNameError, match="longbench_v1_qasper"):
        recompute(v1("longbench_v1_qasperr"), V1_DOC, ["a"], {})


def test_a_document_that_lacks_a_field():
    with pytest.raises(PredictionError, match="cannot be scored: 'answers' is not a list"):
        recompute(v1(), {"index": 0, "prompt": {"truncated": False}}, ["a"], {})


def test_aggregation_names():
    config = {
        "metric_list": [
            {"metric": "a", "aggregation": "mean"},
            {"metric": "b", "aggregation": "def mean_of_known(values: list) -> float:\n    ..."},
            {"metric": "c", "aggregation": "  def other(x):\n    return 1"},
            {"metric": "d"},
        ]
    }
    assert aggregation_names(config) == {
        "a": "mean",
        "b": "mean_of_known",
        "c": "other",
        "d": "mean",
    }
    assert aggregation_names({}) == {}


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30))
def test_standard_error(values):
    expected = statistics.stdev(values) / math.sqrt(len(values))
    assert standard_error(values) == pytest.approx(expected, abs=1e-12)


def test_same_number():
    assert same_number(0.5, 0.5 + 1e-10)
    assert not same_number(0.5, 0.5 + 1e-8)
    assert same_number(math.nan, math.nan)
    assert not same_number(math.nan, 0.0)
    assert not same_number(None, 0.0)
    assert not same_number(True, 1)
    assert same_number(None, None)
    assert same_number(1, 1.0)
