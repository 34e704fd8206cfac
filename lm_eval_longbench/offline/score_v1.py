"""Score a sample of LongBench v1 or LongBench-E."""

from __future__ import annotations

from lm_eval_longbench.catalog import split_of_task
from lm_eval_longbench.metrics.longbench_v1 import (
    ROUGE_DATASETS,
    rouge_l_google_sample,
    score_sample,
)
from lm_eval_longbench.metrics.reasoning import DROP, answer_of
from lm_eval_longbench.offline.sample import Sample
from lm_eval_longbench.offline.scored import Scored


def score(sample: Sample, reasoning: str = DROP) -> Scored:
    """Return what an answer is worth, under a policy for its reasoning."""
    answer = answer_of(sample.response or "", reasoning)
    dataset = split_of_task(sample.task).info.name
    worth = score_sample(dataset, answer, sample.golds, sample.classes)
    return Scored(worth, not answer.strip(), sample.shown)


def add_rouge_google(scored: Scored, sample: Sample, reasoning: str) -> None:
    """Add Google's ROUGE-L to the fields of an answer's output line, where its dataset has it."""
    dataset = split_of_task(sample.task).info.name
    if dataset in ROUGE_DATASETS:
        answer = answer_of(sample.response or "", reasoning)
        value = rouge_l_google_sample(dataset, answer, sample.golds)
        scored.shown = {**scored.shown, "rougeL_google": value}
