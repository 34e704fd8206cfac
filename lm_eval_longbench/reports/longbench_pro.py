"""The table of LongBench Pro: overall, by run, by dimension, best-of-N and pass@N."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from lm_eval_longbench.aggregation.longbench_pro import SUMMARY_PRIMARY_TASKS, pass_at_n
from lm_eval_longbench.catalog_pro import DIMENSIONS, SECONDARY_TASKS
from lm_eval_longbench.reports.figure import PRO_SHARE
from lm_eval_longbench.reports.scored import ScoredTable
from lm_eval_longbench.reports.spec import Spec

OVERALL, ITERATION, SECONDARY, BEST, PASS = (
    "overall",
    "iteration",
    "secondary_task",
    "best of N",
    "pass@N",
)


class _Table:
    """Specs of one table; every figure is a mean over the questions that have an answer to it."""

    def __init__(self, table: ScoredTable) -> None:
        self._table = table
        summaries = [table.has("primary_task", name) for name in SUMMARY_PRIMARY_TASKS]
        self._is_summary = np.any(summaries, axis=0)

    def spec(
        self,
        section: str,
        name: str,
        values: np.ndarray,
        counted: np.ndarray,
        official: Any = None,
        among: np.ndarray | None = None,
        **more: bool,
    ) -> Spec:
        """Return one figure.

        Args:
            section, name: its place.
            values: of all questions, [questions].
            counted: the answers they are made of, bool [questions, repeats].
            official: its value in the official summary.
            among: the questions it is about, bool [questions]; all of them if not given.
            more: `detail`, `binary`.
        """
        chosen = counted.any(axis=1)
        leaf = self._table.leaf(
            f"{section}/{name}",
            chosen if among is None else chosen & among,
            values,
            counted,
            binary=more.pop("binary", False),
        )
        return Spec(section, name, leaf, PRO_SHARE, in_official=True, official=official, **more)

    def by_dimension(
        self,
        prefix: str,
        values: np.ndarray,
        counted: np.ndarray,
        official: dict[str, Any],
        **more: bool,
    ) -> Iterator[Spec]:
        """Yield the mean of each value of each dimension."""
        for dimension, names in DIMENSIONS.items():
            for name in names:
                among = self._table.has(dimension, name)
                stated = official[dimension].get(name)
                section = f"{prefix}{dimension}"
                yield self.spec(section, name, values, counted, stated, among, **more)

    def secondary(self, values: np.ndarray, counted: np.ndarray) -> Iterator[Spec]:
        """Yield the mean of each secondary task, which the official summary does not have."""
        for name in SECONDARY_TASKS:
            leaf = self._table.leaf(
                f"{SECONDARY}/{name}", self._table.has(SECONDARY, name), values, counted
            )
            yield Spec(SECONDARY, name, leaf, PRO_SHARE, detail=True)

    def best(self, counted: np.ndarray) -> np.ndarray:
        """Return each question's best score; NaN if one is unscored or there is none."""
        scores = self._table.scores
        unknown = (counted & np.isnan(scores)).any(axis=1) | ~counted.any(axis=1)
        return np.where(unknown, np.nan, np.where(counted, scores, -1.0).max(axis=1))

    def passed(self, best: np.ndarray) -> np.ndarray:
        """Return 1.0 for each question whose best score passes, else 0.0; NaN of NaN."""
        figures = (
            pass_at_n([None if np.isnan(score) else score], bool(is_summary))
            for score, is_summary in zip(best, self._is_summary, strict=True)
        )
        return np.array([np.nan if figure is None else figure for figure in figures], np.float64)


def specs(table: ScoredTable) -> list[Spec]:
    """Return every figure of the official summary, and the means of the secondary tasks.

    Figures are shares. An unscored summary leaves every figure that contains it without a value.
    A question that lacks a run takes part with the runs it has.
    """
    own, official = _Table(table), table.facts.official
    given = table.given
    means = table.mean_of(given)
    stated = {name: official.get(f"average_{name}_metric", {}) for name in DIMENSIONS}
    found = [own.spec(OVERALL, OVERALL, means, given, official.get("average_overall_metric"))]
    bests = []
    for run in range(1, table.facts.repeats + 1):
        only = np.zeros_like(given)
        only[:, run - 1] = given[:, run - 1]
        figure = official.get(f"inference_iteration_{run}_overall_metric")
        found.append(own.spec(ITERATION, f"{ITERATION} {run}", table.mean_of(only), only, figure))
        upto = given & (np.arange(table.facts.repeats) < run)
        bests.append((run, upto, own.best(upto)))
    found += own.by_dimension("", means, given, stated)
    for run, upto, best in bests:
        figure = official.get(f"BoN-{run}", {}).get("overall_metric")
        found.append(own.spec(BEST, f"best of {run}", best, upto, figure))
    for run, upto, best in bests:
        figure = official.get(f"pass@{run}")
        passed = own.passed(best)
        found.append(own.spec(PASS, f"pass@{run}", passed, upto, figure, binary=True))
    found += own.secondary(means, given)
    for run, upto, best in bests:
        stated = official.get(f"BoN-{run}", {})
        stated = {name: stated.get(name, {}) for name in DIMENSIONS}
        found += own.by_dimension(f"best of {run}, ", best, upto, stated, detail=True)
    return found
