"""The charts of LongBench v2: by difficulty, length and domain, with and without reasoning."""

from __future__ import annotations

from lm_eval_longbench.benchmarks.chart import (
    BARS,
    HEAT,
    TOKENS,
    Ladder,
    Look,
    Point,
    Text,
    chart,
)
from lm_eval_longbench.benchmarks.longbench_v2_facts import COUNTS, DOMAINS
from lm_eval_longbench.benchmarks.longbench_v2_figures import OFFICIAL

_WORDS: dict[str, Text] = {
    "easy": ("Easy", "简单"),
    "hard": ("Hard", "困难"),
    "short": ("Short (<32k words)", "短（<32k词）"),
    "medium": ("Medium (32k-128k)", "中（32k-128k）"),
    "long": ("Long (>128k)", "长（>128k）"),
}
_DOMAINS = {
    "single_document_qa": "单文档问答",
    "multi_document_qa": "多文档问答",
    "long_in_context_learning": "长上下文学习",
    "long_dialogue_history": "长对话历史理解",
    "code_repository": "代码仓库理解",
    "long_structured_data": "长结构化数据理解",
}
_WORDS |= {name: (name, _DOMAINS[short]) for short, name in DOMAINS.items()}


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
