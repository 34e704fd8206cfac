"""What the harness found is kept, and its own results stay as they were asked for."""

from argparse import Namespace

import lm_eval.evaluator
import lm_eval.tasks
import pytest

from lm_eval_longbench.harness.evaluate import evaluated
from lm_eval_longbench.harness.run import index_of
from lm_eval_longbench.task_folder import task_folder


def test_rows_and_signatures_of_our_tasks(evaluate, recording_lm, tmp_path):
    tasks = ["longbench_v1_trec", "longbench_v2_cot", "longbench_v2_cot_answer"]
    before = lm_eval.evaluator.evaluate
    with evaluated() as kept:
        result = evaluate(recording_lm, tasks, log_samples=True)
    assert lm_eval.evaluator.evaluate is before
    assert set(kept.rows) == set(kept.signatures) == set(tasks)
    for task in tasks:
        assert kept.rows[task] == result["samples"][task]
        assert kept.signatures[task]["answered"] == len(kept.rows[task])
        assert kept.signatures[task]["signature"].startswith("lb-v")


def test_nothing_is_scored_with_predict_only(evaluate, recording_lm, tmp_path):
    with evaluated() as kept:
        result = evaluate(recording_lm, ["longbench_v1_trec"], predict_only=True)
    assert len(result["samples"]["longbench_v1_trec"]) == 5
    assert kept.rows == {}


OWN = {
    "own.yaml": "task: own\ndataset_path: json\n",
    "mine.yaml": "group: mine\ntask: [own, {task: longbench_v1_qasper, num_fewshot: 0}]\n",
    "mixed.yaml": "group: mixed\ntask: [mine, hellaswag]\n",
    "circle.yaml": "group: circle\ntask: [circle, own]\n",
    "nested.yaml": "group: nested\ntask: [{group: inner, task: [own]}]\n",
    "inline.yaml": "group: inline\ntask: [{task: another, dataset_path: json}]\n",
}


@pytest.mark.parametrize(
    "names, expected",
    [
        ("longbench_v1_qasper", False),
        ("longbench_pro,mine", False),
        ("circle", False),
        ("theirs", True),
        ("longbench_v1_*", True),
        ("own,mixed", True),
        ("inline", True),
        ("nested", True),
    ],
)
def test_the_harness_reads_its_own_tasks_only_where_they_may_be_meant(
    names, expected, tmp_path, monkeypatch
):
    for name, text in OWN.items():
        (tmp_path / name).write_text(text)
    read = []
    manager = lm_eval.tasks.TaskManager

    def reading(*args, include_defaults=True, **given):
        read.append(include_defaults)
        return manager(*args, include_defaults=False, **given)

    monkeypatch.setattr(lm_eval.tasks, "TaskManager", reading)
    parsed = Namespace(tasks=names, include_path=[str(task_folder()), str(tmp_path)])
    with index_of(parsed):
        lm_eval.tasks.TaskManager(include_path=parsed.include_path, metadata={})
    assert read == [False, True][: 1 + expected]
    assert lm_eval.tasks.TaskManager is reading
