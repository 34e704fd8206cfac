"""`lm-eval-longbench run`: the harness's own `lm_eval run` with our tasks and baseline model."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from lm_eval_longbench.terminal import fail, say


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
    def run(
        context: typer.Context,
        preset: Annotated[
            str | None, typer.Option(help="LongBench Pro: a published model's settings.")
        ] = None,
        thinking: Annotated[
            bool, typer.Option("--thinking", help="The preset's settings for thinking scores.")
        ] = False,
    ) -> None:
        """Run `lm_eval run ARGS...` with the LongBench tasks and the longbench-extractive model.

        With `--locked [FILE]` only if all is as longbench.lock says.
        """
        from lm_eval_longbench.cli.end_of_run import end_of_run
        from lm_eval_longbench.cli.lock import take_locked
        from lm_eval_longbench.errors import LongBenchError, OptionError
        from lm_eval_longbench.harness.command import run_harness  # slow to import

        if thinking and preset is None:
            raise OptionError("--thinking chooses between a preset's settings: give --preset too.")
        lock, arguments = take_locked(context.args)
        frozen = Path(lock) if lock else None
        kept = run_harness(arguments, preset, say, frozen, thinking=thinking)
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        try:
            say(end_of_run(kept, width), end="")
        except LongBenchError as error:  # the harness has written all there is
            fail(f"The report on this run cannot be made: {error}")
            raise typer.Exit(1) from error
