"""`lm-eval-longbench path`: where the task definitions are."""

from __future__ import annotations

import typer

from lm_eval_longbench.task_folder import task_folder


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""

    @app.command("path")
    def path() -> None:
        """Print the folder of the task definitions, for the harness's --include_path."""
        typer.echo(task_folder())
