"""The official summary of LongBench Pro from questions as they pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lm_eval_longbench.aggregation.longbench_pro import ProSummary, mean_score
from lm_eval_longbench.offline.score_tables import TableInfo


class ProFigures:
    """The official summary. No question is kept.

    Args:
        table: one form of asking.
        repeats: number of runs.
    """

    def __init__(self, table: TableInfo, repeats: int) -> None:
        self._summary = ProSummary(repeats)

    def expect(self, task: str) -> None:
        """Do nothing: the summary has no figure of a secondary task."""

    def add(self, task: str, lines: Sequence[dict[str, Any]]) -> float | None:
        """Add a question from its output lines, one an answer; return its score."""
        scores = {line["repeat"]: line["score"] for line in lines}
        self._summary.add(scores, lines[0], sum(line["failed"] for line in lines))
        return mean_score(list(scores.values()))

    def official(self) -> dict[str, Any]:
        """Return the summary in the official schema."""
        return self._summary.result()
