"""Figures of LongBench Pro: of one question over its runs, and the official summary of a model.

A score of None is a summary whose semantic similarity is not known yet. It is neither 0 nor left
out: every figure that would contain it is None.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lm_eval_longbench.catalog_pro import DIMENSIONS, SECONDARY_TASKS
from lm_eval_longbench.errors import PredictionError, UnknownNameError

SUMMARY_PRIMARY_TASKS = frozenset(
    task.primary for task in SECONDARY_TASKS.values() if task.metric == "summary"
)
# No summary equals its reference: beyond this score it passes.
_SUMMARY_PASS = 0.65

Scores = Sequence[float | None]


def mean_score(scores: Scores) -> float | None:
    """Return the mean; None if a score is None or there is none.

    The sum is exact, so that the order of the scores leaves no trace.
    """
    known = [score for score in scores if score is not None]
    return math.fsum(known) / len(known) if known and len(known) == len(scores) else None


def best_of_n(scores: Scores) -> float | None:
    """Return the best score; None if a score is None or there is none."""
    known = [score for score in scores if score is not None]
    return max(known) if known and len(known) == len(scores) else None


def pass_at_n(scores: Scores, is_summary: bool) -> float | None:
    """Return 1.0 if the best score is 1.0 (of a summary: above 0.65), else 0.0; None as there."""
    best = best_of_n(scores)
    if best is None:
        return None
    return float(best > _SUMMARY_PASS if is_summary else best == 1.0)


class _Question:
    """The scored runs of one question."""

    def __init__(self, rows: Mapping[int, Mapping[str, Any]]) -> None:
        self.scores = {run: rows[run]["metric"] for run in sorted(rows)}
        first = rows[min(rows)]
        self.values = {dimension: first[dimension] for dimension in DIMENSIONS}
        self.is_summary = self.values["primary_task"] in SUMMARY_PRIMARY_TASKS

    def first(self, runs: int) -> list[float | None]:
        """Return the scores of runs 1 to `runs`, as far as there are any."""
        return [score for run, score in self.scores.items() if run <= runs]


def _questions(rows: Sequence[Mapping[str, Any]]) -> list[_Question]:
    """Group rows by question. Raises for a run that comes twice and for an unknown dimension."""
    runs: dict[str, dict[int, Mapping[str, Any]]] = {}
    for row in rows:
        for dimension, values in DIMENSIONS.items():
            if row[dimension] not in values:
                raise UnknownNameError(f"LongBench Pro {dimension}", row[dimension], values)
        own = runs.setdefault(row["id"], {})
        if row["bon_idx"] in own:
            raise PredictionError(
                f"Question {row['id']!r} has run {row['bon_idx']} twice. Keep one of the rows."
            )
        own[row["bon_idx"]] = row
    return [_Question(own) for own in runs.values()]


def _iterations(rows: Sequence[Mapping[str, Any]], iterations: int | None) -> int:
    """Return the number of runs. Raises for a row of a run that there is not."""
    highest = max((row["bon_idx"] for row in rows), default=0)
    total = highest if iterations is None else iterations
    for row in rows:
        if not 1 <= row["bon_idx"] <= total:
            raise PredictionError(
                f"Question {row['id']!r} has a row of run {row['bon_idx']}, but runs are numbered "
                f"1 to {total}."
            )
    return total


def _by_value(
    dimension: str, questions: Sequence[_Question], figures: Scores
) -> dict[str, float | None]:
    """Return the mean figure of each value of a dimension; of a value without a question None."""
    parts: dict[str, list[float | None]] = {value: [] for value in DIMENSIONS[dimension]}
    for question, figure in zip(questions, figures, strict=True):
        parts[question.values[dimension]].append(figure)
    return {value: mean_score(part) for value, part in parts.items()}


def summarize(rows: Iterable[Mapping[str, Any]], iterations: int | None = None) -> dict[str, Any]:
    """Return the official summary of scored samples, the same for any order of the rows.

    Scores are in [0, 1]; a figure without a sample is None. A question that lacks a run is counted
    in `inference_inconsistent_samples_num` and takes part with the runs it has. Figures that would
    contain an unscored summary are None, and then (only then, the official schema has no such key)
    a last key `unscored_samples_num` says how many there are.

    Args:
        rows: `id`, `bon_idx` (run, from 1), the dimensions, `metric` (score or None) and, if
            known, `failed` of each sample.
        iterations: number of runs; without it the highest `bon_idx`.

    Raises UnknownNameError for a value that its dimension does not have, PredictionError for a
    sample that comes twice or is of a run beyond `iterations`.
    Source of the schema: LongBench Pro, summary.json.
    """
    rows = list(rows)
    iterations = _iterations(rows, iterations)
    questions = _questions(rows)
    means = [mean_score(list(question.scores.values())) for question in questions]

    summary: dict[str, Any] = {
        "total_questions_num": len(questions),
        "inference_iterations": iterations,
        "total_samples_num": len(rows),
        "fail_samples_num": sum(bool(row.get("failed")) for row in rows),
        "inference_inconsistent_samples_num": sum(
            len(question.scores) != iterations for question in questions
        ),
        "average_overall_metric": mean_score(means),
    }
    for run in range(1, iterations + 1):
        summary[f"inference_iteration_{run}_overall_metric"] = mean_score(
            [question.scores[run] for question in questions if run in question.scores]
        )
    for dimension in DIMENSIONS:
        summary[f"average_{dimension}_metric"] = _by_value(dimension, questions, means)

    for runs in range(1, iterations + 1):
        # A question whose first runs are missing has no best of them.
        begun = [question for question in questions if question.first(runs)]
        best = [best_of_n(question.first(runs)) for question in begun]
        summary[f"BoN-{runs}"] = {
            "overall_metric": mean_score(best),
            **{dimension: _by_value(dimension, begun, best) for dimension in DIMENSIONS},
        }
        summary[f"pass@{runs}"] = mean_score(
            [pass_at_n(question.first(runs), question.is_summary) for question in begun]
        )
    unscored = sum(row["metric"] is None for row in rows)
    return summary | ({"unscored_samples_num": unscored} if unscored else {})
