"""The figures of LongBench Pro: means, best-of-N and pass@N, by five dimensions; its charts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from lm_eval_longbench.benchmarks.parts import (
    BARS,
    HEAT,
    INSIDE,
    LINES,
    RADAR,
    Ladder,
    Look,
    Point,
    Text,
    chart,
    points,
    same,
)
from lm_eval_longbench.catalog.read import ours
from lm_eval_longbench.figures.answers import Answers
from lm_eval_longbench.figures.figure import Figure, Unit, leaf

NAME, THINKING, SECONDARY = "longbench_pro", "thinking", "secondary_task"
_PRO = ours(NAME)
COUNTS = _PRO.counts
# Dimensions by which official figures are broken down, in the official order, and their values.
DIMENSIONS = {name: tuple(own) for name, own in COUNTS.items() if name != SECONDARY}
# The tasks of the non-thinking form by the official names of the secondary tasks.
SECONDARY_TASKS = {own.label: own for own in _PRO.tasks.values() if own.table == NAME}
# Official summaries are shares; the published tables print them times 100, two decimals.
SHARE = Unit("share", 1, 100, 2)
# No summary equals its reference: beyond this score it passes.
_SUMMARY_PASS = 0.65
_SUMMARY_TASKS = tuple(
    dict.fromkeys(task.category for task in SECONDARY_TASKS.values() if task.summary)
)
OVERALL, ITERATION, BEST, PASS = "overall", "iteration", "best of N", "pass@N"


def best_scores(scores: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Return each question's best score; NaN if one is unscored or none counts.

    Args:
        scores: float64 [questions, repeats]; NaN where unscored.
        counted: bool [questions, repeats].
    """
    unknown = (counted & np.isnan(scores)).any(axis=1) | ~counted.any(axis=1)
    return np.where(unknown, np.nan, np.where(counted, scores, -1.0).max(axis=1))


def passed(best: np.ndarray, is_summary: np.ndarray) -> np.ndarray:
    """Return 1.0 where a best score is 1.0 (of a summary: above 0.65), else 0.0; NaN of NaN.

    Args:
        best: float64 [questions].
        is_summary: bool [questions].
    """
    reached = np.where(is_summary, best > _SUMMARY_PASS, best == 1.0)
    return np.where(np.isnan(best), np.nan, reached.astype(np.float64))


def _is_summary(answers: Answers) -> np.ndarray:
    """Return which questions ask for a summary, bool [questions]."""
    found: np.ndarray = np.any([answers.has("primary_task", name) for name in _SUMMARY_TASKS], 0)
    return found


def figures(answers: Answers) -> list[Figure]:
    """Return every figure of the official summary, and the means of the secondary tasks.

    Figures are shares. An unscored summary leaves every figure that contains it without a
    value. A question that lacks a run takes part with the runs it has.
    """
    given, means = answers.given, answers.means(answers.given)
    is_summary, runs = _is_summary(answers), range(1, answers.repeats + 1)

    def figure(
        section: str,
        name: str,
        values: np.ndarray,
        counted: np.ndarray,
        path: tuple[str, ...] = (),
        among: np.ndarray | None = None,
        *,
        binary: bool = False,
        detail: bool = False,
    ) -> Figure:
        chosen = counted.any(axis=1)
        chosen = chosen if among is None else chosen & among
        tree = leaf(answers, f"{section}/{name}", chosen, values, counted, binary=binary)
        own = ("official", *path) if path else ()
        return Figure(section, name, tree, SHARE, path=own, detail=detail)

    def by_dimension(
        prefix: str, values: np.ndarray, counted: np.ndarray, path: tuple[str, ...]
    ) -> Iterator[Figure]:
        for dimension, names in DIMENSIONS.items():
            key = (*path, dimension) if path else (f"average_{dimension}_metric",)
            for name in names:
                section, among = f"{prefix}{dimension}", answers.has(dimension, name)
                yield figure(
                    section, name, values, counted, (*key, name), among, detail=bool(prefix)
                )

    found = [figure(OVERALL, OVERALL, means, given, ("average_overall_metric",))]
    upto = {}
    for run in runs:
        only = np.zeros_like(given)
        only[:, run - 1] = given[:, run - 1]
        key = f"inference_iteration_{run}_overall_metric"
        found.append(figure(ITERATION, f"{ITERATION} {run}", answers.means(only), only, (key,)))
        counted = given & (np.arange(answers.repeats) < run)
        upto[run] = (counted, best_scores(answers.scores, counted))
    found += by_dimension("", means, given, ())
    for run, (counted, best) in upto.items():
        path = (f"BoN-{run}", "overall_metric")
        found.append(figure(BEST, f"best of {run}", best, counted, path))
    for run, (counted, best) in upto.items():
        name, values = f"pass@{run}", passed(best, is_summary)
        found.append(figure(PASS, name, values, counted, (name,), binary=True))
    for name in SECONDARY_TASKS:
        among = answers.has(SECONDARY, name)
        found.append(figure(SECONDARY, name, means, given, (), among, detail=True))
    for run, (counted, best) in upto.items():
        found += by_dimension(f"best of {run}, ", best, counted, (f"BoN-{run}",))
    return found


def question_figures(answers: Answers) -> list[Figure]:
    """Return score, best-of-N and pass@N; of summaries the parts of the score, too."""
    given = answers.given
    best = best_scores(answers.scores, given)
    found = [
        ("score", answers.means(given)),
        ("best_of_n", best),
        ("pass_at_n", passed(best, _is_summary(answers))),
    ]
    found += [
        (name, answers.means(given, answers.fields.get(name, answers.scores * np.nan)))
        for name in answers.benchmark.sample_fields
        if any(
            task.summary
            for name_of, task in answers.table.tasks.items()
            if name_of in answers.expected
        )
    ]
    return [
        Figure(
            OVERALL,
            name,
            leaf(answers, name, given.any(axis=1), values, given),
            SHARE,
            metric=name,
        )
        for name, values in found
    ]


def official(answers: Answers, figures: Sequence[Figure]) -> dict[str, Any]:
    """Return the summary in the official schema.

    A figure without a sample is None. A question that lacks a run is counted as inconsistent.
    Figures that would contain an unscored summary are None, and then (only then, the official
    schema has no such key) a last key says how many there are.
    """
    stated = {figure.path[1:]: figure.official for figure in figures if figure.path}
    given, runs = answers.given, range(1, answers.repeats + 1)

    def by_dimension(part: str) -> dict[str, Any]:
        return {
            dimension: {name: stated[part, dimension, name] for name in names}
            for dimension, names in DIMENSIONS.items()
        }

    summary: dict[str, Any] = {
        "total_questions_num": len(answers),
        "inference_iterations": answers.repeats,
        "total_samples_num": int(given.sum()),
        "fail_samples_num": int(answers.failed.sum()),
        "inference_inconsistent_samples_num": int((~given).any(axis=1).sum()),
        "average_overall_metric": stated[("average_overall_metric",)],
    }
    for run in runs:
        key = f"inference_iteration_{run}_overall_metric"
        summary[key] = stated[(key,)]
    for dimension, names in DIMENSIONS.items():
        key = f"average_{dimension}_metric"
        summary[key] = {name: stated[(key, name)] for name in names}
    for run in runs:
        best = f"BoN-{run}"
        overall = stated[(best, "overall_metric")]
        summary[best] = {"overall_metric": overall, **by_dimension(best)}
        summary[f"pass@{run}"] = stated[(f"pass@{run}",)]
    unscored = int(answers.unscored.sum())
    return summary | ({"unscored_samples_num": unscored} if unscored else {})


# ---------------------------------------------------------------------- charts

_WORDS: dict[str, Text] = {
    "Full": ("Full", "全部上下文"),
    "Partial": ("Partial", "部分上下文"),
    "Easy": ("Easy", "简单"),
    "Moderate": ("Moderate", "中等"),
    "Hard": ("Hard", "困难"),
    "Extreme": ("Extreme", "极难"),
    "Chinese": ("Chinese", "中文"),
    "English": ("English", "英文"),
}
# The shortest documents, in thousands of tokens.
_SHORTEST = 8
_RUNS = (1, 2, 3)  # of the published figures


def _points(dimension: str) -> tuple[Point, ...]:
    return tuple(
        Point((dimension, name), _WORDS.get(name, same(name))) for name in DIMENSIONS[dimension]
    )


LENGTHS = points("token_length", DIMENSIONS["token_length"])
_OVERALL = Point((OVERALL, OVERALL), ("Overall", "总体"))
LOOK_PRO = Look(
    headline=(Point((OVERALL, OVERALL), ("Score", "得分")),),
    charts=(
        chart(
            "overall",
            INSIDE,
            ("Overall score, with the Extreme subset inside", "总体得分（内条为极难子集）"),
            (_OVERALL, Point(("difficulty", "Extreme"), ("Extreme", "极难"))),
        ),
        chart("length", HEAT, ("Score by length in tokens", "各长度（词元）得分"), LENGTHS),
        chart(
            "context",
            BARS,
            ("Score by context requirement", "各上下文需求得分"),
            _points("contextual_requirement"),
        ),
        chart(
            "tasks",
            RADAR,
            ("Score by primary task", "各主任务得分"),
            (
                Point(("primary_task", name), same(name.partition(".")[0]))
                for name in DIMENSIONS["primary_task"]
            ),
        ),
        chart("language", BARS, ("Score by language", "各语言得分"), _points("language")),
        chart("difficulty", BARS, ("Score by difficulty", "各难度得分"), _points("difficulty")),
        chart(
            "best-of-n",
            LINES,
            ("Best of N answers", "N次回答取最优"),
            (Point((BEST, f"best of {run}"), same(f"N={run}")) for run in _RUNS),
        ),
        chart(
            "pass-at-n",
            LINES,
            ("Pass@N: a perfect answer among N", "Pass@N：N次中有满分"),
            (Point((PASS, f"pass@{run}"), same(f"N={run}")) for run in _RUNS),
        ),
    ),
    ladder=Ladder(LENGTHS, _SHORTEST, tuple(COUNTS["token_length"].values())),
    gap=(
        Point(("language", "English"), _WORDS["English"]),
        Point(("language", "Chinese"), _WORDS["Chinese"]),
    ),
    gap_title=("English less Chinese", "英文减中文"),
    modes=(
        ("nonthinking", ("Non-thinking", "非思考")),
        (THINKING, ("Thinking", "思考")),
    ),
)
