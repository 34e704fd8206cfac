"""`lm-eval-longbench compare`: whether two results can be compared, and then how they differ."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.terminal import fail, say_line, say_table

_UNREADABLE = 2


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
        from lm_eval_longbench.provenance.compare_results import compare_results
        from lm_eval_longbench.provenance.rules import NOT

        try:
            compared = compare_results(a, b)
        except LongBenchError as error:
            fail(f"error: {error}")
            raise typer.Exit(_UNREADABLE) from error
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
