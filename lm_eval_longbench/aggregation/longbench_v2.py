"""Figures of LongBench v2: of one question, and the official table of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lm_eval_longbench.aggregation.means import rounded_percent
from lm_eval_longbench.catalog_v2 import DIFFICULTIES, LENGTHS
from lm_eval_longbench.metrics.longbench_v2 import Verdict

SUB_SCORES = (*DIFFICULTIES, *LENGTHS)


def question_figures(
    question: Mapping[str, Any], verdict: Verdict, *, truncated: bool
) -> dict[str, float | None]:
    """Return every figure of one answer, `acc` first; None where a sub-score is not about it.

    Args:
        question: with its `difficulty` and `length`.
        verdict: on the answer.
        truncated: whether the prompt was cut.

    Returns:
        `acc`, `acc_easy`, `acc_hard`, `acc_short`, `acc_medium`, `acc_long` (1.0 or 0.0),
        `acc_compensated` (0.25 where no letter was named), `unparsed`, `failed`, `truncated`.
    """
    own = (question["difficulty"], question["length"])
    return {
        "acc": verdict.accuracy,
        **{f"acc_{name}": verdict.accuracy if name in own else None for name in SUB_SCORES},
        "acc_compensated": verdict.compensated,
        "unparsed": float(verdict.unparsed),
        "failed": float(verdict.failed),
        "truncated": float(truncated),
    }


def one_call_figures(verdict: Verdict, *, truncated: bool) -> dict[str, float | None]:
    """Return the figures of a reasoning in which the answer is searched, without a second call.

    Returns:
        `acc_one_call` (1.0 or 0.0), `unparsed`, `failed`, `truncated`.
    """
    return {
        "acc_one_call": verdict.accuracy,
        "unparsed": float(verdict.unparsed),
        "failed": float(verdict.failed),
        "truncated": float(truncated),
    }


def official_table(rows: Iterable[tuple[Mapping[str, Any], float]]) -> dict[str, float | None]:
    """Return overall, easy, hard, short, medium and long in percent, one decimal; None if empty.

    Args:
        rows: each question, with its `difficulty` and `length`, and what its answer is worth.
    """
    rows = list(rows)

    def part(name: str) -> float | None:
        own = (
            worth
            for question, worth in rows
            if name in (question["difficulty"], question["length"])
        )
        return rounded_percent(own, 1)

    overall = rounded_percent((worth for _, worth in rows), 1)
    return {"overall": overall, **{name: part(name) for name in SUB_SCORES}}
