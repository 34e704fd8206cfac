"""`lm-eval-longbench path`: where the task definitions are."""

from __future__ import annotations

import typer

from lm_eval_longbench.task_folder import task_folder
from lm_eval_longbench.terminal import say_line


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""

    @app.command("path")
    def path() -> None:
        """Print the folder of the task definitions, for the harness's --include_path."""
        say_line(str(task_folder()))
