"""The figures and counts of one table, from questions as they pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

from lm_eval_longbench.benchmarks.registry import benchmark_of_table, tables
from lm_eval_longbench.figures.answers import Columns
from lm_eval_longbench.figures.counts import counts, task_counts
from lm_eval_longbench.logs.scored_files import Otherwise, ReportTable
from lm_eval_longbench.metrics.reasoning import DROP, KEEP


class TableReport:
    """One table's part of report.json.

    Args:
        name: of the table.
        repeats: answers that each question should have.
        official: whether its questions are official ones, so that it is known which are missing.
        reasoning: policy by which reasoning was scored.
        reasoned: whether any of its answers holds reasoning, so that the other policy gives other
            figures.
        copies: questions of a task that are there already, by task; None: not known.
    """

    def __init__(
        self,
        name: str,
        repeats: int,
        *,
        official: bool,
        reasoning: str = DROP,
        reasoned: bool = False,
        copies: Mapping[str, int | None] = MappingProxyType({}),
    ) -> None:
        self._benchmark, self._table = benchmark_of_table(name), tables()[name]
        self._reasoning: str | None = reasoning
        self._copies = copies
        # Under the policy for reasoning, and if need be under the other one.
        self._ways = [
            Columns(self._benchmark, self._table, repeats, official, swapped)
            for swapped in (False, True)[: 1 + reasoned]
        ]
        self._malformed: Counter[str] = Counter()
        self._duplicate: Counter[str] = Counter()
        self._unplaced = 0

    def expect(self, task: str | None, malformed: int) -> None:
        """Have a task in the report, and count the malformed lines of one of its files.

        No task: the file does not tell; its lines count for the table.
        """
        if task is None:
            self._unplaced += malformed
            return
        self._malformed[task] += malformed
        for columns in self._ways:
            columns.expected.add(task)

    def count_duplicates(self, task: str, number: int) -> None:
        """Count samples of a task that were left out."""
        self._duplicate[task] += number

    def add(self, lines: Iterable[Mapping[str, Any]], number: int = 0) -> None:
        """Add output lines, one an answer.

        Raises:
            BadRow: a line does not fit, and `number` is its place; KeyError: a field is missing.
        """
        for line in lines:
            for columns in self._ways:
                columns.add(line, number)

    def settle(self, repeats: int, reasoning: str | None, *, reasoned: bool) -> None:
        """Replace what was not known before all lines were read; `reasoned` must have been true."""
        self._ways, self._reasoning = self._ways[: 1 + reasoned], reasoning
        for columns in self._ways:
            columns.repeats = repeats

    def as_json(
        self, *, data: Sequence[str], embedding_model: str | None, runs: Sequence[str]
    ) -> ReportTable:
        """Return the table's part of the report; `data` are labels, `runs` names.

        Raises BadRow for answers that contradict each other.
        """
        answers, *others = (columns.finish() for columns in self._ways)
        figures = self._benchmark.figures(answers)
        other = others[0] if others else None
        otherwise: Otherwise | None = None
        if other is not None:
            otherwise = {
                "policy": DROP if self._reasoning == KEEP else KEEP,
                "official": self._benchmark.official(other, self._benchmark.figures(other)),
            }
        whole = counts(answers, self._malformed.total() + self._unplaced, self._duplicate.total())
        present = answers.expected | self._duplicate.keys()
        table: ReportTable = {
            "benchmark": self._benchmark.name,
            "official": self._benchmark.official(answers, figures),
            "repeats": answers.repeats,
            "data": list(data),
            "embedding_model": embedding_model,
            "runs": list(runs),
            "reasoning": {
                "policy": self._reasoning,
                "answers": whole["reasoned"],
                "other": otherwise,
            },
            "counts": whole,
            "failures": dict(answers.failures),
            "tasks": {
                task: task_counts(
                    answers,
                    task,
                    other,
                    malformed=self._malformed[task],
                    duplicate=self._duplicate[task],
                    copies=self._copies.get(task, 0),
                )
                for task in self._table.tasks
                if task in present
            },
        }
        table.update(cast(Any, self._benchmark.parts(answers, figures)))
        return table
