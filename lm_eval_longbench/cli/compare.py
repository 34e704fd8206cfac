"""`lm-eval-longbench compare`: whether two results can be compared, and then how they differ."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table

from lm_eval_longbench.signature.compare import NOT, shown_pair
from lm_eval_longbench.terminal import say_json, say_line, say_table, table_of

if TYPE_CHECKING:
    from lm_eval_longbench.verify.compare import Compared

# Tasks that are named.
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
    titles = ("ingredient", "A", "B", "so", "because", "in")
    table = Table(*titles, box=box.SIMPLE, padding=(0, 1, 0, 0))
    for key in sorted(groups, key=lambda key: key[0] != NOT):
        weight, name, left, right, reason = key
        table.add_row(name, left, right, weight, reason, _tasks(groups[key]))
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
    """Return the figures of comparable tasks side by side with the difference B - A.

    `refused`: of those that are not comparable.
    """
    table = table_of(("task", "figure"), ("A", "B", "B - A"))
    for task in compared.tasks:
        if (task.comparison.verdict == NOT) == refused:
            for name, left, right in task.figures:
                both = _number(left) and _number(right)
                change = f"{right - left:+.4f}" if both else "-"
                table.add_row(task.task, name, _cell(left), _cell(right), change)
    return table


def as_json(compared: Compared) -> dict[str, Any]:
    """Return a comparison as JSON has it; docs/json.md describes it."""
    return {
        "verdict": compared.verdict,
        "tasks": [
            {
                "task": task.task,
                "verdict": task.comparison.verdict,
                "differences": [asdict(own) for own in task.comparison.differences],
                "not_stated": list(task.comparison.unstated),
                "figures": [
                    {"figure": name, "a": left, "b": right} for name, left, right in task.figures
                ],
            }
            for task in compared.tasks
        ],
        "only_a": list(compared.only_left),
        "only_b": list(compared.only_right),
    }


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""

    @app.command("compare")
    def compare(
        a: Annotated[Path, typer.Argument(help="Results file, run folder or scored folder.")],
        b: Annotated[Path, typer.Argument(help="The other one.")],
        anyway: Annotated[
            bool, typer.Option("--anyway", help="Show figures that are not comparable too.")
        ] = False,
        in_json: Annotated[
            bool, typer.Option("--json", help="Print JSON, all figures in it.")
        ] = False,
    ) -> None:
        """Say in which ingredients two results differ; show figures if they are comparable.

        Exit status: 0 comparable, with or without care; 1 not comparable; 2 a file cannot be read,
        nothing was found, or the command was used wrongly.
        """
        from lm_eval_longbench.verify.compare import compare_results  # slow to import

        compared = compare_results(a, b)
        if in_json:
            say_json(json.dumps({"a": str(a), "b": str(b), **as_json(compared)}, indent=1))
            raise typer.Exit(1 if compared.verdict == NOT else 0)
        say_line(f"A: {a}")
        say_line(f"B: {b}")
        say_line(verdict_line(compared))
        table = differences_table(compared)
        if table is not None:
            say_table(table)
        for line in notes(compared):
            say_line(line)
        refused = [task for task in compared.tasks if task.comparison.verdict == NOT]
        if len(refused) < len(compared.tasks):
            say_line("figures of comparable tasks:")
            say_table(figures_table(compared, refused=False))
        if refused and anyway:
            say_line("NOT COMPARABLE, shown because of --anyway:")
            say_table(figures_table(compared, refused=True))
        elif refused:
            say_line(
                f"the figures of {len(refused)} tasks are not comparable and not shown; --anyway "
                "shows them"
            )
        raise typer.Exit(1 if compared.verdict == NOT else 0)
