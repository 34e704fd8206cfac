"""The official figures of LongBench v1 and LongBench-E from questions as they pass."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

from lm_eval_longbench.aggregation.length_buckets import BUCKETS, bucket
from lm_eval_longbench.aggregation.longbench_v1 import bucket_percent, percent
from lm_eval_longbench.aggregation.means import running_mean
from lm_eval_longbench.offline.score_tables import TableInfo


class V1Figures:
    """LongBench v1: percent by dataset. Eight bytes are kept of each question.

    Args:
        table: whose tasks are the datasets.
        repeats: not used: a question counts by the mean of the answers that it has.
    """

    def __init__(self, table: TableInfo, repeats: int) -> None:
        self._table = table
        self._scores: dict[str, array[float]] = {}

    def expect(self, task: str) -> None:
        """Have a task in the result even if no line of its file can be scored."""
        self._scores.setdefault(task, array("d"))

    def add(self, task: str, lines: Sequence[dict[str, Any]]) -> float | None:
        """Add a question from its output lines, one an answer; return its score."""
        score = running_mean(line["score"] for line in lines)
        self.expect(task)
        self._scores[task].append(score)
        return score

    def official(self) -> dict[str, Any]:
        """Return the figures in the official schema."""
        return {
            info.label: percent(self._scores[task])
            for task, info in self._table.tasks.items()
            if task in self._scores
        }


class EFigures:
    """LongBench-E: percent by dataset and length bucket. Eight bytes are kept of each question.

    Args:
        table: whose tasks are the datasets.
        repeats: not used: a question counts by the mean of the answers that it has.
    """

    def __init__(self, table: TableInfo, repeats: int) -> None:
        self._table = table
        self._scores: dict[str, dict[str, array[float]]] = {}

    def expect(self, task: str) -> None:
        """Have a task in the result even if no line of its file can be scored."""
        self._scores.setdefault(task, {name: array("d") for name in BUCKETS})

    def add(self, task: str, lines: Sequence[dict[str, Any]]) -> float | None:
        """Add a question from its output lines, one an answer; return its score."""
        score = running_mean(line["score"] for line in lines)
        self.expect(task)
        self._scores[task][bucket(lines[0]["length"])].append(score)
        return score

    def official(self) -> dict[str, Any]:
        """Return the figures in the official schema."""
        return {
            info.label: bucket_percent(self._scores[task])
            for task, info in self._table.tasks.items()
            if task in self._scores
        }
