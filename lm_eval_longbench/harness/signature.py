"""The signature of a task's run, gathered while the harness goes along."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lm_eval_longbench.provenance.signature import INGREDIENTS, completed, line

# Figures whose values tell counts.
COUNTED = ("failed", "reasoned", "truncated")


class Signature:
    """Ingredients as they become known, and what else a results file says of a run.

    Attributes:
        run: the complete signature, further keys, and under "signature" the line; always the same
            object.
    """

    def __init__(self) -> None:
        self.run: dict[str, Any] = {}

    def update(self, **known: Any) -> None:
        """Add what has become known, and write the line anew."""
        self.run.update(known)
        whole = completed({key: self.run[key] for key in INGREDIENTS if key in self.run})
        self.run.update(whole)
        self.run["signature"] = line(whole)

    def count(self, figure: str, values: Sequence[float]) -> None:
        """Add the counts that all values of one figure tell.

        Args:
            figure: "failed" or "reasoned", a share of a question's answers, or "truncated".
            values: one a question.
        """
        answers = 1 if figure == "truncated" else self.run["repeats"]
        self.update(answered=len(values), **{figure: round(sum(values) * answers)})
