"""`lm-eval-longbench run`: the harness's own `lm_eval run` with our tasks and baseline model."""

from __future__ import annotations

import inspect
import os
import shlex
import shutil
import signal
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lm_eval_longbench.cli.lock import take_locked
from lm_eval_longbench.errors import Interrupted, LongBenchError, OptionError, RunStopped
from lm_eval_longbench.secrets import MASK, masked_command
from lm_eval_longbench.terminal import fail, say

if TYPE_CHECKING:
    from lm_eval_longbench.harness.evaluate import Captured

# What stands above the harness's own help.
_HELP = """\
lm-eval-longbench run: the harness's `lm_eval run` with our tasks and models.

  lm-eval-longbench run --model hf --model_args pretrained=Qwen/Qwen3-8B \\
    --tasks longbench_v1 --apply_chat_template \\
    --truncate-to 31500 --output_path results --log_samples
  lm-eval-longbench run --model longbench-api \\
    --model_args model=NAME,base_url=http://HOST:PORT/v1,endpoint=chat,num_concurrent=8 \\
    --tasks longbench_v2 --apply_chat_template --truncate-to 120000 --tokenizer HUB_NAME \\
    --output_path results --log_samples
  lm-eval-longbench run ...   # the same again goes on where an interrupted run ended

Options of ours:
  --truncate-to N        longest prompt in tokens, cut in the middle as officially
  --data-dir DIR|sample  the data; without it the official set is fetched
  --tokenizer NAME       the model's tokenizer, where the model arguments do not name it
  --repeats K            answers to each question
  --preset NAME          a published model's settings; `lm-eval-longbench presets` lists them
  --thinking             the preset's settings for thinking scores
  --locked [FILE]        only if all is as longbench.lock says
  --keep-empty           do not ask again what got no answer
  --verbose              print all tables and all log lines
  --debug                print the traceback of an error

All keys of --metadata '{{"longbench": {{...}}}}', of which four are flags, too:
{keys}

`lm-eval-longbench tasks` lists tasks, `doctor` checks a command before it costs anything.
The harness's own options:
"""


def help_text() -> str:
    """Return our part of the help, with the keys as `Options` describes them."""
    from lm_eval_longbench.options import Options

    text = inspect.getdoc(Options) or ""
    attributes = text.partition("Attributes:\n")[2].partition("\n\nRaises")[0]
    return _HELP.format(keys=textwrap.indent(textwrap.dedent(attributes), "  "))


def own_command() -> str:
    """Return the user's command line, quoted for a shell; keys in it are masked."""
    return masked_command([Path(sys.argv[0]).name, *sys.argv[1:]])


def to_go_on() -> str:
    """Return the line with which a stopped run goes on."""
    command = own_command()
    keys = f" (with your keys where {MASK} stands)" if MASK in command else ""
    return f"To go on{keys}: {command}"


def next_command(kept: Captured) -> str:
    """Return a command that goes on from a run."""
    from lm_eval_longbench.signature.signature import read_label

    if all(read_label(own.get("data")).is_sample for own in kept.signatures.values()):
        return (
            "lm-eval-longbench run --preset 32k --model hf --model_args pretrained=YOUR/MODEL "
            "--tasks longbench_v1 --apply_chat_template --output_path results --log_samples"
        )
    lacking = ["--output_path results"] if kept.folder is None else []
    lacking += [] if kept.logged else ["--log_samples"]
    if lacking:
        return " ".join([own_command(), *lacking])
    folder = shlex.quote(str(kept.folder))
    return (
        f"lm-eval-longbench score {folder} --output scored && "
        "lm-eval-longbench report scored --against published"
    )


def end_of_run(kept: Captured, width: int | None, *, verbose: bool = False) -> str:
    """Return what is printed of a run that has just ended; empty if it had none of our tasks.

    Args:
        kept: what the run found.
        width: longest line; None: no limit.
        verbose: whether every table is printed whole.

    Raises:
        LongBenchError: the answers cannot be scored again, or there is no place for the scores.
    """
    from lm_eval_longbench.interface.run import Run

    return Run(kept).ending(next_command(kept), width, verbose=verbose)


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
            str | None, typer.Option(help="A published model's settings; see `presets`.")
        ] = None,
        thinking: Annotated[
            bool, typer.Option("--thinking", help="The preset's settings for thinking scores.")
        ] = False,
        keep_empty: Annotated[
            bool, typer.Option("--keep-empty", help="Do not ask again what got no answer.")
        ] = False,
        verbose: Annotated[
            bool, typer.Option("--verbose", help="Print all tables and all log lines.")
        ] = False,
        debug: Annotated[
            bool, typer.Option("--debug", help="Print the traceback of an error.")
        ] = False,
    ) -> None:
        """Run `lm_eval run ARGS...` with the LongBench tasks and the longbench-extractive model.

        With `--locked [FILE]` only if all is as longbench.lock says.
        """
        if not context.args or {"-h", "--help"} & set(context.args):
            context.args.append("--help")
            say(help_text())
        from lm_eval_longbench.harness.command import run_harness  # slow to import

        if thinking and preset is None:
            raise OptionError("--thinking chooses between a preset's settings: give --preset too.")
        lock, arguments = take_locked(context.args)
        frozen = Path(lock) if lock else None
        try:
            kept = run_harness(
                arguments,
                preset,
                say,
                frozen,
                thinking=thinking,
                keep_empty=keep_empty,
                quiet=not verbose,
                debug=debug,
            )
        except (Interrupted, RunStopped) as error:
            fail(f"\n{error}\n{to_go_on()}")
            status = 1 if isinstance(error, RunStopped) else 128 + (error.signal or signal.SIGINT)
            for number in (signal.SIGINT, signal.SIGTERM):  # while Python takes its leave
                signal.signal(number, lambda *_: os._exit(status))
            raise typer.Exit(status) from None
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        failed = False
        try:
            say(end_of_run(kept, width, verbose=verbose), end="")
        except LongBenchError as error:  # the harness has written all there is
            fail(f"The report on this run cannot be made: {error}")
            failed = True
        if kept.unwritten.files or kept.unwritten.lost:
            fail(kept.unwritten.line())
            failed = True
        if failed:
            raise typer.Exit(1)
