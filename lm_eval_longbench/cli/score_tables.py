"""Lay out what `score` found: figures, and beside each what was not scored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rich import box
from rich.table import Column, Table

from lm_eval_longbench.aggregation.length_buckets import BUCKETS
from lm_eval_longbench.metrics.reasoning import DROP, KEEP
from lm_eval_longbench.offline.score_tables import TABLES

_COUNTS = ("scored", "failed", "unscored", "malformed", "duplicate", "missing")
# Ways in which LongBench v2 counts, by their place in the report.
_V2_WAYS = {
    "official": ("official",),
    "compensated": ("official", "compensated"),
    "accuracy": ("accuracy",),
    "strict": ("strict",),
}
# What the official figures are called that the other policy for reasoning gives.
_OTHERWISE = {DROP: "without reasoning", KEEP: "with reasoning"}


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
    titles = list(BUCKETS) if buckets else ["score"]
    official, other = facts["official"], facts["reasoning"]["other"]
    if other is not None:
        titles += [f"{title} {_OTHERWISE[other['policy']]}" for title in titles]
    rouge = any("rougeL_google" in own for own in facts["tasks"].values())
    titles += ["rougeL_google"] if rouge else []
    table = _table(name, first, titles, facts)
    for task, own in facts["tasks"].items():
        label = TABLES[name].tasks[task].label
        figures = []
        parts = [(official, "score")]
        parts += [(other["official"], "score_otherwise")] if other else []
        for part, key in parts:
            if benchmark == "longbench_pro":  # the summary has no secondary task
                figures.append(_hundredfold(own[key]))
            else:
                figures += list(part[label].values()) if buckets else [part[label]]
        figures += [_hundredfold(own.get("rougeL_google"))] if rouge else []
        table.add_row(label, *map(_cell, figures), *_counts(own))
    table.add_section()
    whole: list[float | None] = [None] * len(titles)
    if benchmark == "longbench_pro":
        overall = "average_overall_metric"
        whole = [_hundredfold(official[overall])]
        whole += [_hundredfold(other["official"][overall])] if other else []
    table.add_row("all", *map(_cell, whole), *_counts(facts["counts"]))
    return table


def _hundredfold(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _of_way(facts: Mapping[str, Any], keys: Iterable[str], part: str) -> float | None:
    value: Any = facts
    for key in (*keys, part):
        value = value[key] if value is not None else None
    return value


def _v2(name: str, facts: Mapping[str, Any]) -> Table:
    """LongBench v2: a line a part of the questions, in percent; a column a way to count."""
    counts = ("scored", "failed", "unparsed", *_COUNTS[2:])
    ways = dict(_V2_WAYS)
    other = facts["reasoning"]["other"]
    if other is not None:
        ways[f"official {_OTHERWISE[other['policy']]}"] = ("reasoning", "other", "official")
    table = _table(name, "", ways, facts, counts)
    for part, own in facts["parts"].items():
        figures = [_of_way(facts, keys, part) for keys in ways.values()]
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
