"""Put the figures of LongBench v2 together again from the samples of a scored folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from lm_eval_longbench.aggregation.means import running_mean
from lm_eval_longbench.catalog_v2 import COUNTS, QUESTIONS
from lm_eval_longbench.provenance.scored_questions import Question, total


def v2_figures(questions: Sequence[Question], repeats: int, *, official: bool) -> dict[str, Any]:
    """Return official, official_dropped, parts and, where it is known, strict; as in report.json.

    Args:
        questions: of one table.
        repeats: answers that each question should have.
        official: whether the questions are official ones, so that it is known which are missing.
    """
    from lm_eval_longbench.aggregation.longbench_v2 import official_table

    def table(name: str) -> dict[str, float | None]:
        return official_table((own.samples[0], own.mean(name) or 0.0) for own in questions)

    answered = [
        (own.samples[0], [sample["score"] for sample in own.samples if not sample["failed"]])
        for own in questions
    ]
    numbers = {"overall": QUESTIONS, **COUNTS["difficulty"], **COUNTS["length"]}
    parts = {name: _part(questions, name) for name in numbers}
    whole = parts["overall"]
    dropped = official_table((question, running_mean(own)) for question, own in answered if own)
    known = {
        "official": table("score")
        | {"compensated": table("compensated")}
        | {"n": whole["samples"], "unparsed": whole["unparsed"], "failed": whole["failed"]},
        "official_dropped": dropped | {"n": whole["samples"] - whole["failed"]},
        "parts": {
            name: dict(own) | {"official_questions": numbers[name]} for name, own in parts.items()
        },
    }
    few = all(parts[name]["questions"] <= number for name, number in numbers.items())
    if official and few:
        strict: dict[str, Any] = {
            name: round(100 * _worth(questions, name, repeats) / number, 1)
            for name, number in numbers.items()
        }
        known["strict"] = strict | {"n": QUESTIONS * repeats}
    return known


def _of(questions: Sequence[Question], name: str) -> list[Question]:
    """Return the questions of a difficulty or a length, or all."""
    return [
        own
        for own in questions
        if name in ("overall", own.samples[0]["difficulty"], own.samples[0]["length"])
    ]


def _worth(questions: Sequence[Question], name: str, repeats: int) -> float:
    """Return what the answers to a part of the questions are worth, in questions."""
    worth = 0.0
    for own in _of(questions, name):
        worth += sum(sample["score"] for sample in own.samples) / repeats
    return worth


def _part(questions: Sequence[Question], name: str) -> Counter[str]:
    """Return the counts behind one figure."""
    own = _of(questions, name)
    return Counter(
        questions=len(own),
        samples=sum(len(question.samples) for question in own),
        failed=total(own, "failed"),
        unparsed=total(own, "unparsed"),
    )
