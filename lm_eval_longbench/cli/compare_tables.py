"""Lay out a comparison: what differs and why it matters, then the figures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from rich import box
from rich.table import Column, Table

from lm_eval_longbench.provenance.compare import shown_pair
from lm_eval_longbench.provenance.compare_results import Compared
from lm_eval_longbench.provenance.rules import NOT

_MOST = 3


def _tasks(names: list[str]) -> str:
    """Return a few names, or how many there are."""
    return ", ".join(names) if len(names) <= _MOST else f"{len(names)} tasks"


def differences_table(compared: Compared) -> Table | None:
    """Return every differing ingredient with both values, the heaviest first; None without any."""
    groups: dict[tuple[str, str, str, str, str], list[str]] = defaultdict(list)
    for task in compared.tasks:
        for own in task.comparison.differences:
            left, right = shown_pair(own.left, own.right)
            groups[own.weight, own.ingredient, left, right, own.reason].append(task.task)
    if not groups:
        return None
    table = Table(
        "ingredient",
        "A",
        "B",
        "so",
        "because",
        "in",
        box=box.SIMPLE,
        padding=(0, 1, 0, 0),
    )
    for key in sorted(groups, key=lambda key: key[0] != NOT):
        weight, name, left, right, reason = key
        cells = (name, left, right, weight, reason, _tasks(groups[key]))
        table.add_row(*cells)
    return table


def notes(compared: Compared) -> Iterator[str]:
    """Yield what else must be known before figures are compared."""
    unstated: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for task in compared.tasks:
        if task.comparison.unstated:
            unstated[tuple(task.comparison.unstated)].append(task.task)
    for names, tasks in unstated.items():
        what = f"{', '.join(names)} ({_tasks(tasks)})"
        yield f"not stated on one side or both, so not compared: {what}"
    for side, only in (("A", compared.only_left), ("B", compared.only_right)):
        if only:
            yield f"only in {side}: {_tasks(list(only))}"


def verdict_line(compared: Compared) -> str:
    """Return the verdict in one line."""
    if not compared.tasks:
        return f"{NOT}: the two results have no task in common"
    number = len(compared.tasks)
    return f"{compared.verdict} ({number} shared {'task' if number == 1 else 'tasks'})"


def _cell(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def _number(value: Any) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool)


def figures_table(compared: Compared, *, refused: bool) -> Table:
    """Return the figures side by side with the difference B - A.

    Args:
        compared: the two results.
        refused: whether to show the tasks that are not comparable, instead of those that are.
    """
    table = Table(
        Column("task", no_wrap=True),
        Column("figure", no_wrap=True),
        *(Column(name, justify="right", no_wrap=True) for name in ("A", "B", "B - A")),
        box=box.SIMPLE,
        padding=(0, 1, 0, 0),
    )
    for task in compared.tasks:
        if (task.comparison.verdict == NOT) == refused:
            for name, left, right in task.figures:
                both = _number(left) and _number(right)
                change = f"{right - left:+.4f}" if both else "-"
                cells = (task.task, name, _cell(left), _cell(right), change)
                table.add_row(*cells)
    return table
