"""The tasks of LongBench v1 and LongBench-E, and their documents, for tests."""

from lm_eval_longbench.benchmarks.registry import find_task
from lm_eval_longbench.benchmarks.v1 import V1, E
from lm_eval_longbench.metrics import text as scorer

V1_TASKS, E_TASKS = tuple(V1.tasks.values()), tuple(E.tasks.values())
TASKS = V1_TASKS + E_TASKS
BY_NAME = {task.name: task for task in TASKS}
BY_FILE = {task.dataset: task for task in TASKS}


def load(task, data_dir=None):
    """Open the documents of a task."""
    return (V1 if task in V1_TASKS else E).load(task, data_dir)


def score_sample(dataset, prediction, answers, all_classes=None):
    """Score an answer to a question of a dataset as its task file says."""
    task = V1.datasets[dataset] if dataset != "nq" else find_task("longbench_v1_nq")
    first = task.first_line
    return scorer.score_sample(task.metric, prediction, answers, all_classes, first_line=first)
