"""Whether a second run is worse than the first by more than a margin: paired non-inferiority.

The answer is read off the paired 95% interval: not worse if all of it lies above the margin, worse
if all of it lies below. Each answer is then wrong in at most 5% of samples of questions where the
truth lies at the margin; with 2.5% for a normal distribution, this leaves room for rare large
losses, of which a one-sided 5% end of Student's t is wrong in up to 6.4% of simulated samples.

Where so few questions differ that there is no interval, the ends are a bound that holds whatever
the scores: of how many documents would differ (by the Poisson distribution, which is wider than
that of independent documents), each by a whole score.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lm_eval_longbench.statistics.answers import Answers
from lm_eval_longbench.statistics.intervals import LEVEL, t_interval
from lm_eval_longbench.statistics.tree import Leaf, Mean, Pairing, Tree, differing, few_differ

NOT_WORSE, WORSE, UNDECIDED = "not worse", "worse", "not decided"


@dataclass(frozen=True)
class Margin:
    """The answer, from shares.

    Attributes:
        verdict: NOT_WORSE, WORSE or UNDECIDED.
        value: second less first.
        low, high: ends of the 95% interval, or bounds where there is none.
        n: questions that both have.
        more: about how many more questions would decide; 0: it is decided. None: nobody can tell,
            as the difference is the margin.
        sampling: share of the variance that is the model's own, from one repeat to the next; the
            rest is from question to question. None: a side has no repeats, or the figure is no
            mean over them.
    """

    verdict: str
    value: float
    low: float
    high: float
    n: int
    more: int | None
    sampling: float | None = None


def _combined(tree: Leaf | Mean, own: Callable[[Leaf], float], power: int) -> list[float]:
    """Return a number of each leaf, divided by this power of how many parts it stands beside."""
    if isinstance(tree, Leaf):
        return [own(tree)]
    scale = len(tree.parts) ** power
    return [found / scale for part in tree.parts for found in _combined(part, own, power)]


def _sampling(tree: Leaf | Mean, sides: Sequence[Answers]) -> float | None:
    """Return the share of the variance that is within the repeats of each question."""

    def within(leaf: Leaf) -> float:
        means, noise = np.zeros(len(leaf.keys)), np.zeros(len(leaf.keys))
        for sign, answers in zip((-1, 1), sides, strict=True):
            order = answers.by_key
            rows = order[np.searchsorted(answers.keys[order], leaf.keys)]
            numbers = answers.given[rows].sum(axis=1)
            if (numbers < 2).any():
                return math.nan
            scores = np.where(answers.given[rows], answers.scores[rows], np.nan)
            means += sign * np.nanmean(scores, axis=1)
            noise += np.nanvar(scores, axis=1, ddof=1) / numbers
        # Of the best of several answers, say, the repeats tell nothing.
        is_mean = np.allclose(means, leaf.values, rtol=0, atol=1e-9)
        return math.fsum(noise) / leaf.n**2 if is_mean else math.nan

    total = sum(one.variance for one in tree.influence)
    share = math.fsum(_combined(tree, within, 2)) / total if total > 0 else math.nan
    return None if math.isnan(share) else min(1.0, share)


def judged(
    first: Tree, second: Tree, margin: float, sides: Sequence[Answers] = ()
) -> Margin | None:
    """Return whether the second figure is worse than the first by more than a margin.

    Args:
        first, second: what the figures are made of.
        margin: a share, above 0.
        sides: the answers of both, to tell the noise of sampling apart; (): it is not told.

    Returns:
        None where they have no difference: of ratios, of no shared questions, or one is unscored.
    """
    tree = Pairing().tree(first, second)
    if tree is None or tree.value is None:
        return None
    value, few = tree.value, tree.few or few_differ(tree)
    if few:
        from scipy.special import gammainccinv  # slow to import

        # The largest mean of a Poisson distribution that gives so few with probability 2.5%.
        most = float(gammainccinv(differing(tree) + 1, (1 - LEVEL) / 2))
        heaviest = max(_combined(tree, lambda leaf: float(leaf.influence[0].shares.max()), 1))
        high = min(1.0, most * heaviest)
        low, needed = -high, high / margin
    else:
        low, high = t_interval(value, tree.influence)
        half, away = (high - low) / 2, abs(value + margin)
        needed = (half / away) ** 2 if away > 1e-12 else math.inf
    verdict = NOT_WORSE if low > -margin else WORSE if high < -margin else UNDECIDED
    more = 0 if verdict != UNDECIDED else math.ceil(tree.n * (needed - 1)) if needed < 1e6 else None
    sampling = _sampling(tree, sides) if sides and not few else None
    return Margin(verdict, value, low, high, tree.n, more, sampling)
