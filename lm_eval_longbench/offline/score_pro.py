"""Score a sample of LongBench Pro."""

from __future__ import annotations

from lm_eval_longbench.catalog_pro import SECONDARY_TASKS
from lm_eval_longbench.metrics.longbench_pro import SummaryParts, sample_failed, score_sample
from lm_eval_longbench.metrics.reasoning import DROP, answer_of
from lm_eval_longbench.offline.sample import Sample
from lm_eval_longbench.offline.scored import Scored


def score(sample: Sample, reasoning: str = DROP) -> Scored:
    """Return what an answer is worth; a summary (T4) has no score yet, unless it is empty."""
    answer = answer_of(sample.response or "", reasoning)
    task = SECONDARY_TASKS[sample.shown["secondary_task"]]
    worth = score_sample(task.metric, sample.shown["language"], answer, sample.golds)
    if isinstance(worth, SummaryParts):
        return Scored(
            worth.score(None),
            worth.failed(None),
            {**sample.shown, "rouge_l": worth.rouge_l, "semantic_similarity": None},
            summary=answer,
        )
    return Scored(worth, sample_failed(task.metric, answer, sample.golds), sample.shown)
