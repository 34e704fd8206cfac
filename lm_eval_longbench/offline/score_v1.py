"""Score a sample of LongBench v1 or LongBench-E."""

from __future__ import annotations

from lm_eval_longbench.catalog import split_of_task
from lm_eval_longbench.metrics.longbench_v1 import score_sample
from lm_eval_longbench.metrics.reasoning import strip_reasoning
from lm_eval_longbench.offline.sample import Sample
from lm_eval_longbench.offline.scored import Scored


def score(sample: Sample) -> Scored:
    """Return what an answer is worth, its reasoning taken out."""
    answer = strip_reasoning(sample.response or "")
    dataset = split_of_task(sample.task).info.name
    worth = score_sample(dataset, answer, sample.golds, sample.classes)
    return Scored(worth, not answer.strip(), sample.shown)
