"""The tasks of LongBench v1 and LongBench-E, and their documents, for tests."""

from lm_eval_longbench.benchmarks.longbench_v1 import V1, E

V1_TASKS, E_TASKS = tuple(V1.tasks.values()), tuple(E.tasks.values())
TASKS = V1_TASKS + E_TASKS
BY_NAME = {task.name: task for task in TASKS}
BY_FILE = {task.dataset: task for task in TASKS}


def load(task, data_dir=None):
    """Open the documents of a task."""
    return (V1 if task in V1_TASKS else E).load(task, data_dir)
