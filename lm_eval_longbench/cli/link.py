"""`lm-eval-longbench path` and `link`: the task definitions, and the harness's folder."""

from __future__ import annotations

from typing import Annotated

import typer

from lm_eval_longbench.task_folder import harness_tasks, link_tasks, task_folder, unlink_tasks
from lm_eval_longbench.terminal import say_line


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""

    @app.command("path")
    def path() -> None:
        """Print the folder of the task definitions, for the harness's --include_path."""
        say_line(str(task_folder()))

    @app.command("link")
    def link(
        remove: Annotated[bool, typer.Option("--remove", help="Take the links away.")] = False,
    ) -> None:
        """Put links to our task definitions into the installed lm_eval's task folder."""
        if remove:
            target, removed, left = unlink_tasks(task_folder(), harness_tasks())
            say_line(
                f"{removed} links removed from {target}" if removed else f"no links in {target}"
            )
            if left:
                say_line("left alone, not ours: " + ", ".join(map(str, left)))
            return
        target, made = link_tasks(task_folder(), harness_tasks())
        say_line(f"{made} links made in {target}" if made else f"nothing to do: {target}")
