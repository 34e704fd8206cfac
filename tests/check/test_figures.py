"""Figures of single questions recomputed from answers, and figures of groups from their tasks."""

import math
import statistics
from itertools import cycle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from longbench_v2_facts import COT_ANSWER
from v2_prompts import render

from lm_eval_longbench.benchmarks.pro import PRO
from lm_eval_longbench.benchmarks.registry import benchmarks
from lm_eval_longbench.benchmarks.results import ResultsFile, TaskResult
from lm_eval_longbench.benchmarks.v2 import V2
from lm_eval_longbench.check import figures
from lm_eval_longbench.check.figures import Figures, check_groups
from lm_eval_longbench.check.logged_task import LoggedTask
from lm_eval_longbench.check.verification import CONFIRMED, DIFFERENT, NOT_CHECKABLE
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.metrics.summary import score_sample
from lm_eval_longbench.prompts.render import text_sha256
from lm_eval_longbench.records.log import LogRow
from lm_eval_longbench.retrieval.vectors import OFFICIAL_MODEL


def recompute(task, doc, responses, logged=None, **run):
    config = {"metadata": {"longbench_run": {}}}
    result = TaskResult(Path("r"), task, {"task": task, **run}, {}, config, None, "", None)
    row = LogRow(1, doc, "none", responses, [], logged or {})
    return figures.recompute(LoggedTask(result, [row], None, None), row)


def test_an_answer_without_reasoning_is_worth_nothing():
    known = {
        "_id": "a",
        "index": 0,
        "answer": "B",
        "difficulty": "hard",
        "length": "short",
        "question": "Which?",
        **{f"choice_{letter}": letter for letter in "ABCD"},
    }
    empty = text_sha256(render(known, "0shot_cot_ans", ""))
    for sha256, truncated, expected in (
        ("0" * 64, False, False),
        (empty, False, True),
        (empty, True, True),
        ("0" * 64, True, None),
    ):
        doc = {**known, "prompt": {"truncated": truncated, "sha256": sha256}}
        assert V2.failed_before(V2.tasks[COT_ANSWER], doc) is expected
        logged = {"acc": 0.25, "failed": 0.0}
        found, taken = recompute(COT_ANSWER, doc, ["The correct answer is (B)"], logged)
        if expected is None:
            assert found == logged
            assert "cannot be told" in taken["acc"]
        else:
            assert (found["acc"], found["failed"]) == (float(not expected), float(expected))


SUMMARY = PRO.tasks["longbench_pro_t4_1"]


@pytest.fixture
def summary():
    """A question of T4 with its gold summary."""
    row = PRO.load(SUMMARY, "sample").rows.without("context")[0]
    return {**row, "index": 0, "prompt": {"truncated": False}}, row["answer"][0]


def rouge(doc, text):
    return score_sample("summary", doc["language"], text, doc["answer"]).rouge_l


def test_a_summary_needs_its_similarity(summary):
    doc, gold = summary
    for logged in ({}, {"semantic_similarity": None}, {"semantic_similarity": math.nan}):
        found, taken = recompute(SUMMARY.name, doc, [gold], logged)
        assert taken == {}
        assert (found["score"], found["semantic_similarity"]) == (None, None)
        assert found["rouge_l"] == rouge(doc, gold)


def test_repeats_of_a_summary(summary):
    """The log has the mean of the similarities: enough for the mean score, not for the best."""
    doc, gold = summary
    answers, similarities = [gold, gold[:40], ""], [0.9, 0.6, 0.0]
    logged = {"semantic_similarity": 0.5, "best_of_n": 0.7, "pass_at_n": 1.0, "failed": 1 / 3}

    def found(model=OFFICIAL_MODEL, **more):
        return recompute(SUMMARY.name, doc, answers, logged | more, embedding_model=model)

    values, taken = found()
    assert set(taken) == {"semantic_similarity", "score", "best_of_n", "pass_at_n"}
    scores = [
        (rouge(doc, text) + similarity) / 2 if text else 0.0
        for text, similarity in zip(answers, similarities, strict=True)
    ]
    assert values["score"] == pytest.approx(statistics.fmean(scores))
    assert (values["failed"], values["best_of_n"]) == (pytest.approx(1 / 3), 0.7)
    # More failed than are empty: some sum was out of range, and nobody knows which.
    values, _ = found(failed=2 / 3, score=0.2)
    assert (values["score"], values["failed"]) == (0.2, 2 / 3)
    # Another model's is shown, and makes no score.
    values, _ = found("another")
    assert (values["score"], values["semantic_similarity"]) == (None, 0.5)
    # Empty answers need none.
    values, taken = recompute(SUMMARY.name, doc, ["", " "], logged, embedding_model=OFFICIAL_MODEL)
    assert (values["score"], values["failed"], taken) == (0.0, 1.0, {})


def test_a_document_that_lacks_a_field():
    with pytest.raises(PredictionError, match="cannot be scored: 'answers' is not a list"):
        recompute("longbench_v1_qasper", {"_id": "x", "prompt": {"truncated": False}}, ["a"])


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30))
def test_standard_error(values):
    expected = statistics.stdev(values) / math.sqrt(len(values))
    found = Figures({}, {"score,none": [*values, None]}).error("score,none")
    assert found == pytest.approx(expected, abs=1e-12)


# ---------------------------------------------------------------------- groups

PLAIN, WEIGHTED = 0.5, 0.25
KEY = "score,none"
SIZES = {0.0: 30, 1.0: 10}
V1 = list(benchmarks()["longbench_v1"].tasks)
PRO_TASKS = [name for name in benchmarks()["longbench_pro"].tasks if "thinking" not in name]


def status(group, found, names=("one", "two"), members=None, recomputed=None):
    """What is found of a group whose tasks have 0 and 1 in turn; None: nothing."""
    values = dict(zip(names, cycle(SIZES), strict=False))
    tasks = {name: {KEY: own, "sample_len": SIZES[own]} for name, own in values.items()}
    whole = {
        "results": {**tasks, group: {KEY: found, "sample_len": 40}},
        "group_subtasks": members or {group: list(names)},
        "configs": {},
    }
    known = {
        name: Figures({}, {KEY: [own] * SIZES[own]})
        for name, own in values.items()
        if recomputed is None or name in recomputed
    }
    results = ResultsFile(Path("results.json"), (), (), whole)
    checks = [check.status for place, check in check_groups(results, known) if place == group]
    return checks[0] if checks else None


@pytest.mark.parametrize(
    ("group", "names", "weighted", "plain"),
    [
        ("longbench_pro", PRO_TASKS, CONFIRMED, DIFFERENT),
        ("a_users_own", ["longbench_v1_lcc", "longbench_v1_trec"], CONFIRMED, CONFIRMED),
        # Our name with other members is a user's own.
        ("longbench_v1", V1[::-1], CONFIRMED, CONFIRMED),
    ],
)
def test_how_groups_weigh(group, names, weighted, plain):
    own = [value for value, _ in zip(cycle(SIZES), names, strict=False)]
    sizes = [SIZES[value] for value in own]
    total = sum(value * size for value, size in zip(own, sizes, strict=True)) / sum(sizes)
    assert status(group, total, names) == weighted
    assert status(group, sum(own) / len(own), names) == plain
    assert status(group, 0.9, names) == DIFFERENT


def test_groups_in_groups():
    """The harness counts a task as often as ways lead to it."""
    for inner, found in ((["one"], PLAIN), (["one", "two"], 2 / 3), (["one", "two"], 20 / 50)):
        members = {"outer": ["inner", "two"], "inner": inner}
        assert status("outer", found, members=members) == CONFIRMED


def test_a_group_of_tasks_that_were_not_recomputed():
    assert status("g", PLAIN, recomputed=["one"]) == NOT_CHECKABLE
    assert status("g", PLAIN, recomputed=[]) is None  # a group of other tasks
    assert status("g", math.nan, names=("one",)) == DIFFERENT
