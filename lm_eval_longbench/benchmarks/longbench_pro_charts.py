"""The charts of LongBench Pro, as on its official page."""

from __future__ import annotations

from lm_eval_longbench.benchmarks.chart import (
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
from lm_eval_longbench.benchmarks.longbench_pro_facts import COUNTS, DIMENSIONS, THINKING
from lm_eval_longbench.benchmarks.longbench_pro_figures import BEST, OVERALL, PASS

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
