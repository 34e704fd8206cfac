"""Figures of LongBench v1 and LongBench-E: of one sample, and of a whole dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lm_eval_longbench.aggregation.length_buckets import BUCKETS, bucket
from lm_eval_longbench.aggregation.means import rounded_percent
from lm_eval_longbench.catalog import Split
from lm_eval_longbench.metrics.longbench_v1 import (
    ROUGE_DATASETS,
    rouge_l_google_sample,
    score_sample,
)

# Harness metric of each LongBench-E bucket.
BUCKET_METRICS = {"0-4k": "score_0_4k", "4-8k": "score_4_8k", "8k+": "score_8k_plus"}


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
    answer: str,
    answers: Sequence[str],
    all_classes: Sequence[str] | None,
    length: int,
    truncated: bool,
) -> dict[str, float | None]:
    """Return every figure of one sample under the names of `metric_names`, in that order.

    Scores are in [0, 1]. `failed` is 1.0 for an empty answer, `truncated` is 1.0 for a prompt that
    was cut. A length bucket the sample is not in is None.

    Args:
        split: the dataset.
        answer: what is scored of the response, see `metrics.reasoning.answer_of`.
        answers: gold answers.
        all_classes: class names, where the dataset has them.
        length: of the document.
        truncated: whether its prompt was cut.
    """
    dataset = split.info.name
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
    return rounded_percent(scores, 2)


def bucket_percent(scored: Mapping[str, Sequence[float]]) -> dict[str, float | None]:
    """Return the official figures of a LongBench-E dataset: percent by bucket, two decimals.

    Args:
        scored: scores by bucket name. An empty bucket is None, never 0.
    """
    # As the official scorer: numpy's mean, which adds pairwise, and the rounding of the np.float64
    # that it gives, which is not Python's.
    return {
        name: float(round(100 * np.mean(scored[name]), 2)) if scored.get(name) else None
        for name in BUCKETS
    }
