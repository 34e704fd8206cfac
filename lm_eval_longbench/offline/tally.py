"""Count a table's samples, task by task, while they pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lm_eval_longbench.aggregation.means import running_mean
from lm_eval_longbench.metrics.reasoning import otherwise
from lm_eval_longbench.offline.score_tables import TaskInfo


@dataclass(slots=True)
class Tally:
    """Counts of one task, or of one table.

    Attributes:
        questions, samples, failed, unscored, unparsed: of what was scored.
        reasoned: samples whose answer holds reasoning.
        truncated: samples whose prompt was cut; None while no sample says.
        inconsistent: questions with fewer answers than the table has repeats.
        malformed, duplicate: lines and samples that were not scored.
    """

    questions: int = 0
    samples: int = 0
    failed: int = 0
    unscored: int = 0
    unparsed: int = 0
    reasoned: int = 0
    truncated: int | None = None
    inconsistent: int = 0
    malformed: int = 0
    duplicate: int = 0
    _total: float = 0.0
    _unknown: bool = False
    _otherwise: float | None = 0.0
    _rouge_google: float | None = None

    def add(
        self,
        lines: Sequence[dict[str, Any]],
        score: float | None,
        repeats: int,
        otherwise_score: float | None = None,
    ) -> None:
        """Add a question.

        Args:
            lines: its output lines, one an answer.
            score: the mean over them, in [0, 1]; None: unscored.
            repeats: answers that each question of the table should have.
            otherwise_score: the same under the other policy for reasoning.
        """
        self.questions += 1
        self.samples += len(lines)
        self.inconsistent += len(lines) < repeats
        if "rougeL_google" in lines[0]:
            mean = running_mean(line["rougeL_google"] for line in lines)
            self._rouge_google = (self._rouge_google or 0.0) + mean
        for line in lines:
            self.failed += line["failed"]
            self.unscored += line["score"] is None
            self.unparsed += line.get("unparsed", False)
            self.reasoned += otherwise(line) is not None
            if line["truncated"] is not None:
                self.truncated = (self.truncated or 0) + line["truncated"]
        if score is None:
            self._unknown = True
        else:
            # From the left, as the harness adds; see `aggregation.means.running_mean`.
            self._total += score
        known = self._otherwise is not None and otherwise_score is not None
        self._otherwise = self._otherwise + otherwise_score if known else None

    @property
    def score(self) -> float | None:
        """The mean over the questions; None without one or with an unscored one."""
        return self._total / self.questions if self.questions and not self._unknown else None

    @property
    def score_otherwise(self) -> float | None:
        """The same mean under the other policy for reasoning."""
        known = self.questions and self._otherwise is not None
        return self._otherwise / self.questions if known else None

    @property
    def rouge_google(self) -> float | None:
        """The mean of Google's ROUGE-L over the questions; None: it was not computed."""
        return None if self._rouge_google is None else self._rouge_google / self.questions

    def missing(self, info: TaskInfo) -> int:
        """Return how many of the task's official questions are not there."""
        return max(0, info.questions - self.questions)
