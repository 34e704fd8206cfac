"""What the harness found is kept, and its own results stay as they were asked for."""

import lm_eval.evaluator
import lm_eval.tasks

from lm_eval_longbench.harness.evaluate import evaluated, quick_index


def test_rows_and_signatures_of_our_tasks(evaluate, recording_lm, tmp_path):
    tasks = ["longbench_v1_trec", "longbench_v2_cot", "longbench_v2_cot_answer"]
    before = lm_eval.evaluator.evaluate
    with evaluated(tmp_path) as kept:
        result = evaluate(recording_lm, tasks, log_samples=True)
    assert lm_eval.evaluator.evaluate is before
    assert set(kept.rows) == set(kept.signatures) == set(tasks)
    for task in tasks:
        assert kept.rows[task] == result["samples"][task]
        assert kept.signatures[task]["answered"] == len(kept.rows[task])
        assert kept.signatures[task]["signature"].startswith("lb-v")


def test_nothing_is_scored_with_predict_only(evaluate, recording_lm, tmp_path):
    with evaluated(tmp_path) as kept:
        result = evaluate(recording_lm, ["longbench_v1_trec"], predict_only=True)
    assert len(result["samples"]["longbench_v1_trec"]) == 5
    assert kept.rows == {}


def test_a_run_of_our_tasks_alone_reads_no_others(monkeypatch):
    read = []

    class Manager:
        def __init__(self, include_path=None, include_defaults=True):
            read.append(include_defaults)

    monkeypatch.setattr(lm_eval.tasks, "TaskManager", Manager)
    for wanted in ("ours", "theirs"):
        with quick_index([wanted], ["folder"], ["folder"], ["ours", "ours too"]):
            lm_eval.tasks.TaskManager(include_path="folder")
    assert read == [False, True]
