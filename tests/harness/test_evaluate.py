"""What the harness found is kept, and its own results stay as they were asked for."""

from argparse import Namespace

import lm_eval.evaluator
import lm_eval.tasks

from lm_eval_longbench.harness.evaluate import evaluated
from lm_eval_longbench.harness.run import index_of
from lm_eval_longbench.task_folder import task_folder


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
    for wanted in ("longbench_v1_qasper", "theirs"):
        parsed = Namespace(tasks=wanted, include_path=[str(task_folder())])
        with index_of(parsed):
            lm_eval.tasks.TaskManager(include_path="folder")
    assert read == [False, True]
