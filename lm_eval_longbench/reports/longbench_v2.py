"""The table of LongBench v2: by difficulty, length and domain, counted in four ways."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lm_eval_longbench.catalog_v2 import COUNTS, QUESTIONS
from lm_eval_longbench.reports.figure import V2_PERCENT
from lm_eval_longbench.reports.scored import ScoredTable
from lm_eval_longbench.reports.spec import Spec

OFFICIAL, ACCURACY, STRICT, COMPENSATED = (
    "official",
    "accuracy (failed are wrong)",
    "strict (missing and failed are wrong)",
    "official, compensated (no letter counts 0.25)",
)
_OVERALL = "overall"


def _parts(table: ScoredTable) -> Iterator[tuple[str, str, np.ndarray, int, bool]]:
    """Yield dimension, value, its questions, their official number, and whether all are known."""
    yield _OVERALL, _OVERALL, np.ones(len(table.keys), bool), QUESTIONS, True
    for dimension in ("difficulty", "length", "domain"):
        known = bool((table.dimensions[dimension] >= 0).all())
        for value, number in COUNTS[dimension].items():
            yield dimension, value, table.has(dimension, value), number, known


def specs(table: ScoredTable) -> list[Spec]:
    """Return every figure four times, in percent.

    - `official`: what the official scripts print for the same answers: a failed call of a run of
      ours is in no denominator, as they write no line for it; every line of their own files is.
    - `accuracy`: over every answer given, a failed one is wrong: `acc` of a run.
    - `strict`: a missing or failed answer is wrong; over the official 503 questions where the data
      are those, else over the questions that were answered.
    - `compensated`: the official mode in which an answer that names no letter counts 0.25.

    A question's figure is the mean over its repeats. Domains are None where a question's is not
    known, strict figures where there are more questions than official ones.
    """
    given, official = table.given, table.facts.official
    repeats = table.facts.repeats
    counted = given & ~table.dropped
    ways = {
        OFFICIAL: (table.mean_of(counted), counted, official),
        ACCURACY: (table.mean_of(given), given, table.facts.accuracy),
        STRICT: (
            np.where(given & ~table.failed, table.scores, 0.0).sum(axis=1) / repeats,
            given,
            table.facts.strict,
        ),
        COMPENSATED: (
            table.mean_of(counted, table.compensated),
            counted,
            official.get("compensated", {}),
        ),
    }
    specs = []
    for section, (values, counted, stated) in ways.items():
        for dimension, value, has, number, known in _parts(table):
            chosen = has & counted.any(axis=1)
            absent = 0
            if section == STRICT and table.facts.is_official:
                absent = number - int(np.count_nonzero(chosen))
            leaf = table.leaf(
                f"{section}/{value}",
                chosen,
                values,
                counted,
                absent=max(0, absent),
                binary=repeats == 1 and section != COMPENSATED,
                defined=known and absent >= 0,
            )
            specs.append(
                Spec(
                    section,
                    value,
                    leaf,
                    V2_PERCENT,
                    detail=dimension == "domain" and section != OFFICIAL,
                    in_official=value in stated,
                    official=stated.get(value),
                )
            )
    return specs
