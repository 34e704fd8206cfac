"""The console script `lm-eval-longbench`: finds the command that is meant, and exits on errors."""

from __future__ import annotations

import functools
import importlib
import logging
import sys
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from lm_eval_longbench.console import LogFormatter, fail, say_line, take_every_text
from lm_eval_longbench.errors import STOPPED, LongBenchError, fault_text, other_release
from lm_eval_longbench.secrets import hide_keys
from lm_eval_longbench.version import __version__

# The first sentence of the help of each command: no module is imported but that of the command
# that is meant, which has the name of the command, and a function of that name.
COMMANDS = {
    "run": "Run `lm_eval run ARGS...` with the LongBench tasks and the longbench-extractive model.",
    "tasks": "List tasks and groups: questions, answers, documents' length, output budget, metric.",
    "answers": "Show what runs have kept: answers by task and state, tokens, and when they came.",
    "doctor": "Check what a run needs, without a generation: give it the arguments of `run`.",
    "prepare": "Download and convert data ahead of a run; print counts, revisions and hashes.",
    "lock": "Freeze data, task versions, options and package versions in a file for run --locked.",
    "score": "Score answers that are there already: official figures, and every sample.",
    "report": "Put scored runs side by side, with intervals, differences and p-values.",
    "verify": (
        "Recompute scores, counts and hashes from the sample logs; compare them with the results."
    ),
    "compare": "Say whether two results can be compared, how they differ, and why, in points.",
    "prompt": "Print the prompt of one document, byte for byte, with nothing added.",
    "presets": "List the published settings of models, with their sources.",
    "path": "Print the folder of the task definitions, for the harness's --include_path.",
    "link": "Put links to our task definitions into the installed lm_eval's task folder.",
    "leaderboard": (
        "Recompute runs and write their leaderboard, which marks those that `verify` confirms."
    ),
}
# Their further arguments are those of the harness's own `run`, which also prints their help.
_PASSED_ON: dict[str, Any] = {"allow_extra_args": True, "ignore_unknown_options": True}
# The commands that have more of them, functions beside their own.
_MORE = {"answers": {"merge": "merge", "import": "import_answers"}}
_SETTINGS = {"run": {**_PASSED_ON, "help_option_names": []}, "doctor": _PASSED_ON}


@functools.cache
def command(name: str, more: str = "") -> Any:
    """Return a command, its module imported; `more`: one of those that it has besides."""
    place, called = "link" if name == "path" else name, f"{name} {more}".strip()
    module = importlib.import_module(f"lm_eval_longbench.cli.{place}")
    own = typer.Typer(pretty_exceptions_enable=False)
    own.command(called, context_settings=_SETTINGS.get(called))(
        getattr(module, _MORE.get(name, {}).get(more, name))
    )
    return get_group(own).commands[called]


class _Commands(TyperGroup):
    """All commands; only one that is resolved is more than its name and its help in short."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return what the help shows of a command; None: there is none such."""
        if cmd_name not in COMMANDS:
            return None
        short = typer.Typer()
        short.command(cmd_name, help=COMMANDS[cmd_name])(lambda: None)
        return get_group(short).commands[cmd_name]

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is meant, and its arguments."""
        self.commands: Any = dict.fromkeys(COMMANDS)  # for the nearest names of a misspelt one
        name, _, rest = super().resolve_command(ctx, args)
        if rest and rest[0] in _MORE.get(str(name), ()):
            return f"{name} {rest[0]}", command(str(name), rest[0]), rest[1:]
        return name, command(str(name)), rest


app = typer.Typer(
    name="lm-eval-longbench",
    cls=_Commands,
    help="LongBench for the lm-evaluation-harness: run, score, report and inspect.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


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
    take_every_text((sys.stdout, sys.stderr))
    handler = logging.StreamHandler()
    handler.setFormatter(LogFormatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(handlers=[handler])
    hide_keys()
    try:
        app()
    except LongBenchError as error:
        fail(f"error: {error}")
        sys.exit(error.status)
    except Exception as error:
        known = isinstance(error, ImportError) and (error.name or "").startswith("lm_eval.")
        fail(f"error: {other_release(error)}" if known else fault_text(error))
        sys.exit(LongBenchError.status if known else STOPPED)


if __name__ == "__main__":
    main()
