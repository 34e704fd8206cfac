"""Count a table's samples, task by task, while they pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lm_eval_longbench.offline.score_tables import TaskInfo


@dataclass(slots=True)
class Tally:
    """Counts of one task, or of one table.

    Attributes:
        questions, samples, failed, unscored, unparsed: of what was scored.
        truncated: samples whose prompt was cut; None while no sample says.
        inconsistent: questions with fewer answers than the table has repeats.
        malformed, duplicate: lines and samples that were not scored.
    """

    questions: int = 0
    samples: int = 0
    failed: int = 0
    unscored: int = 0
    unparsed: int = 0
    truncated: int | None = None
    inconsistent: int = 0
    malformed: int = 0
    duplicate: int = 0
    _total: float = 0.0
    _unknown: bool = False

    def add(self, lines: Sequence[dict[str, Any]], score: float | None, repeats: int) -> None:
        """Add a question.

        Args:
            lines: its output lines, one an answer.
            score: the mean over them, in [0, 1]; None: unscored.
            repeats: answers that each question of the table should have.
        """
        self.questions += 1
        self.samples += len(lines)
        self.inconsistent += len(lines) < repeats
        for line in lines:
            self.failed += line["failed"]
            self.unscored += line["score"] is None
            self.unparsed += line.get("unparsed", False)
            if line["truncated"] is not None:
                self.truncated = (self.truncated or 0) + line["truncated"]
        if score is None:
            self._unknown = True
        else:
            # From the left, as the harness adds; see `aggregation.means.running_mean`.
            self._total += score

    @property
    def score(self) -> float | None:
        """The mean over the questions; None without one or with an unscored one."""
        return self._total / self.questions if self.questions and not self._unknown else None

    def missing(self, info: TaskInfo) -> int:
        """Return how many of the task's official questions are not there."""
        return max(0, info.questions - self.questions)
