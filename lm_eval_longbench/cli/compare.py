"""`lm-eval-longbench compare`: whether two results can be compared, and then how they differ."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from lm_eval_longbench.errors import LongBenchError

# Columns of text that no table needs.
_WIDE = 1000
_UNREADABLE = 2


def _print(table: Table, console: Console) -> None:
    """Print a table as wide as it must be: rich would cut figures off in a narrow terminal."""
    width = Console(width=_WIDE).measure(table).maximum
    Console(width=max(console.width, width), markup=False).print(table, crop=False)


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""

    @app.command("compare")
    def compare(
        a: Annotated[Path, typer.Argument(help="Results file, run folder or scored folder.")],
        b: Annotated[Path, typer.Argument(help="The other one.")],
        anyway: Annotated[
            bool, typer.Option("--anyway", help="Show figures that are not comparable too.")
        ] = False,
    ) -> None:
        """Say in which ingredients two results differ; show figures if they are comparable.

        Exit status: 0 comparable, with or without care; 1 not comparable; 2 a file cannot be read,
        nothing was found, or the command was used wrongly.
        """
        from lm_eval_longbench.cli.compare_tables import (
            differences_table,
            figures_table,
            notes,
            verdict_line,
        )
        from lm_eval_longbench.cli.verify_tables import printable
        from lm_eval_longbench.provenance.compare_results import compare_results
        from lm_eval_longbench.provenance.rules import NOT

        try:
            compared = compare_results(a, b)
        except LongBenchError as error:
            errors = Console(stderr=True, soft_wrap=True, markup=False, highlight=False)
            errors.print(printable(f"error: {error}"), style="red")
            raise typer.Exit(_UNREADABLE) from error
        console = Console(soft_wrap=True, markup=False, highlight=False)
        console.print(f"A: {a}")
        console.print(f"B: {b}")
        console.print(verdict_line(compared))
        table = differences_table(compared)
        if table is not None:
            _print(table, console)
        for line in notes(compared):
            console.print(printable(line))
        refused = [task for task in compared.tasks if task.comparison.verdict == NOT]
        if len(refused) < len(compared.tasks):
            console.print("figures of comparable tasks:")
            _print(figures_table(compared, refused=False), console)
        if refused and anyway:
            console.print("NOT COMPARABLE, shown because of --anyway:")
            _print(figures_table(compared, refused=True), console)
        elif refused:
            console.print(
                f"the figures of {len(refused)} tasks are not comparable and not shown; --anyway "
                "shows them"
            )
        raise typer.Exit(1 if compared.verdict == NOT else 0)
