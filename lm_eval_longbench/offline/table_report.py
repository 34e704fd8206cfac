"""The figures and counts of one table, from questions as they pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from lm_eval_longbench.metrics.reasoning import DROP, KEEP, otherwise
from lm_eval_longbench.offline.figures_pro import ProFigures
from lm_eval_longbench.offline.figures_v1 import EFigures, V1Figures
from lm_eval_longbench.offline.figures_v2 import V2Figures
from lm_eval_longbench.offline.score_tables import TABLES
from lm_eval_longbench.offline.tally import Tally

Figures = V1Figures | EFigures | V2Figures | ProFigures
_FIGURES: dict[str, type[Figures]] = {
    "longbench_v1": V1Figures,
    "longbench_v1_e": EFigures,
    "longbench_v2": V2Figures,
    "longbench_pro": ProFigures,
}


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
        self._info = TABLES[name]
        self._repeats = repeats
        self._official = official
        self._reasoning = reasoning
        kind = _FIGURES[self._info.benchmark]
        self._figures = kind(self._info, repeats)
        self._otherwise = kind(self._info, repeats) if reasoned else None
        self._tallies: dict[str, Tally] = {}
        self._unplaced = 0
        self._copies = copies

    def expect(self, task: str | None, malformed: int) -> None:
        """Have a task in the report, and count the malformed lines of one of its files.

        Args:
            task: None: the file does not tell; its lines count for the table.
            malformed: lines.
        """
        if task is None:
            self._unplaced += malformed
            return
        self._tallies.setdefault(task, Tally()).malformed += malformed
        self._figures.expect(task)
        if self._otherwise is not None:
            self._otherwise.expect(task)

    def count_duplicates(self, task: str, number: int) -> None:
        """Count samples of a task that were left out."""
        self._tallies.setdefault(task, Tally()).duplicate += number

    def add(self, task: str, lines: Sequence[dict[str, Any]]) -> None:
        """Add a question from its output lines, one an answer."""
        score = self._figures.add(task, lines)
        other = None
        if self._otherwise is not None:
            others = [{**line, **(otherwise(line) or {})} for line in lines]
            other = self._otherwise.add(task, others)
        self._tallies.setdefault(task, Tally()).add(lines, score, self._repeats, other)

    def _ordered(self) -> dict[str, Tally]:
        return {task: self._tallies[task] for task in self._info.tasks if task in self._tallies}

    def _sum(self, name: str) -> int:
        return sum(getattr(tally, name) for tally in self._tallies.values())

    def _counts(self) -> dict[str, int | None]:
        known = [tally.truncated for tally in self._tallies.values() if tally.truncated is not None]
        counts: dict[str, int | None] = {
            "questions": self._sum("questions"),
            "samples": self._sum("samples"),
            "scored": self._sum("samples") - self._sum("unscored"),
            "unscored": self._sum("unscored"),
            "failed": self._sum("failed"),
            "reasoned": self._sum("reasoned"),
            "truncated": sum(known) if known else None,
        }
        if self._info.benchmark == "longbench_v2":
            counts["unparsed"] = self._sum("unparsed")
        missing = [
            self._tallies.get(task, Tally()).missing(info)
            for task, info in self._info.tasks.items()
        ]
        return counts | {
            "inconsistent": self._sum("inconsistent"),
            "malformed": self._sum("malformed") + self._unplaced,
            "duplicate": self._sum("duplicate"),
            "official_questions": self._info.questions,
            "missing": sum(missing) if self._official else None,
        }

    def _task(self, task: str, tally: Tally) -> dict[str, Any]:
        info = self._info.tasks[task]
        return {
            "questions": tally.questions,
            "samples": tally.samples,
            "score": tally.score,
            **({} if self._otherwise is None else {"score_otherwise": tally.score_otherwise}),
            **({} if tally.rouge_google is None else {"rougeL_google": tally.rouge_google}),
            "failed": tally.failed,
            "unscored": tally.unscored,
            "reasoned": tally.reasoned,
            "truncated": tally.truncated,
            "malformed": tally.malformed,
            "duplicate": tally.duplicate,
            "copies": self._copies.get(task, 0),
            "official_questions": info.questions,
            "missing": tally.missing(info) if self._official else None,
        }

    def _policies(self) -> dict[str, Any]:
        """Return how reasoning was scored, and the official figures had it been otherwise."""
        other = None
        if self._otherwise is not None:
            policy = DROP if self._reasoning == KEEP else KEEP
            other = {"policy": policy, "official": self._otherwise.official()}
        return {"policy": self._reasoning, "answers": self._sum("reasoned"), "other": other}

    def official(self) -> dict[str, Any]:
        """Return the figures in the benchmark's official schema."""
        return self._figures.official()

    def as_json(
        self, *, data: Sequence[str], embedding_model: str | None, runs: Sequence[str]
    ) -> Mapping[str, Any]:
        """Return the table's part of the report.

        Args:
            data: labels of its data.
            embedding_model: that made the similarities; None: none.
            runs: names of the runs its answers are from.
        """
        report = {
            "benchmark": self._info.benchmark,
            "official": self.official(),
            "repeats": self._repeats,
            "data": list(data),
            "embedding_model": embedding_model,
            "runs": list(runs),
            "reasoning": self._policies(),
            "counts": self._counts(),
            "tasks": {task: self._task(task, tally) for task, tally in self._ordered().items()},
        }
        if isinstance(self._figures, V2Figures):
            report["strict"] = self._figures.strict() if self._official else None
            report["accuracy"] = self._figures.accuracy()
            report["parts"] = self._figures.parts()
        return report
