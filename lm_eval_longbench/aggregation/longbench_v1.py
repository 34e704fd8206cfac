"""Figures of LongBench v1 and LongBench-E: of one sample, and of a whole dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lm_eval_longbench.aggregation.length_buckets import BUCKETS, bucket
from lm_eval_longbench.aggregation.means import running_mean
from lm_eval_longbench.catalog import Split
from lm_eval_longbench.metrics.longbench_v1 import rouge_l_google_sample, score_sample
from lm_eval_longbench.metrics.reasoning import strip_reasoning

# Harness metric of each LongBench-E bucket.
BUCKET_METRICS = {"0-4k": "score_0_4k", "4-8k": "score_4_8k", "8k+": "score_8k_plus"}
# Datasets that also report Google's ROUGE-L.
ROUGE_DATASETS = frozenset({"gov_report", "qmsum", "multi_news", "samsum"})


def metric_names(split: Split) -> tuple[str, ...]:
    """Return the figures of a dataset's samples, the official one first."""
    return (
        "score",
        *(BUCKET_METRICS.values() if split.is_e else ()),
        *(("rougeL_google",) if split.info.name in ROUGE_DATASETS else ()),
        "failed",
        "truncated",
    )


def sample_figures(
    split: Split,
    response: str,
    answers: Sequence[str],
    all_classes: Sequence[str] | None,
    length: int,
    truncated: bool,
) -> dict[str, float | None]:
    """Return every figure of one sample under the names of `metric_names`, in that order.

    Scores are in [0, 1]. `failed` is 1.0 for an answer that is empty once its reasoning is gone,
    `truncated` is 1.0 for a prompt that was cut. A length bucket the sample is not in is None.
    """
    dataset = split.info.name
    answer = strip_reasoning(response)
    score = score_sample(dataset, answer, answers, all_classes)
    figures: dict[str, float | None] = {"score": score}
    if split.is_e:
        own = bucket(length)
        figures |= {
            metric: score if name == own else None for name, metric in BUCKET_METRICS.items()
        }
    if dataset in ROUGE_DATASETS:
        figures["rougeL_google"] = rouge_l_google_sample(dataset, answer, answers)
    figures["failed"] = float(not answer.strip())
    figures["truncated"] = float(truncated)
    return figures


def percent(scores: Sequence[float]) -> float | None:
    """Return the official figure of a v1 dataset: mean in percent, two decimals; None if empty."""
    return round(100 * running_mean(scores), 2) if scores else None


def bucket_percent(scored: Mapping[str, Sequence[float]]) -> dict[str, float | None]:
    """Return the official figures of a LongBench-E dataset: percent by bucket, two decimals.

    Args:
        scored: scores by bucket name. An empty bucket is None, never 0.
    """
    # numpy's mean, as the official scorer: it adds pairwise, and the last digit can tell.
    return {
        name: round(100 * float(np.mean(scored[name])), 2) if scored.get(name) else None
        for name in BUCKETS
    }
