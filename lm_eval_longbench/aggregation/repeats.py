"""From the figures of several answers to those of their question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lm_eval_longbench.aggregation.means import running_mean


def mean_of_repeats(figures: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """Return the mean of each figure over the answers to one question.

    All answers have the same figures; one that is None for any of them is None.
    """
    means: dict[str, float | None] = {}
    for name in figures[0]:
        values = [own[name] for own in figures]
        known = [value for value in values if value is not None]
        means[name] = running_mean(known) if len(known) == len(values) else None
    return means
