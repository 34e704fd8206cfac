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
from lm_eval_longbench.statistics.answers import Answers
from lm_eval_longbench.statistics.figure import (
    Figure,
    Reduced,
    Unit,
    best,
    figure,
    first,
    groups,
    mean,
    passed,
)

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


def reached(best: Reduced, is_summary: np.ndarray) -> np.ndarray:
    """Return which best answers pass, bool [questions]: score 1.0, of a summary above 0.65."""
    return np.where(is_summary, best.values > _SUMMARY_PASS, best.values == 1.0)


def _best(answers: Answers, runs: int) -> tuple[Reduced, Reduced]:
    """Return best of N and pass@N."""
    found = best(answers, runs)
    summary = np.any([answers.has("primary_task", name) for name in _SUMMARY_TASKS], 0)
    return found, passed(found, reached(found, summary))


def figures(answers: Answers) -> list[Figure]:
    """Return every figure of the official summary, and the means of the secondary tasks.

    Figures are shares. An unscored summary leaves every figure that contains it without a
    value. A question that lacks a run takes part with the runs it has.
    """
    means, runs = mean(answers), range(1, answers.repeats + 1)
    upto = {run: _best(answers, run) for run in runs}

    def own(
        section: str,
        name: str,
        reduced: Reduced,
        *path: str,
        among: Any = None,
        detail: bool = False,
    ) -> Figure:
        official = ("official", *path) if path else ()
        return figure(answers, (section, name), reduced, SHARE, among, path=official, detail=detail)

    def by_dimension(reduced: Reduced, run: int = 0) -> Iterator[Figure]:
        for dimension, name, among in groups(answers, *DIMENSIONS):
            section = f"best of {run}, {dimension}" if run else dimension
            path = (f"BoN-{run}", dimension) if run else (f"average_{dimension}_metric",)
            yield own(section, name, reduced, *path, name, among=among, detail=bool(run))

    found = [own(OVERALL, OVERALL, means, "average_overall_metric")]
    for run in runs:
        only = mean(answers, first(answers, run) & ~first(answers, run - 1))
        key = f"inference_iteration_{run}_overall_metric"
        found.append(own(ITERATION, f"{ITERATION} {run}", only, key))
    found += by_dimension(means)
    for run, (highest, _) in upto.items():
        path = (f"BoN-{run}", "overall_metric")
        found.append(own(BEST, f"best of {run}", highest, *path))
    for run, (_, passing) in upto.items():
        found.append(own(PASS, f"pass@{run}", passing, f"pass@{run}"))
    for dimension, name, among in groups(answers, SECONDARY):
        found.append(own(dimension, name, means, among=among, detail=True))
    for run, (highest, _) in upto.items():
        found += by_dimension(highest, run)
    return found


def question_figures(answers: Answers) -> list[Figure]:
    """Return score, best-of-N and pass@N; of summaries the parts of the score, too."""
    highest, passing = _best(answers, answers.repeats)
    found = {"score": mean(answers), "best_of_n": highest, "pass_at_n": passing}
    if any(answers.table.tasks[name].summary for name in answers.expected):
        for name in answers.benchmark.sample_fields:
            known = answers.fields.get(name, answers.scores * np.nan)
            found[name] = mean(answers, values=known)
    return [
        figure(answers, (OVERALL, name), own, SHARE, metric=name) for name, own in found.items()
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
