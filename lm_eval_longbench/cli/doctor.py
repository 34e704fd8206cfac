"""`lm-eval-longbench doctor`: look at everything a run needs before anything is generated."""

from __future__ import annotations

import shutil
import sys
from typing import Annotated

import typer

from lm_eval_longbench.console import say_json, say_line, say_table
from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.harness import doctor as checks
from lm_eval_longbench.harness import doctor_report as report

# Columns of the table where there is no terminal to ask.
WIDTH = 140


def doctor(
    context: typer.Context,
    everything: Annotated[
        bool, typer.Option("--all", help="Look at all tasks closely, not at the first few.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, not a table.")] = False,
    scorers: Annotated[
        bool,
        typer.Option(
            "--scorers",
            help="Compare scores of embedded cases with those of the official packages.",
        ),
    ] = False,
    preset: Annotated[str | None, typer.Option(help="As for `run`.")] = None,
    thinking: Annotated[bool, typer.Option("--thinking", help="As for `run`.")] = False,
) -> None:
    """Check what a run needs, without a generation: give it the arguments of `run`.

    --truncate-to, --data-dir, --tokenizer and --repeats are among them. Without arguments:
    versions, data and disk. With --scorers: whether the scores that this machine gives are the
    official ones. Exits with 1 if there is an error.
    """
    if thinking and preset is None:
        raise OptionError("--thinking chooses between a preset's settings: give --preset too.")
    if scorers:
        lines = list(checks.scorer_lines())
    else:
        first = None if everything else checks.FIRST
        lines = checks.examine(context.args, preset, first=first, thinking=thinking)
    if as_json:
        say_json(report.as_json(lines))
    else:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH
        say_table(report.as_table(lines), width)
        say_line(report.summary(lines))
    if report.counts(lines)[report.ERROR]:
        raise typer.Exit(1)
