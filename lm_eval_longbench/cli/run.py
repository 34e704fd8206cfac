"""`lm-eval-longbench run`: the harness's own `lm_eval run` with our tasks and baseline model."""

from __future__ import annotations

import argparse
import inspect
import json
import os
import shutil
import signal
import sys
import textwrap
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from lm_eval_longbench.api.run import Run
from lm_eval_longbench.benchmarks.registry import benchmark_of, find_task, protocol_of
from lm_eval_longbench.cli.answers import say_import
from lm_eval_longbench.cli.lock import read_metadata, take_locked
from lm_eval_longbench.console import fail, say, say_line, say_table, table_of, working
from lm_eval_longbench.errors import (
    Interrupted,
    LongBenchError,
    NothingSent,
    OptionError,
    RunStopped,
)
from lm_eval_longbench.files import read_json
from lm_eval_longbench.harness.arguments import Beside
from lm_eval_longbench.harness.baseline import NAME
from lm_eval_longbench.harness.evaluate import Captured
from lm_eval_longbench.harness.kept_answers import KeptAnswers, Wanted
from lm_eval_longbench.harness.run import run_harness
from lm_eval_longbench.harness.unsent import bill_of, written_requests
from lm_eval_longbench.options import FLAGS, KEY, Options, flag
from lm_eval_longbench.records.summary import with_sum
from lm_eval_longbench.reporting.cost import Price, read_price
from lm_eval_longbench.secrets import MASK, masked_command
from lm_eval_longbench.server.batch import MANIFEST, OPENAI, import_results
from lm_eval_longbench.server.batch import submit as submit_files
from lm_eval_longbench.signature.protocol import departures
from lm_eval_longbench.signature.signature import UNKNOWN

_NO_ANSWER = "No question has an answer: all are empty or failed. The figures say nothing."
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
  --shard I/N            a piece of the questions, for a machine each
  --preset NAME          a published model's settings; `lm-eval-longbench presets` lists them
  --thinking             the preset's settings for thinking scores
  --locked [FILE]        only if all is as longbench.lock says
  --write-requests DIR   write what is to be asked for a batch API; send nothing
  --submit               send them with the provider's package, wait, fetch and import
  --format NAME          of these files: openai, anthropic or vllm
  --dry-run              count requests, tokens and cost; send nothing
  --price IN,OUT[,CACHED]  money for a million tokens, of --dry-run
  --keep-empty           do not ask again what got no answer
  --verbose              print all tables, the harness's too, and all log lines
  --debug                print the traceback of an error

All keys of --metadata '{{"longbench": {{...}}}}', of which four are flags, too:
{keys}

`lm-eval-longbench tasks` lists tasks, `doctor` checks a command before it costs anything.
The harness's own options:
"""


def help_text() -> str:
    """Return our part of the help, with the keys as `Options` describes them."""
    text = inspect.getdoc(Options) or ""
    attributes = text.partition("Attributes:\n")[2].partition("\n\nRaises")[0]
    return _HELP.format(keys=textwrap.indent(textwrap.dedent(attributes), "  "))


def to_go_on() -> str:
    """Return the line with which a stopped run goes on; keys in it are masked."""
    command = masked_command([Path(sys.argv[0]).name, *sys.argv[1:]])
    keys = f" (with your keys where {MASK} stands)" if MASK in command else ""
    return f"To go on{keys}: {command}"


# The longest prompt, in tokens, that is suggested where the model's own limit is not known.
_USUAL = 120_000


def _limit(kept: Captured) -> int | None:
    """Return the official limit of prompts that is nearest to a run's; None: there is none."""
    official = [set(protocol_of(own["task"]).limits) for own in kept.signatures.values()]
    found = [own["limit"] for own in kept.signatures.values() if isinstance(own["limit"], int)]
    common = sorted(set.intersection(*official))
    fitting = [one for one in common if one <= min(found, default=_USUAL)]
    # A limit of the model's own cannot grow.
    may_grow = all("truncate_to" in own for own in kept.options.values())
    return fitting[-1] if fitting else common[0] if common and may_grow else None


def _is_official(kept: Captured, limit: int, **changed: Any) -> bool:
    """Whether a run would be official with other data, a limit, the template, all questions."""
    for own in kept.signatures.values():
        task = find_task(own["task"])
        benchmark = benchmark_of(task)
        official, source = benchmark.protocol(task), benchmark.source
        grown = {"limit": limit, "data_sha256": source.sha256, "overlength": "truncate"}
        grown |= {"data": source.label, "shard": None, "chat": official.chat, "system_sha256": None}
        if departures(benchmark, task, {**own, **grown, **changed}, official.repeats).found:
            return False
    return True


def next_command(kept: Captured) -> str:
    """Return the command of a run that is not official, grown to be; "" where it cannot be."""
    # What is not official, and what may not be.
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for names in (("--limit", "-L"), ("--samples", "-E"), ("--system_instruction",)):
        parser.add_argument(*names)
    parser.add_argument("--gen_kwargs", nargs="+")
    parser.add_argument("--metadata")
    for name in FLAGS:
        parser.add_argument(flag(name), dest=name)
    given, words = parser.parse_known_args(sys.argv[1:])
    limit = _limit(kept)
    if kept.model == NAME or "--locked" in words or limit is None:
        return ""
    if _is_official(kept, limit):
        words += ["--gen_kwargs", *given.gen_kwargs] if given.gen_kwargs else []
    elif not given.gen_kwargs or not _is_official(kept, limit, generation=UNKNOWN):
        return ""
    metadata = read_metadata(given.metadata)
    unofficial = ("data_dir", "overlength", "repeats", "only", "shard")
    options = {name: own for name, own in metadata.get(KEY, {}).items() if name not in unofficial}
    if any(own["limit"] != limit for own in kept.signatures.values()):
        options.pop("truncate_to", None)
        given.truncate_to = str(limit)
    for name in (one for one in FLAGS if one not in unofficial):
        words += [flag(name), getattr(given, name)] if getattr(given, name) else []
    metadata = {name: own for name, own in {**metadata, KEY: options}.items() if own}
    words += ["--metadata", json.dumps(metadata, ensure_ascii=False)] if metadata else []
    if "--apply_chat_template" not in words:
        words.append("--apply_chat_template")
    words += [] if kept.folder else ["--output_path", "results"]
    words += [] if kept.logged else ["--log_samples"]
    return masked_command([Path(sys.argv[0]).name, *words])


# What the table of a bill has of each task, and how it calls that.
_BILL = {
    "answered": "requests",
    "prompt_tokens": "prompts",
    "cached_tokens": "of it shared",
    "completion_tokens": "answers at most",
}


def counted_run(
    price: Price | None, parsed: argparse.Namespace, answers: KeptAnswers, wanted: list[Wanted]
) -> NoReturn:
    """Print what a run would ask: with a price, the `instead` of `Beside`."""
    tasks, tokenizer = bill_of(parsed, wanted)
    rows = []
    for name, own in with_sum(tasks).items():
        cost = {} if price is None else {"cost at most": f"{price.of(own):,.2f}"}
        rows.append({"task": name, **own.shown(_BILL), **cost})
    say_table(table_of(rows, title="tokens", total=True))
    how = "Tokens are estimated from characters: give --tokenizer NAME to count them."
    if tokenizer is not None:
        how = f"Counted with {tokenizer}. Shared tokens are read once where prefixes are cached."
    raise NothingSent(f"{how}\nNothing was sent.")


def _submitted(folder: Path) -> None:
    """Send request files, wait for their results, and keep the answers."""
    with working("waiting for the batch ..."):
        files = submit_files(folder, say_line)
    output = Path(read_json(folder / MANIFEST, OptionError)["answers"]).parent
    say_import(import_results(files, output))
    say_line("Start the command again without --write-requests and --submit.")


def run(
    context: typer.Context,
    preset: str | None = None,
    thinking: Annotated[bool, typer.Option("--thinking")] = False,
    keep_empty: Annotated[bool, typer.Option("--keep-empty")] = False,
    write_requests: Path | None = None,
    format: str = OPENAI,
    submit: Annotated[bool, typer.Option("--submit")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run")] = False,
    price: str | None = None,
    verbose: Annotated[bool, typer.Option("--verbose")] = False,
    debug: Annotated[bool, typer.Option("--debug")] = False,
) -> None:
    """Run `lm_eval run ARGS...` with the LongBench tasks and the longbench-extractive model.

    With `--locked [FILE]` only if all is as longbench.lock says.
    """
    # Its help is `help_text`.
    if not context.args or {"-h", "--help"} & set(context.args):
        context.args.append("--help")
        say(help_text())
    if thinking and preset is None:
        raise OptionError("--thinking chooses between a preset's settings: give --preset too.")
    lock, arguments = take_locked(context.args)
    instead, money = None, None if price is None else read_price(price)
    if write_requests is not None:
        if submit and (write_requests / MANIFEST).is_file():  # to go on waiting
            _submitted(write_requests)
            return
        instead = written_requests(write_requests, format, money)
    elif submit or format != OPENAI:
        raise OptionError("--submit and --format are for --write-requests DIR.")
    if dry_run and instead is not None:
        raise OptionError("--dry-run counts and --write-requests writes: give one of them.")
    instead = partial(counted_run, money) if dry_run else instead
    if money is not None and instead is None:
        raise OptionError("--price is for --dry-run and --write-requests.")
    try:
        kept = run_harness(
            arguments,
            Beside(preset, thinking, Path(lock) if lock else None, keep_empty, instead, say),
            quiet=not verbose,
            debug=debug,
        )
    except NothingSent as done:
        say(str(done).splitlines()[0] if submit else str(done))
        if submit and write_requests is not None:
            _submitted(write_requests)
        return
    except (Interrupted, RunStopped) as error:
        fail(f"\n{error}\n{to_go_on()}")
        status = 1 if isinstance(error, RunStopped) else 128 + (error.signal or signal.SIGINT)
        for number in (signal.SIGINT, signal.SIGTERM):  # while Python takes its leave
            signal.signal(number, lambda *_: os._exit(status))
        raise typer.Exit(status) from None
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    faults = []
    try:
        run = Run(kept)
        say(run.ending(partial(next_command, kept), width, verbose=verbose), end="")
        if kept.rows and not run.answered:
            faults.append(_NO_ANSWER)
    except LongBenchError as error:  # the harness has written all there is
        faults.append(f"The report on this run cannot be made: {error}")
    faults += filter(None, [kept.unwritten])
    for fault in faults:
        fail(fault)
    if faults:
        raise typer.Exit(1)
