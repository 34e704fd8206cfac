"""What a run of our tasks asks, without the harness."""

from lm_eval_longbench.benchmarks.registry import benchmark_of, find_task


def rows_of(name, data_dir="sample"):
    """The rows of a task."""
    task = find_task(name)
    return list(benchmark_of(task).load(task, data_dir).rows)


def prompts_of(name):
    """The whole official prompts of a task, on the embedded sample."""
    return [prompt_of(name, row) for row in rows_of(name)]


def prompt_of(name, row):
    """The whole official prompt of a row."""
    task = find_task(name)
    return benchmark_of(task).render(task, row)
