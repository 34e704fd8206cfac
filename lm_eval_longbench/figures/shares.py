"""Shares of answers that failed, were capped or had their prompt cut, and what truncation costs."""

from __future__ import annotations

import numpy as np

from lm_eval_longbench.figures.answers import Answers
from lm_eval_longbench.figures.figure import Figure, Unit, leaf
from lm_eval_longbench.figures.tree import Contrast

SHARES = "shares"
FAILED, CAPPED, TRUNCATED, LOSS = "failed", "capped", "truncated", "truncation loss"
_SHARE = Unit("share", 1, 100, 2)


def _share(answers: Answers, name: str, flags: np.ndarray) -> Figure:
    """Return the share over the questions of which it is known of every answer."""
    means = answers.means(answers.given, flags)
    tree = leaf(answers, name, ~np.isnan(means), means, answers.given)
    return Figure(SHARES, name, tree, _SHARE)


def shares(answers: Answers) -> list[Figure]:
    """Return the shares of failed, capped and truncated answers, and the loss by truncation.

    The loss is the mean score of the questions whose prompt was cut less that of the others. They
    are other questions, about longer documents: it is no effect of the cut alone.
    """
    means, cut = answers.means(answers.given), answers.means(answers.given, answers.truncated)
    shorter = leaf(answers, f"{LOSS}/cut", cut > 0, means, answers.given)
    whole = leaf(answers, f"{LOSS}/whole", cut == 0, means, answers.given)
    return [
        _share(answers, FAILED, answers.failed.astype(np.float64)),
        _share(answers, CAPPED, answers.capped),
        _share(answers, TRUNCATED, answers.truncated),
        Figure(SHARES, LOSS, Contrast(shorter, whole), _SHARE),
    ]
