"""The samples of a scored folder by question, and what is counted of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lm_eval_longbench.aggregation.means import running_mean
from lm_eval_longbench.metrics.reasoning import otherwise

Sample = Mapping[str, Any]


@dataclass
class Question:
    """All samples of one question, one a repeat, in the order of the file."""

    samples: list[Sample] = field(default_factory=list)

    def values(self, name: str = "score") -> list[float | None]:
        """Return a field of every sample; None where one lacks it."""
        return [sample.get(name) for sample in self.samples]

    def mean(self, name: str = "score") -> float | None:
        """Return the mean of a field over the samples; None if one of them is None."""
        values = self.values(name)
        return None if None in values else running_mean(values)  # type: ignore[arg-type]


def under_other_policy(question: Question) -> Question:
    """Return a question with what its answers are worth under the other policy for reasoning."""
    return Question([{**own, **(otherwise(own) or {})} for own in question.samples])


def total(questions: Sequence[Question], name: str) -> int:
    """Return how many samples have a field that is true."""
    return sum(bool(value) for question in questions for value in question.values(name))


def counts_of(questions: Sequence[Question]) -> dict[str, int | None]:
    """Return the counts that tables and tasks of a report share.

    `truncated` counts the samples whose prompt was cut; None if no sample tells.
    """
    samples = [sample for question in questions for sample in question.samples]
    unscored = sum(sample["score"] is None for sample in samples)
    known = [value for sample in samples if (value := sample.get("truncated")) is not None]
    return {
        "questions": len(questions),
        "samples": len(samples),
        "scored": len(samples) - unscored,
        "unscored": unscored,
        "failed": total(questions, "failed"),
        "reasoned": sum(otherwise(sample) is not None for sample in samples),
        "truncated": sum(known) if known else None,
    }
