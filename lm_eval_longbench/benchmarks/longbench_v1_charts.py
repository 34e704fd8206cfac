"""The lengths and charts of LongBench v1 and E, and the means over datasets that E's are made of.

Source of E's curve: the LongBench paper's figure of scores by length, absolute, and relative with
all lines at 0 for the shortest documents.
"""

from __future__ import annotations

from collections.abc import Sequence

from lm_eval_longbench.benchmarks.parts import (
    BARS,
    LINES,
    RADAR,
    Chart,
    Ladder,
    Look,
    Panel,
    Place,
    Point,
    Text,
    chart,
    same,
)
from lm_eval_longbench.catalog.read import ours
from lm_eval_longbench.statistics.figure import RELATIVE, Figure, Unit
from lm_eval_longbench.statistics.tree import Contrast, Leaf, Mean

_V1 = ours("longbench_v1")
DATASETS = {task.label: task for task in _V1.tasks.values()}
CATEGORIES, LANGUAGES = _V1.values("category"), tuple(_V1.headlines)
# Length buckets of LongBench-E: name, metric in the harness, and the length (words; characters for
# Chinese) that it ends before.
_BUCKETS = (("0-4k", "score_0_4k", 4000), ("4-8k", "score_4_8k", 8000), ("8k+", "score_8k_plus", 0))
BUCKETS = tuple(name for name, _, _ in _BUCKETS)
BUCKET_METRICS = {name: metric for name, metric, _ in _BUCKETS}
MEAN, HEADLINE, ALL_LENGTHS = "mean of tasks", "headline", "all lengths"
_WORDS: dict[str, Text] = {
    "single_doc_qa": ("Single-doc QA", "单文档问答"),
    "multi_doc_qa": ("Multi-doc QA", "多文档问答"),
    "summarization": ("Summarization", "摘要"),
    "few_shot": ("Few-shot", "少样本学习"),
    "synthetic": ("Synthetic", "合成任务"),
    "code": ("Code", "代码"),
    MEAN: ("All 13 tasks", "全部13项任务"),
}
_LANGUAGES: dict[str, Text] = {"English": ("English", "英文"), "Chinese": ("Chinese", "中文")}


def bucket(length: int) -> str:
    """Return the official name of the length bucket that a document's `length` falls into."""
    return next((name for name, _, end in _BUCKETS if length < end), BUCKETS[-1])


def relative_section(bucket: str) -> str:
    """Return the section of a bucket's figures relative to the shortest documents."""
    return f"{bucket}, relative to {BUCKETS[0]}"


def _curve(name: str) -> tuple[Point, ...]:
    return tuple(Point((bucket, name), same(bucket)) for bucket in BUCKETS)


def _panels(*, relative: bool) -> tuple[Panel, ...]:
    found = []
    for name in (MEAN, *CATEGORIES):
        own = tuple(
            Point((relative_section(bucket) if relative else bucket, name), same(bucket))
            for bucket in BUCKETS
        )
        found.append(Panel(_WORDS[name], own))
    return tuple(found)


LOOK_V1 = Look(
    headline=tuple(Point((HEADLINE, name), _LANGUAGES[name]) for name in LANGUAGES),
    charts=(
        chart(
            "headline",
            BARS,
            ("Mean of the six categories", "六类任务均分"),
            (Point((HEADLINE, name), _LANGUAGES[name]) for name in LANGUAGES),
        ),
        Chart(
            "categories",
            RADAR,
            ("Score by category", "各类任务得分"),
            tuple(
                Panel(
                    _LANGUAGES[language],
                    tuple(Point((language, name), _WORDS[name]) for name in CATEGORIES),
                )
                for language in LANGUAGES
            ),
        ),
    ),
)
LOOK_E = Look(
    headline=(Point((ALL_LENGTHS, MEAN), ("Mean of tasks", "任务均分")),),
    charts=(
        Chart("length", LINES, ("Score by length", "得分随长度变化"), _panels(relative=False)),
        Chart(
            "length-relative",
            LINES,
            ("Change against the shortest documents", "相对最短文档的变化"),
            _panels(relative=True),
            signed=True,
        ),
    ),
    ladder=Ladder(_curve(MEAN)),
)


def means_of_tasks(figures: Sequence[Figure], unit: Unit) -> list[Figure]:
    """Return the means over E's tasks and over each category's, by length and relative.

    A mean that lacks a task has no value. Relative is the mean of a bucket over that of the
    shortest documents, less 1.

    Args:
        figures: of E, with those of each dataset by bucket.
        unit: of scores.
    """
    trees: dict[Place, Leaf] = {
        figure.place: figure.tree for figure in figures if isinstance(figure.tree, Leaf)
    }
    tasks = [name for section, name in trees if section == ALL_LENGTHS]
    found: list[Figure] = []
    for name in (MEAN, *CATEGORIES):
        own = [task for task in tasks if name in (MEAN, DATASETS[task].category)]
        means = {
            section: Mean(tuple(trees[section, task] for task in own))
            for section in (ALL_LENGTHS, *BUCKETS)
        }
        found += [Figure(section, name, mean, unit) for section, mean in means.items()]
        found += [
            Figure(
                relative_section(bucket),
                name,
                Contrast(means[bucket], means[BUCKETS[0]], ratio=True),
                RELATIVE,
            )
            for bucket in BUCKETS
        ]
    return found
