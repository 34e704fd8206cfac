"""`lm-eval-longbench run`: the harness's own `lm_eval run` with our tasks and baseline model."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""

    @app.command(
        "run",
        context_settings={
            "allow_extra_args": True,
            "ignore_unknown_options": True,
            "help_option_names": [],
        },
    )
    def run(context: typer.Context) -> None:
        """Run `lm_eval run ARGS...` with the LongBench tasks and the longbench-extractive model."""
        from lm_eval_longbench.harness.command import run_harness  # slow to import

        run_harness(context.args)
