"""The console script `lm-eval-longbench`: puts the commands together and turns errors to exits."""

from __future__ import annotations

import logging
import sys

import typer

from lm_eval_longbench.cli import (
    answers,
    compare,
    doctor,
    explain,
    leaderboard,
    link,
    lock,
    prepare,
    presets,
    prompt,
    report,
    run,
    score,
    tasks,
    verify,
)
from lm_eval_longbench.errors import STOPPED, LongBenchError, fault_text
from lm_eval_longbench.secrets import without_keys
from lm_eval_longbench.terminal import LogFormatter, fail, say_line
from lm_eval_longbench.version import __version__

app = typer.Typer(
    name="lm-eval-longbench",
    help="LongBench for the lm-evaluation-harness: run, score, report and inspect.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
for module in (
    *(run, tasks, answers, doctor, prepare, lock, score, report, leaderboard, verify, compare),
    *(explain, prompt, presets, link),
):
    module.register(app)


def _show_version(wanted: bool) -> None:
    if wanted:
        say_line(__version__)
        raise typer.Exit()


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """LongBench for the lm-evaluation-harness: run, score, report and inspect."""


def main() -> None:
    """Run the command line; an error of this package is printed and exits with its status."""
    handler = logging.StreamHandler()
    handler.setFormatter(LogFormatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(handlers=[handler])
    try:
        app()
    except LongBenchError as error:
        fail(f"error: {error}")
        sys.exit(error.status)
    except Exception as error:
        fail(without_keys(fault_text(error)))
        sys.exit(STOPPED)


if __name__ == "__main__":
    main()
