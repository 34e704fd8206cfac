"""In what answers to a task depart from its protocol, by the task's name."""

from lm_eval_longbench.benchmarks.registry import benchmark_of, find_task
from lm_eval_longbench.signature import protocol


def departures(task, signature, repeats, *, thinking=False):
    own = find_task(task)
    return protocol.departures(benchmark_of(own), own, signature, repeats, thinking=thinking)
