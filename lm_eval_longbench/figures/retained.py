"""Which share of a baseline's score another run keeps, on the questions that both have.

The share R is the ratio of two means over the same questions. To first order it moves as the mean
of b - R a does, divided by the mean of a, where a and b are the two scores of a question (Cochran,
Sampling Techniques, 1977, chapter 6). Its interval is that of a paired difference with these
values: what both runs find easy or hard leaves no trace in it.

Where all but a few questions have the same score in both runs, those few say too little about what
other questions would lose, and no interval is made: with answers that are right or wrong, of which
the run loses three in a hundred, it would hold the true share 58% of the time with 60 questions.
`scripts/coverage_of_intervals.py` measures it.
"""

from __future__ import annotations

from dataclasses import dataclass

from lm_eval_longbench.figures.intervals import t_interval, two_sided_p
from lm_eval_longbench.figures.tree import Pairing, Tree, few_differ

# A mean that is this small is 0, and nothing can be kept of it.
_ZERO = 1e-12


@dataclass(frozen=True)
class Retained:
    """The score of a run over that of a baseline.

    Attributes:
        value: the ratio, 1 where nothing is lost; None where it cannot be given: a question that
            both have is unscored, they have none in common, or the baseline's score is 0.
        n: questions that both have.
        low, high: ends of the 95% interval; None where there is none.
        p_value: two-sided, against a ratio of 1; None where there is no interval.
        reason: why there is no value, or no interval; "" otherwise.
    """

    value: float | None
    n: int
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    reason: str = ""


def retained(baseline: Tree, run: Tree) -> Retained | None:
    """Return which share of the baseline's figure a run keeps; None of figures that are ratios.

    Args:
        baseline, run: the same figure of both.
    """
    own, base = Pairing(0.0).tree(baseline, run), Pairing(0.0).tree(run, baseline)
    if own is None or base is None:
        return None
    if own.value is None or base.value is None:
        return Retained(None, own.n, reason="a question is unscored, or a part has none in common")
    if base.value <= _ZERO:
        return Retained(None, own.n, reason="the baseline's score is 0")
    ratio = own.value / base.value
    less, rest = Pairing().tree(baseline, run), Pairing(ratio).tree(baseline, run)
    assert less is not None and rest is not None  # as `own` is not
    few = rest.few or few_differ(less)
    if few:
        return Retained(ratio, own.n, reason=few)
    strata = [one.times(1 / base.value) for one in rest.influence]
    low, high = t_interval(ratio, strata)
    return Retained(ratio, own.n, low, high, two_sided_p(ratio - 1, strata))
