"""Check figures: each sample's as logged, and each of the results file, against the answers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.provenance.aggregate import (
    AGGREGATIONS,
    aggregation_names,
    same_number,
    standard_error,
)
from lm_eval_longbench.provenance.check import (
    CONFIRMED,
    DIFFERENT,
    NOT_CHECKABLE,
    Check,
    all_of,
    some,
)
from lm_eval_longbench.provenance.packages import package_versions
from lm_eval_longbench.provenance.read_log import LogRow
from lm_eval_longbench.provenance.read_results import TaskResult
from lm_eval_longbench.provenance.recompute import Recomputed, recompute
from lm_eval_longbench.provenance.rules import is_segmented
from lm_eval_longbench.provenance.signature import METRIC_VERSIONS

_STDERR = "_stderr"


@dataclass
class Column:
    """One figure of all questions, under one filter.

    Attributes:
        values: recomputed, or as logged where that cannot be.
        taken: why some of them are as logged; "": all are recomputed.
    """

    values: list[float | None] = field(default_factory=list)
    taken: str = ""


@dataclass
class Figures:
    """What the answers of one task are worth.

    Attributes:
        columns: by metric and filter, as the results file names figures: "score,none".
        checks: on the rows.
        complete: whether every row could be scored.
    """

    columns: dict[str, Column] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)
    complete: bool = True


def scored_by_others(task: TaskResult) -> str:
    """Return why other figures need not be wrong; "": the same rules made them."""
    benchmark, metrics = task.run.get("benchmark"), task.run.get("metrics")
    ours = METRIC_VERSIONS.get(str(benchmark))
    if metrics != ours:
        return f"Scored with metrics {metrics}; this package has {ours}."
    recorded, jieba = _recorded(task).get("jieba"), package_versions()["jieba"]
    if is_segmented(str(task.run.get("task"))) and recorded != jieba:
        return f"Recomputed with jieba {jieba} instead of {recorded}, which segments the answers."
    return ""


def _recorded(task: TaskResult) -> Mapping[str, Any]:
    packages = task.run.get("packages")
    return packages if isinstance(packages, Mapping) else {}


def _other_packages(task: TaskResult) -> str:
    """Return the packages that are of other versions here, in a sentence; "": none are."""
    ours = package_versions()
    other = [
        f"{name} {version}, here {ours.get(name)}"
        for name, version in _recorded(task).items()
        if ours.get(name) != version
    ]
    return f" Recomputed with other versions: {'; '.join(other)}." if other else ""


def recompute_rows(task: TaskResult, rows: Sequence[LogRow]) -> Figures:
    """Return the figures of all questions, and the check of each sample's logged ones."""
    found = Figures()
    edited, broken = [], []
    for row in rows:
        if not row.logged:
            continue
        try:
            own = recompute(task.run, row.doc, row.responses, row.logged)
        except LongBenchError as error:
            broken.append(f"line {row.line} ({row.name}): {error}")
            continue
        edited += _edited(row, own)
        for name, value in own.figures.items():
            column = found.columns.setdefault(f"{name},{row.filter}", Column())
            column.values.append(value)
            column.taken = column.taken or own.taken.get(name, "")
    found.complete = not broken
    scored = sum(bool(row.logged) for row in rows)
    kind = "sample scores"
    if not scored:
        said = "The run was made with --predict_only: nothing was scored."
        found.checks = [Check(kind, kind, NOT_CHECKABLE, meaning=said)]
        return found
    excuse = scored_by_others(task)
    if edited and excuse:
        what = f"{len(edited)} of {scored}: {some(edited)}"
        found.checks.append(Check(kind, kind, NOT_CHECKABLE, what, None, excuse))
    else:
        meaning = "A score in the log does not follow from its answer: one of them was edited."
        meaning += _other_packages(task)
        found.checks.append(all_of(kind, scored, edited, "follows from the answers", meaning))
    if broken:
        meaning = "Documents in the log were damaged."
        found.checks.append(all_of("documents", scored, broken, "can be scored", meaning))
    return found


def _edited(row: LogRow, own: Recomputed) -> Iterator[str]:
    """Yield where the logged figures of a row do not follow from its answers."""
    for name in row.logged.keys() | own.figures.keys():
        logged, value = row.logged.get(name), own.figures.get(name)
        if name not in own.taken and not same_number(logged, value):
            yield f"line {row.line} ({row.name}): {name} is {logged}, recomputed {value}"


def aggregated(task: TaskResult, figures: Figures) -> dict[str, float]:
    """Return each figure of a task whose aggregation is known, by its name in the results."""
    names = aggregation_names(task.config)
    values = {}
    for key, column in figures.columns.items():
        function = AGGREGATIONS.get(names.get(key.rpartition(",")[0], "mean"))
        if function is not None:
            values[key] = function(column.values)
    return values


def check_figures(task: TaskResult, figures: Figures) -> Iterator[Check]:
    """Yield a check of each figure that the results state of a task, or should."""
    expected = aggregated(task, figures)
    stated = {key: value for key, value in task.figures.items() if "," in key}
    for key in dict.fromkeys([*stated, *figures.columns]):
        metric, _, name = key.rpartition(",")
        if metric.endswith(_STDERR):
            yield from _error(task, f"{metric.removesuffix(_STDERR)},{name}", key, figures)
        elif not figures.complete:
            said = "Some rows of the log cannot be scored."
            yield Check("figures", key, NOT_CHECKABLE, stated.get(key), None, said)
        elif key not in figures.columns:
            # A user's own filters have figures of their own, which are not computed here.
            added = name == "none" and bool(figures.columns)
            said = "No such figure follows from the log" + (": it was added." if added else ".")
            yield Check(
                "figures", key, DIFFERENT if added else NOT_CHECKABLE, stated[key], None, said
            )
        elif key not in expected:
            how = aggregation_names(task.config)[metric]
            said = f"It is put together by {how!r}, which this package does not know."
            yield Check("figures", key, NOT_CHECKABLE, stated.get(key), None, said)
        elif key not in stated:
            said = "The figure was taken out of the results."
            yield Check("figures", key, DIFFERENT, None, expected[key], said)
        else:
            yield _figure(task, key, stated[key], expected[key], figures.columns[key].taken)


def _figure(task: TaskResult, key: str, found: Any, expected: float, taken: str) -> Check:
    if same_number(found, expected):
        if not taken:
            return Check("figures", key, CONFIRMED, found, expected)
        said = f"It follows from the logged values, but these cannot be recomputed: {taken}."
        return Check("figures", key, NOT_CHECKABLE, found, expected, said)
    excuse = scored_by_others(task)
    if excuse and not taken:
        return Check("figures", key, NOT_CHECKABLE, found, expected, excuse)
    said = "The results do not follow from the answers: one of them was edited."
    return Check("figures", key, DIFFERENT, found, expected, said + _other_packages(task))


def _error(task: TaskResult, of: str, key: str, figures: Figures) -> Iterator[Check]:
    """Check a standard error; the harness gives those of plain means."""
    found = task.figures[key]
    column = figures.columns.get(of)
    if not isinstance(found, float | int):  # "N/A"
        return
    values = column.values if column is not None else []
    known = [value for value in values if value is not None]
    if len(known) < 2 or len(known) != len(values) or not figures.complete:
        said = "No standard error of this figure follows from the log."
        yield Check("figures", key, NOT_CHECKABLE, found, None, said)
    else:
        taken = column.taken if column is not None else ""
        yield _figure(task, key, found, standard_error(known), taken)


def number_of(column: Column | None) -> float | None:
    """Return the sum of a figure over all questions; None where it is not known."""
    if column is None or None in column.values or column.taken:
        return None
    return math.fsum(value for value in column.values if value is not None)
