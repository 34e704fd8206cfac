"""Figures that were published for other models.

Sources, whose figures (facts, no text) are carried over:

- `published/longbench_v1.csv`: the results tables of LongBench (Bai et al., ACL 2024;
  https://github.com/THUDM/LongBench, MIT licence): 8 models, percent.
- `published/longbench_v2.csv`: the README of LongBench v2, Table 2 of its paper (Bai et al., 2024)
  and a third-party table; each row names its source. A row whose sub-scores, weighted by the
  official numbers of questions, do not give its overall score has a caveat.
- `published/longbench_pro.csv`: the leaderboard of LongBench Pro (https://github.com/caskcsg/longcontext,
  data Apache-2.0), December 2025: 46 models in 80 settings, shares in [0, 1].
"""

from __future__ import annotations

import csv
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lm_eval_longbench.catalog import V1
from lm_eval_longbench.catalog_pro import PRIMARY_TASKS
from lm_eval_longbench.reports import longbench_pro, longbench_v1, longbench_v2

_FOLDER = Path(__file__).parent / "published"
Place = tuple[str, str]
# What the category columns of longbench_v1.csv are called here.
_CATEGORIES = {
    "Single-Doc QA": "single_doc_qa",
    "Multi-Doc QA": "multi_doc_qa",
    "Summarization": "summarization",
    "Few-shot Learning": "few_shot",
    "Synthetic Tasks": "synthetic",
    "Code Completion": "code",
}


@dataclass(frozen=True)
class PublishedRow:
    """The figures of one model in one mode.

    Attributes:
        model: as published.
        mode: LongBench Pro: "nonthinking" or "thinking"; v2: "direct" or "CoT"; "" where it is
            not stated or there is only one.
        values: in the benchmark's unit (percent; Pro: share), by place in the report.
        decimals: digits after the point of each value.
        source: where the row is from.
        caveat: why it is shown and not counted in ranks; "" for none.
    """

    model: str
    mode: str
    values: Mapping[Place, float]
    decimals: Mapping[Place, int]
    source: str
    caveat: str


def _place_v1(column: str) -> Place | None:
    if column in V1:
        return longbench_v1.DATASET, column
    language, _, name = column.partition(":")
    languages = {code: title for title, code in longbench_v1.LANGUAGES.items()}
    if language not in languages:
        return None
    if name == "Avg":
        return longbench_v1.HEADLINE, languages[language]
    return languages[language], _CATEGORIES[name]


def _place_v2(column: str) -> Place | None:
    names = ("overall", "easy", "hard", "short", "medium", "long")
    return (longbench_v2.OFFICIAL, column) if column in names else None


def _place_pro(column: str) -> Place | None:
    if column == "overall":
        return longbench_pro.OVERALL, longbench_pro.OVERALL
    for prefix, section, name in (
        ("best_of_", longbench_pro.BEST, "best of "),
        ("pass_at_", longbench_pro.PASS, "pass@"),
    ):
        if column.startswith(prefix):
            return section, name + column.removeprefix(prefix)
    dimension, _, value = column.partition(":")
    if dimension == "primary_task":
        return dimension, next(name for name in PRIMARY_TASKS if name.startswith(f"{value}."))
    return (dimension, value) if value else None


_PRO_SOURCE = "the leaderboard of LongBench Pro, December 2025"
_V1_SOURCE = "the results tables of LongBench"
# File, place of a column, mode column with the names of its modes, source.
_FILES: dict[str, tuple[Callable[[str], Place | None], str, dict[str, str], str]] = {
    "longbench_v1": (_place_v1, "", {}, _V1_SOURCE),
    "longbench_v2": (_place_v2, "cot", {"no": "direct", "yes": "CoT"}, ""),
    "longbench_pro": (
        _place_pro,
        "mode",
        {"nonthinking": "nonthinking", "thinking": "thinking"},
        _PRO_SOURCE,
    ),
}


def _decimals(text: str) -> int:
    return len(text.partition(".")[2])


@functools.cache
def published_rows(benchmark: str) -> tuple[PublishedRow, ...]:
    """Return every published row of a benchmark; none if nothing is published for it."""
    if benchmark not in _FILES:
        return ()
    place_of, mode_column, modes, source = _FILES[benchmark]
    with (_FOLDER / f"{benchmark}.csv").open(encoding="utf-8", newline="") as handle:
        lines = list(csv.DictReader(handle))
    rows = []
    for line in lines:
        texts = {place: text for name, text in line.items() if text and (place := place_of(name))}
        rows.append(
            PublishedRow(
                line["model"],
                modes.get(line.get(mode_column, ""), ""),
                {place: float(text) for place, text in texts.items()},
                {place: _decimals(text) for place, text in texts.items()},
                line.get("source") or source,
                line.get("caveat", ""),
            )
        )
    return tuple(rows)
