"""What is counted of a table's answers, in the shape of report.json, and shares of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lm_eval_longbench.statistics.answers import Answers
from lm_eval_longbench.statistics.figure import Figure, Unit, leaf
from lm_eval_longbench.statistics.means import running_total
from lm_eval_longbench.statistics.tree import Contrast

if TYPE_CHECKING:
    from lm_eval_longbench.records.scored import TaskCounts


def _known(values: np.ndarray) -> int | None:
    """Return how many values are 1; None if none is known."""
    return None if np.isnan(values).all() else int(np.nansum(values))


def _missing(answers: Answers, task: str) -> int:
    return max(0, answers.table.tasks[task].questions - int(answers.of_task(task).sum()))


def counts(answers: Answers, malformed: int = 0, duplicate: int = 0) -> dict[str, int | None]:
    """Return the counts of a table.

    Args:
        answers: of the table.
        malformed, duplicate: what was not scored, which no answer tells.
    """
    given = answers.given
    samples, unscored = int(given.sum()), int(answers.unscored.sum())
    return {
        "questions": len(answers),
        "samples": samples,
        "scored": samples - unscored,
        "unscored": unscored,
        "failed": int(answers.failed.sum()),
        "reasoned": int(answers.reasoned.sum()),
        "truncated": _known(answers.truncated),
        "capped": _known(answers.capped),
        **{name: int(answers.flags(name).sum()) for name in answers.benchmark.counted_flags},
        "inconsistent": int((~given).any(axis=1).sum()),
        "malformed": malformed,
        "duplicate": duplicate,
        "official_questions": answers.table.questions,
        "missing": sum(_missing(answers, task) for task in answers.table.tasks)
        if answers.official
        else None,
    }


def _mean(answers: Answers, chosen: np.ndarray, values: np.ndarray | None = None) -> float | None:
    """Return the mean over questions, added up from the left as the harness does; None: unknown."""
    means = answers.means(answers.given, values)[chosen]
    if not len(means) or np.isnan(means).any():
        return None
    return running_total(means) / len(means)


def task_counts(
    answers: Answers,
    task: str,
    other: Answers | None = None,
    *,
    malformed: int = 0,
    duplicate: int = 0,
    copies: int | None = 0,
) -> TaskCounts:
    """Return the score of a task in [0, 1], and its counts.

    Args:
        answers: of its table.
        task: its name.
        other: the same answers under the other policy for reasoning; None: no answer has any.
        malformed, duplicate, copies: what no answer tells.
    """
    chosen = answers.of_task(task)
    own = chosen[:, None] & answers.given
    fields: Any = {
        name: _mean(answers, chosen, answers.fields[name])
        for name in answers.benchmark.task_fields
        if name in answers.fields and not np.isnan(answers.fields[name][own]).all()
    }
    if other is not None:
        fields = {"score_otherwise": _mean(other, chosen), **fields}
    return {
        "questions": int(chosen.sum()),
        "samples": int(own.sum()),
        "score": _mean(answers, chosen),
        **fields,
        "failed": int((own & answers.failed).sum()),
        "unscored": int((own & answers.unscored).sum()),
        "reasoned": int((own & answers.reasoned).sum()),
        "truncated": _known(answers.truncated[own]),
        "capped": _known(answers.capped[own]),
        "malformed": malformed,
        "duplicate": duplicate,
        "copies": copies,
        "official_questions": answers.table.tasks[task].questions,
        "missing": _missing(answers, task) if answers.official else None,
    }


# ---------------------------------------------------------------------- shares

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
