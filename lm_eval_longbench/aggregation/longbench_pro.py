"""Figures of LongBench Pro: of one question over its runs, and the official summary of a model.

A score of None is a summary whose semantic similarity is not known yet. It is neither 0 nor left
out: every figure that would contain it is None.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lm_eval_longbench.aggregation.exact_mean import ExactMean
from lm_eval_longbench.catalog import MOST_REPEATS
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


class _Means:
    """The mean over all questions, and over those with each value of each dimension."""

    def __init__(self) -> None:
        self.overall = ExactMean()
        self._parts = {
            dimension: {value: ExactMean() for value in values}
            for dimension, values in DIMENSIONS.items()
        }

    def add(self, values: Mapping[str, str], figure: float | None) -> None:
        self.overall.add(figure)
        for dimension, parts in self._parts.items():
            parts[values[dimension]].add(figure)

    def by_value(self, dimension: str) -> dict[str, float | None]:
        return {value: mean.value for value, mean in self._parts[dimension].items()}


class ProSummary:
    """The official summary of the questions added so far; it keeps none of them.

    Args:
        iterations: number of runs.
    """

    def __init__(self, iterations: int) -> None:
        self._means = _Means()
        self._runs = [ExactMean() for _ in range(iterations)]
        self._best = [_Means() for _ in range(iterations)]
        self._passed = [ExactMean() for _ in range(iterations)]
        self._questions = self._samples = self._failed = self._unscored = self._incomplete = 0

    def add(
        self, scores: Mapping[int, float | None], values: Mapping[str, str], failed: int
    ) -> None:
        """Add a question.

        Args:
            scores: by run, from 1 to the number of runs; at least one.
            values: of its dimensions, each one of DIMENSIONS.
            failed: how many of its runs failed.
        """
        self._questions += 1
        self._samples += len(scores)
        self._failed += failed
        self._unscored += sum(score is None for score in scores.values())
        self._incomplete += len(scores) != len(self._runs)
        self._means.add(values, mean_score(list(scores.values())))
        is_summary = values["primary_task"] in SUMMARY_PRIMARY_TASKS
        best, known, begun = 0.0, True, False
        for run, mean, bests, passed in zip(
            range(1, len(self._runs) + 1), self._runs, self._best, self._passed, strict=True
        ):
            if run in scores:
                score = scores[run]
                mean.add(score)
                begun, known = True, known and score is not None
                best = max(best, score or 0.0)
            # A question whose first runs are missing has no best of them.
            if begun:
                figure = best if known else None
                bests.add(values, figure)
                passed.add(pass_at_n([figure], is_summary))

    def result(self) -> dict[str, Any]:
        """Return the summary in the official schema; see `summarize`."""
        summary: dict[str, Any] = {
            "total_questions_num": self._questions,
            "inference_iterations": len(self._runs),
            "total_samples_num": self._samples,
            "fail_samples_num": self._failed,
            "inference_inconsistent_samples_num": self._incomplete,
            "average_overall_metric": self._means.overall.value,
        }
        for run, mean in enumerate(self._runs, start=1):
            summary[f"inference_iteration_{run}_overall_metric"] = mean.value
        for dimension in DIMENSIONS:
            summary[f"average_{dimension}_metric"] = self._means.by_value(dimension)
        for runs, (best, passed) in enumerate(zip(self._best, self._passed, strict=True), start=1):
            summary[f"BoN-{runs}"] = {
                "overall_metric": best.overall.value,
                **{dimension: best.by_value(dimension) for dimension in DIMENSIONS},
            }
            summary[f"pass@{runs}"] = passed.value
        return summary | ({"unscored_samples_num": self._unscored} if self._unscored else {})


def _questions(rows: Sequence[Mapping[str, Any]]) -> list[dict[int, Mapping[str, Any]]]:
    """Group rows by question, by run. Raises for a run that comes twice, an unknown dimension."""
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
    return list(runs.values())


def _iterations(rows: Sequence[Mapping[str, Any]], iterations: int | None) -> int:
    """Return the number of runs. Raises for a row of a run that there is not."""
    highest = max((row["bon_idx"] for row in rows), default=0)
    total = highest if iterations is None else iterations
    if total > MOST_REPEATS:
        raise PredictionError(f"There are {total} runs; at most {MOST_REPEATS} are summarized.")
    for row in rows:
        if not 1 <= row["bon_idx"] <= total:
            raise PredictionError(
                f"Question {row['id']!r} has a row of run {row['bon_idx']}, but runs are numbered "
                f"1 to {total}."
            )
    return total


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
    sample that comes twice or is of a run beyond `iterations`, and for more runs than MOST_REPEATS.
    Source of the schema: LongBench Pro, summary.json.
    """
    rows = list(rows)
    summary = ProSummary(_iterations(rows, iterations))
    for own in _questions(rows):
        summary.add(
            {run: row["metric"] for run, row in own.items()},
            own[min(own)],
            sum(bool(row.get("failed")) for row in own.values()),
        )
    return summary.result()
