"""`lm-eval-longbench run`: the harness's own `lm_eval run` with our tasks and baseline model."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lm_eval_longbench.cli.lock import take_locked
from lm_eval_longbench.errors import Interrupted, LongBenchError, OptionError, RunStopped
from lm_eval_longbench.secrets import without_keys
from lm_eval_longbench.terminal import fail, say

if TYPE_CHECKING:
    from lm_eval_longbench.harness.evaluate import Captured


def own_command() -> str:
    """Return the user's command line, quoted for a shell; keys in it are masked."""
    return without_keys(shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]))


def end_of_run(kept: Captured, width: int | None) -> str:
    """Return the report on a run that has just ended; empty if it had none of our tasks.

    Args:
        kept: what the run found.
        width: longest line; None: no limit.

    Raises:
        LongBenchError: the answers cannot be scored again, or there is no place for the scores.
    """
    from lm_eval_longbench.interface.run import Run

    return Run(kept).summary(width)


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
        keep_empty: Annotated[
            bool, typer.Option("--keep-empty", help="Do not ask again what got no answer.")
        ] = False,
    ) -> None:
        """Run `lm_eval run ARGS...` with the LongBench tasks and the longbench-extractive model.

        With `--locked [FILE]` only if all is as longbench.lock says.
        """
        from lm_eval_longbench.harness.command import run_harness  # slow to import

        if thinking and preset is None:
            raise OptionError("--thinking chooses between a preset's settings: give --preset too.")
        lock, arguments = take_locked(context.args)
        frozen = Path(lock) if lock else None
        try:
            kept = run_harness(
                arguments, preset, say, frozen, thinking=thinking, keep_empty=keep_empty
            )
        except (Interrupted, RunStopped) as error:
            fail(f"\n{error}\nTo go on: {own_command()}")
            status = 1 if isinstance(error, RunStopped) else 128 + (error.signal or signal.SIGINT)
            for number in (signal.SIGINT, signal.SIGTERM):  # while Python takes its leave
                signal.signal(number, lambda *_: os._exit(status))
            raise typer.Exit(status) from None
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        failed = False
        try:
            say(end_of_run(kept, width), end="")
        except LongBenchError as error:  # the harness has written all there is
            fail(f"The report on this run cannot be made: {error}")
            failed = True
        if kept.unwritten.files or kept.unwritten.lost:
            fail(kept.unwritten.line())
            failed = True
        if failed:
            raise typer.Exit(1)
