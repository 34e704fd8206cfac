"""`lm-eval-longbench link`: make a plain `lm_eval --tasks longbench_v1` work."""

from __future__ import annotations

import typer

from lm_eval_longbench.task_folder import task_folder
from lm_eval_longbench.task_links import harness_tasks, link_tasks
from lm_eval_longbench.terminal import say_line


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""

    @app.command("link")
    def link() -> None:
        """Put links to our task definitions into the installed lm_eval's task folder."""
        target, made = link_tasks(task_folder(), harness_tasks())
        say_line(f"{made} links made in {target}" if made else f"nothing to do: {target}")
