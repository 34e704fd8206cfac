"""How an answer to a LongBench v2 question is scored: the letter it names, and its worth."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lm_eval_longbench.metrics.reasoning import DROP, answer_of

# ---------------------------------------------------------------------- the letter

# In this order, case-sensitive. Source: LongBench at commit 2e00731, pred.py.
_FORMS = (
    re.compile(r"The correct answer is \(([A-D])\)"),
    re.compile(r"The correct answer is ([A-D])"),
)


def extract_choice(answer: str) -> str | None:
    """Return the letter "A" to "D" that an answer names in the official words, else None.

    Asterisks are taken out first: models print letters in bold.
    """
    plain = answer.replace("*", "")
    for form in _FORMS:
        found = form.search(plain)
        if found:
            return found[1]
    return None


# ---------------------------------------------------------------------- what it is worth

CHOICES = ("A", "B", "C", "D")
# What a question is worth whose answer names no letter: chance among four.
COMPENSATION = 1 / len(CHOICES)


@dataclass(frozen=True)
class Verdict:
    """What an answer to one question is worth.

    Attributes:
        choice: the letter it names in the official words; None: unparsed.
        correct: whether that is the right one.
        failed: whether there is no answer at all. A failed answer is unparsed too; one that was
            cut off while the model was thinking is unparsed, but not failed.
    """

    choice: str | None
    correct: bool
    failed: bool

    @property
    def unparsed(self) -> bool:
        """Whether the answer names no letter."""
        return self.choice is None

    @property
    def accuracy(self) -> float:
        """1.0 or 0.0."""
        return float(self.correct)

    @property
    def compensated(self) -> float:
        """The same, but 0.25 for an answer that names no letter."""
        return COMPENSATION if self.unparsed else self.accuracy


def judge(response: str, answer: str, reasoning: str = DROP) -> Verdict:
    """Return what a response is worth.

    Args:
        response: the model's text.
        answer: the right letter.
        reasoning: whether the letter is read from the reasoning too, see `metrics.reasoning`.
    """
    choice = extract_choice(answer_of(response, reasoning))
    return Verdict(choice, choice == answer, failed=not response.strip())
