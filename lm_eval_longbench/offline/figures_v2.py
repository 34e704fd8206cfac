"""The official figures of LongBench v2 from questions as they pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from lm_eval_longbench.aggregation.longbench_v2 import official_table
from lm_eval_longbench.aggregation.means import running_mean
from lm_eval_longbench.catalog_v2 import COUNTS, DIFFICULTIES, LENGTHS, QUESTIONS
from lm_eval_longbench.offline.score_tables import TableInfo

# Official questions behind each figure.
_OFFICIAL = {"overall": QUESTIONS, **COUNTS["difficulty"], **COUNTS["length"]}
_KINDS = {
    (difficulty, length): {"difficulty": difficulty, "length": length}
    for difficulty in DIFFICULTIES
    for length in LENGTHS
}
Worths = list[tuple[dict[str, str], float]]


class V2Figures:
    """Percent of right answers: overall, by difficulty, by length. A few bytes a question.

    Args:
        table: one mode of asking.
        repeats: answers that each question should have.
    """

    def __init__(self, table: TableInfo, repeats: int) -> None:
        self._repeats = repeats
        self._official: Worths = []
        self._compensated: Worths = []
        self._given: Worths = []
        self._given_compensated: Worths = []
        self._strict: Counter[str] = Counter()
        self._questions: Counter[str] = Counter()
        self._samples: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._unparsed: Counter[str] = Counter()
        self._dropped: Counter[str] = Counter()

    def expect(self, task: str) -> None:
        """Do nothing: the table is the task."""

    def add(self, task: str, lines: Sequence[dict[str, Any]]) -> float | None:
        """Add a question from its output lines, one an answer; return its score."""
        scores = [line["score"] for line in lines]
        kind = _KINDS[lines[0]["difficulty"], lines[0]["length"]]
        score = running_mean(scores)
        self._given.append((kind, score))
        compensated = running_mean(line["compensated"] for line in lines)
        self._given_compensated.append((kind, compensated))
        written = [line for line in lines if not line["dropped"]]
        if written:
            self._official.append((kind, running_mean(line["score"] for line in written)))
            compensated = running_mean(line["compensated"] for line in written)
            self._compensated.append((kind, compensated))
        for name in ("overall", *kind.values()):
            self._strict[name] += sum(scores) / self._repeats
            self._questions[name] += 1
            self._samples[name] += len(lines)
            self._failed[name] += sum(line["failed"] for line in lines)
            self._dropped[name] += len(lines) - len(written)
            self._unparsed[name] += sum(line["unparsed"] for line in lines)
        return score

    def official(self) -> dict[str, Any]:
        """Return what the official scripts print for the same answers.

        They write no line for a failed call, so that it is in no denominator; each line of their
        own files counts. `compensated` is their other mode: an answer without a letter is worth a
        quarter. `n` counts answers; `unparsed` and `failed` are among all that were given.
        """
        return {
            **official_table(self._official),
            "compensated": official_table(self._compensated),
            "n": self._samples["overall"] - self._dropped["overall"],
            "unparsed": self._unparsed["overall"],
            "failed": self._failed["overall"],
        }

    def accuracy(self) -> dict[str, Any]:
        """Return the figures over every answer given: `acc` and `acc_compensated` of a run.

        A failed answer is wrong, or worth a quarter as any that names no letter.
        """
        return {
            **official_table(self._given),
            "compensated": official_table(self._given_compensated),
            "n": self._samples["overall"],
        }

    def strict(self) -> dict[str, Any] | None:
        """Return the figures over all official questions: what is missing or failed is wrong.

        None if there are more questions of a kind than official ones.
        """
        if any(self._questions[name] > number for name, number in _OFFICIAL.items()):
            return None
        figures: dict[str, Any] = {
            name: round(100 * self._strict[name] / number, 1) for name, number in _OFFICIAL.items()
        }
        return {**figures, "n": QUESTIONS * self._repeats}

    def parts(self) -> dict[str, dict[str, int]]:
        """Return the counts behind each figure."""
        return {
            name: {
                "questions": self._questions[name],
                "samples": self._samples[name],
                "failed": self._failed[name],
                "unparsed": self._unparsed[name],
                "dropped": self._dropped[name],
                "official_questions": number,
            }
            for name, number in _OFFICIAL.items()
        }
