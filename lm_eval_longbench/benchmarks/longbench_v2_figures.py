"""The figures of LongBench v2 by difficulty, length and domain, and its charts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from lm_eval_longbench.benchmarks.parts import (
    BARS,
    HEAT,
    TOKENS,
    Ladder,
    Look,
    Point,
    Text,
    chart,
    nested,
)
from lm_eval_longbench.catalog.read import ours
from lm_eval_longbench.statistics.answers import Answers
from lm_eval_longbench.statistics.figure import Figure, Reduced, Unit, figure, groups, mean, share
from lm_eval_longbench.statistics.means import percent_of, running_total

NAME = "longbench_v2"
NO_CONTEXT, COT, COT_ANSWER, RAG = (
    f"{NAME}_{mode}" for mode in ("no_context", "cot", "cot_answer", "rag")
)
_V2 = ours(NAME)
COUNTS, QUESTIONS = _V2.counts, _V2.tasks[NAME].questions
# Figures are broken down by difficulty and length; a question's length is that of its document.
_DIMENSIONS = ("difficulty", "length", "domain")
SUB_SCORES = (*COUNTS["difficulty"], *COUNTS["length"])
PERCENT = Unit("percent", 100, 100, 1)
OFFICIAL, ACCURACY, STRICT, COMPENSATED = (
    "official",
    "accuracy (failed are wrong)",
    "strict (missing and failed are wrong)",
    "official, compensated (no letter counts 0.25)",
)
_OVERALL = "overall"
SHOWN = (_OVERALL, *SUB_SCORES)


def _rounded(values: np.ndarray, number: int) -> float:
    return percent_of(running_total(values), number, 1)


def _groups(answers: Answers) -> Iterator[tuple[str, str, np.ndarray, int]]:
    """Yield dimension, value, its questions, and their official number, of all questions first."""
    yield _OVERALL, _OVERALL, np.ones(len(answers), bool), QUESTIONS
    for dimension, value, has in groups(answers, *_DIMENSIONS):
        yield dimension, value, has, COUNTS[dimension][value]


def _counted(answers: Answers) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield the counts behind each official figure."""
    for dimension, value, has, number in _groups(answers):
        if dimension != "domain":
            own = answers.given & has[:, None]
            yield (
                value,
                {
                    "questions": int(np.count_nonzero(own.any(axis=1))),
                    "samples": int(own.sum()),
                    "failed": int((own & answers.failed).sum()),
                    "unparsed": int((own & answers.flags("unparsed")).sum()),
                    "dropped": int((own & answers.flags("dropped")).sum()),
                    "official_questions": number,
                },
            )


def figures(answers: Answers) -> list[Figure]:
    """Return every figure four times, in percent.

    - `official`: what the official scripts print for the same answers: a failed call of a run
      of ours is in no denominator, as they write no line for it; every line of their own files
      is.
    - `accuracy`: over every answer given, a failed one is wrong: `acc` of a run.
    - `strict`: a missing or failed answer is wrong; over the official 503 questions where the
      data are those, else over the questions that were answered.
    - `compensated`: the official mode in which an answer that names no letter counts 0.25.

    A question's figure is the mean over its repeats. Domains are None where a question's is not
    known, strict figures where there are more questions than official ones.
    """
    given = answers.given
    written = given & ~answers.flags("dropped")
    worth = np.where(given & ~answers.failed, answers.scores, 0.0)
    strict = np.add.accumulate(worth, axis=1)[:, -1] / answers.repeats
    compensated = answers.fields.get("compensated", answers.scores)
    ways = (
        (OFFICIAL, mean(answers, written), ("official",)),
        (ACCURACY, mean(answers), ("accuracy",)),
        (STRICT, Reduced(strict, given), ("strict",)),
        (COMPENSATED, mean(answers, written, compensated), ("official", "compensated")),
        # The same of every answer given, which reports have no row for.
        ("", mean(answers, values=compensated), ("accuracy", "compensated")),
    )
    return [own for way in ways for own in _figures(answers, *way)]


def _figures(
    answers: Answers, section: str, reduced: Reduced, path: tuple[str, ...]
) -> Iterator[Figure]:
    """Yield one way's figures: overall, and by difficulty, length and domain."""
    missing_known = section == STRICT and answers.official
    for dimension, value, has, number in _groups(answers):
        known = dimension == _OVERALL or bool((answers.dimensions[dimension] >= 0).all())
        chosen = has & reduced.counted.any(axis=1)
        absent = number - int(np.count_nonzero(chosen)) if missing_known else 0
        in_file = dimension != "domain" and (section != STRICT or missing_known)
        facts = {
            "absent": max(0, absent),
            "binary": answers.repeats == 1 and "compensated" not in path,
            "defined": known and absent >= 0,
        }
        yield figure(
            answers,
            (section, value),
            reduced,
            PERCENT,
            has,
            leaf_facts=facts,
            rounded=_rounded,
            path=(*path, value) if in_file else (),
            detail=dimension == "domain" and section != OFFICIAL,
            hidden=not section,
        )


def question_figures(answers: Answers) -> list[Figure]:
    """Return `acc`, its parts, `acc_compensated` and `unparsed`; of a reasoning `acc_one_call`."""

    def own(section: str, value: str, reduced: Reduced, metric: str, has: Any = None) -> Figure:
        return figure(answers, (section, value), reduced, PERCENT, has, metric=metric)

    means, unparsed = mean(answers), share(answers, "unparsed", answers.flags("unparsed"))
    if answers.table.name == COT:
        return [own(ACCURACY, _OVERALL, means, "acc_one_call"), unparsed]
    found = [own(ACCURACY, _OVERALL, means, "acc")]
    for _, value, has in groups(answers, "difficulty", "length"):
        found.append(own(ACCURACY, value, means, f"acc_{value}", has))
    worth = mean(answers, values=answers.fields["compensated"])
    return [*found, own(COMPENSATED, _OVERALL, worth, "acc_compensated"), unparsed]


def official(answers: Answers, figures: Sequence[Figure]) -> dict[str, Any]:
    """Return what the official scripts print for the same answers.

    `compensated` is their other mode. `n` counts answers; `unparsed` and `failed` are among all
    that were given.
    """
    found = nested(figures, "official")
    written = answers.given & ~answers.flags("dropped")
    return found | {
        "n": int(written.sum()),
        "unparsed": int(answers.flags("unparsed").sum()),
        "failed": int(answers.failed.sum()),
    }


def parts(answers: Answers, figures: Sequence[Figure]) -> dict[str, Any]:
    """Return `strict`, `accuracy` and, under `parts`, the counts behind each figure.

    Strict figures are None if it is not known which questions are missing, or if there are more
    of a kind than official ones.
    """
    strict: dict[str, Any] | None = nested(figures, "strict")
    if not strict or None in strict.values():
        strict = None
    else:
        strict |= {"n": QUESTIONS * answers.repeats}
    accuracy = nested(figures, "accuracy") | {"n": int(answers.given.sum())}
    return {"strict": strict, "accuracy": accuracy, "parts": dict(_counted(answers))}


# ---------------------------------------------------------------------- charts

_WORDS: dict[str, Text] = {
    "easy": ("Easy", "简单"),
    "hard": ("Hard", "困难"),
    "short": ("Short (<32k words)", "短（<32k词）"),
    "medium": ("Medium (32k-128k)", "中（32k-128k）"),
    "long": ("Long (>128k)", "长（>128k）"),
}
_DOMAINS = (
    "单文档问答",
    "多文档问答",
    "长上下文学习",
    "长对话历史理解",
    "代码仓库理解",
    "长结构化数据理解",
)
_WORDS |= {name: (name, own) for name, own in zip(COUNTS["domain"], _DOMAINS, strict=True)}


def _points(dimension: str) -> tuple[Point, ...]:
    return tuple(Point((OFFICIAL, name), _WORDS[name]) for name in COUNTS[dimension])


LOOK_V2 = Look(
    headline=(Point((OFFICIAL, "overall"), ("Accuracy", "准确率")),),
    charts=(
        chart(
            "overall",
            BARS,
            ("Overall accuracy", "总体准确率"),
            (Point((OFFICIAL, "overall"), ("Overall", "总体")),),
        ),
        chart(
            "difficulty", BARS, ("Accuracy by difficulty", "各难度准确率"), _points("difficulty")
        ),
        chart("length", BARS, ("Accuracy by length", "各长度准确率"), _points("length")),
        chart("domain", HEAT, ("Accuracy by domain", "各领域准确率"), _points("domain")),
    ),
    ladder=Ladder(_points("length"), questions=tuple(COUNTS["length"].values())),
    tokens=TOKENS,
    modes=(
        ("direct", ("Direct", "直接回答")),
        ("CoT", ("Chain of thought", "思维链")),
    ),
)
