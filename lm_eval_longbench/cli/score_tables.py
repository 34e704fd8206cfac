"""Lay out what `score` found: figures, and beside each what was not scored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rich import box
from rich.table import Column, Table

from lm_eval_longbench.aggregation.length_buckets import BUCKETS
from lm_eval_longbench.offline.score_tables import TABLES

_COUNTS = ("scored", "failed", "unscored", "malformed", "duplicate", "missing")
# Ways in which LongBench v2 counts, by their place in the report.
_V2_WAYS = {
    "official": ("official",),
    "compensated": ("official", "compensated"),
    "failed dropped": ("official_dropped",),
    "strict": ("strict",),
}


def _cell(value: float | int | None, decimals: int = 2) -> str:
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else f"{value:.{decimals}f}"


def _counts(counts: Mapping[str, Any]) -> list[str]:
    scored = counts["samples"] - counts["unscored"]
    return [_cell({**counts, "scored": scored}[name]) for name in _COUNTS]


def _table(
    name: str,
    first: str,
    figures: Iterable[str],
    facts: Mapping[str, Any],
    counts: Iterable[str] = _COUNTS,
) -> Table:
    repeats = f", {facts['repeats']} repeats" if facts["repeats"] > 1 else ""
    labels = facts["data"]
    more = f" and {len(labels) - 1} more" if len(labels) > 1 else ""
    data = f", data {labels[0]}{more}" if labels else ""
    return Table(
        Column(first, no_wrap=True),
        *(Column(title, justify="right", no_wrap=True) for title in (*figures, *counts)),
        title=f"{name}{repeats}{data}",
        title_justify="left",
        box=box.SIMPLE,
        padding=(0, 1, 0, 0),
    )


def _by_task(name: str, facts: Mapping[str, Any]) -> Table:
    """LongBench v1, E and Pro: a line a task, in percent, and one for all."""
    benchmark = facts["benchmark"]
    buckets = benchmark == "longbench_v1_e"
    first = "secondary task" if benchmark == "longbench_pro" else "dataset"
    table = _table(name, first, BUCKETS if buckets else ("score",), facts)
    official = facts["official"]
    for task, own in facts["tasks"].items():
        label = TABLES[name].tasks[task].label
        if benchmark == "longbench_pro":
            figures = [own["score"] if own["score"] is None else 100 * own["score"]]
        else:
            figures = list(official[label].values()) if buckets else [official[label]]
        table.add_row(label, *map(_cell, figures), *_counts(own))
    table.add_section()
    overall = official.get("average_overall_metric") if benchmark == "longbench_pro" else None
    whole = [None] * (len(BUCKETS) - 1) + [None if overall is None else 100 * overall]
    table.add_row("all", *map(_cell, whole if buckets else whole[-1:]), *_counts(facts["counts"]))
    return table


def _of_way(facts: Mapping[str, Any], keys: Iterable[str], part: str) -> float | None:
    value: Any = facts
    for key in (*keys, part):
        value = value[key] if value is not None else None
    return value


def _v2(name: str, facts: Mapping[str, Any]) -> Table:
    """LongBench v2: a line a part of the questions, in percent; a column a way to count."""
    counts = ("scored", "failed", "unparsed", *_COUNTS[2:])
    table = _table(name, "", _V2_WAYS, facts, counts)
    for part, own in facts["parts"].items():
        figures = [_of_way(facts, keys, part) for keys in _V2_WAYS.values()]
        known = {**own, "scored": own["samples"], "unscored": 0}
        if facts["counts"]["missing"] is not None:
            known["missing"] = max(0, own["official_questions"] - own["questions"])
        if part == "overall":
            # Lines that are not scored are of no part.
            known |= {key: facts["counts"][key] for key in ("malformed", "duplicate")}
        table.add_row(
            part,
            *(_cell(figure, decimals=1) for figure in figures),
            *(_cell(known.get(count)) for count in counts),
        )
    return table


def tables_of(report: Mapping[str, Any]) -> list[Table]:
    """Return a printable table for each table of a report."""
    return [
        (_v2 if facts["benchmark"] == "longbench_v2" else _by_task)(name, facts)
        for name, facts in report["tables"].items()
    ]
