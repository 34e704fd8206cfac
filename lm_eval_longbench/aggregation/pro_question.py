"""Figures of one LongBench Pro question over its repeats."""

from __future__ import annotations

from collections.abc import Sequence

from lm_eval_longbench.aggregation.longbench_pro import best_of_n, mean_score, pass_at_n
from lm_eval_longbench.catalog_pro import SecondaryTask
from lm_eval_longbench.metrics.longbench_pro import SummaryParts, sample_failed, score_sample

# What summaries report besides.
SUMMARY_METRICS = ("rouge_l", "semantic_similarity")


def question_figures(
    task: SecondaryTask,
    language: str,
    answers: Sequence[str],
    golds: Sequence[str],
    similarities: Sequence[float | None] | None,
    *,
    official: bool,
    truncated: bool,
) -> dict[str, float | None]:
    """Return every figure of one question, `score` first; those that are not known are None.

    Args:
        task: the secondary task.
        language: the question's language.
        answers: one a repeat, their reasoning taken out.
        golds: gold answers.
        similarities: of summaries, one an answer (None for an empty answer); None: not computed.
        official: whether they come from the official embedding model. Another model's similarity
            is reported, but makes no score.
        truncated: whether the prompt was cut.

    Returns:
        `score` (mean over repeats), `best_of_n` and `pass_at_n`, in [0, 1]; for summaries
        `rouge_l` and `semantic_similarity` (means over repeats); `failed` (share of repeats),
        `truncated`.
    """
    samples = [score_sample(task.metric, language, answer, golds) for answer in answers]
    summaries = [sample for sample in samples if isinstance(sample, SummaryParts)]
    if not summaries:
        scores = samples
        failed = [sample_failed(task.metric, answer, golds) for answer in answers]
        extra: dict[str, float | None] = {}
    else:
        known = list(similarities) if similarities is not None else [None] * len(answers)
        counted = known if official else [None] * len(answers)
        scores = [part.score(value) for part, value in zip(summaries, counted, strict=True)]
        failed = [part.failed(value) for part, value in zip(summaries, counted, strict=True)]
        shown = [
            0.0 if part.empty and similarities is not None else value
            for part, value in zip(summaries, known, strict=True)
        ]
        extra = {
            "rouge_l": mean_score([part.rouge_l for part in summaries]),
            "semantic_similarity": mean_score(shown),
        }
    return {
        "score": mean_score(scores),
        "best_of_n": best_of_n(scores),
        "pass_at_n": pass_at_n(scores, bool(summaries)),
        **extra,
        "failed": mean_score([float(value) for value in failed]),
        "truncated": float(truncated),
    }
