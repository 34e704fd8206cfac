"""Effective context length by the measured lengths of prompts, where no official lengths are even.

Prompts are sorted to the nearest of the lengths FIRST, 2 FIRST, 4 FIRST, ... on a scale of factors;
lengths with too few questions for an interval join the next longer one. A group stands at the
geometric mean of its prompts. A prompt that was cut, and whose whole length nobody counted, is
longer than the limit: it stands at the limit, with the longest prompts that were not cut.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lm_eval_longbench.figures.answers import Answers
from lm_eval_longbench.figures.effective import SHARE, Effective, effective
from lm_eval_longbench.figures.figure import leaf
from lm_eval_longbench.figures.intervals import FEWEST
from lm_eval_longbench.figures.tree import Leaf

# Tokens of the shortest length; each of LENGTHS is twice the one before.
FIRST, LENGTHS = 8192, 8


@dataclass(frozen=True)
class ByTokens:
    """The score by measured length.

    Attributes:
        positions: of each group in steps from FIRST, a step a doubling, from 0 to LENGTHS - 1.
        leaves: score of each group, the shortest prompts first.
    """

    positions: tuple[float, ...]
    leaves: tuple[Leaf, ...]

    @property
    def longest(self) -> float:
        """Where the last group stands: of what is longer nothing is known."""
        return self.positions[-1]

    def effective(self, share: float = SHARE) -> Effective | None:
        """Return how far a run keeps its score, in steps from FIRST; as `effective.effective`."""
        found = effective(self.leaves, share)
        if found is None:
            return None
        ends = (found.position, found.low, found.high)
        moved = [None if end is None else self._step(end) for end in ends]
        assert moved[0] is not None
        return replace(found, position=moved[0], low=moved[1], high=moved[2])

    def _step(self, group: float) -> float:
        return float(np.interp(group, np.arange(len(self.positions)), self.positions))


def _groups(steps: np.ndarray) -> list[np.ndarray]:
    """Return the questions of each group, bool [questions]: steps of FEWEST questions or more."""
    found: list[np.ndarray] = []
    waiting = np.zeros(len(steps), bool)
    for step in np.unique(steps):
        waiting = waiting | (steps == step)
        if np.count_nonzero(waiting) >= FEWEST:
            found.append(waiting)
            waiting = np.zeros(len(steps), bool)
    if waiting.any() and found:
        found[-1] = found[-1] | waiting
    return found


def by_tokens(answers: Answers, tokens: np.ndarray, cut_at: np.ndarray) -> ByTokens | None:
    """Return the score by measured length; None where there are fewer than two groups.

    Args:
        answers: of one table.
        tokens: float64 [questions], of each whole prompt; NaN: it was cut and not counted.
        cut_at: float64 [questions], the limit at which such a prompt was cut; NaN: of others.
    """
    known = np.where(np.isnan(tokens), cut_at, tokens)
    if not len(known) or np.isnan(known).any():
        return None
    limits = cut_at[np.isnan(tokens)]
    if len(limits):  # lengths beyond the limit cannot be told apart for all
        known = np.minimum(known, limits.min())
    exact = np.clip(np.log2(np.maximum(known, 1.0) / FIRST), 0.0, LENGTHS - 1.0)
    groups = _groups(np.rint(exact))
    if len(groups) < 2:
        return None
    means = answers.means(answers.given)
    leaves = [
        leaf(answers, f"tokens/{number}", chosen, means, answers.given)
        for number, chosen in enumerate(groups)
    ]
    positions = [float(exact[chosen].mean()) for chosen in groups]
    return ByTokens(tuple(positions), tuple(leaves))
