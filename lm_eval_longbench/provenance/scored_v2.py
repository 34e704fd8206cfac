"""Put the figures of LongBench v2 together again from the samples of a scored folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from lm_eval_longbench.catalog_v2 import COUNTS, QUESTIONS
from lm_eval_longbench.provenance.scored_questions import Question, total


def v2_figures(questions: Sequence[Question], repeats: int, *, official: bool) -> dict[str, Any]:
    """Return official, accuracy, parts and, where it is known, strict; as in report.json.

    Args:
        questions: of one table.
        repeats: answers that each question should have.
        official: whether the questions are official ones, so that it is known which are missing.
    """
    from lm_eval_longbench.aggregation.longbench_v2 import official_table

    def table(name: str, among: Sequence[Question]) -> dict[str, float | None]:
        return official_table((own.samples[0], own.mean(name) or 0.0) for own in among)

    written = [
        Question([sample for sample in own.samples if not sample["dropped"]]) for own in questions
    ]
    written = [own for own in written if own.samples]
    numbers = {"overall": QUESTIONS, **COUNTS["difficulty"], **COUNTS["length"]}
    parts = {name: _part(questions, name) for name in numbers}
    whole = parts["overall"]
    number = whole["samples"] - whole["dropped"]
    known = {
        "official": table("score", written)
        | {"compensated": table("compensated", written)}
        | {"n": number, "unparsed": whole["unparsed"], "failed": whole["failed"]},
        "accuracy": table("score", questions)
        | {"compensated": table("compensated", questions), "n": whole["samples"]},
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
        dropped=total(own, "dropped"),
    )
