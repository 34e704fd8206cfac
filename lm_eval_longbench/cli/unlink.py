"""`lm-eval-longbench unlink`: take away what `link` made."""

from __future__ import annotations

import typer

from lm_eval_longbench.task_folder import task_folder
from lm_eval_longbench.task_links import harness_tasks, unlink_tasks
from lm_eval_longbench.terminal import say_line


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""

    @app.command("unlink")
    def unlink() -> None:
        """Remove the links to our task definitions from the installed lm_eval's task folder."""
        target, removed, left = unlink_tasks(task_folder(), harness_tasks())
        say_line(f"{removed} links removed from {target}" if removed else f"no links in {target}")
        if left:
            say_line("left alone, not ours: " + ", ".join(map(str, left)))
