"""`lm-eval-longbench lock`: freeze what scores depend on in a file for `run --locked`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from lm_eval_longbench.benchmarks.registry import read_options
from lm_eval_longbench.check.lock import DEFAULT, is_lock, lock_now, lock_text
from lm_eval_longbench.console import say_line
from lm_eval_longbench.errors import LockError, OptionError
from lm_eval_longbench.options import FLAGS, SHARD, with_flags
from lm_eval_longbench.result_files import written_together

_ALL = "*"


def read_metadata(text: str | None) -> Mapping[str, Any]:
    """Decode what stands behind --metadata; OptionError if it is not a JSON object."""
    try:
        found = json.loads(text) if text is not None else {}
    except (ValueError, RecursionError) as error:
        raise OptionError(f"--metadata is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise OptionError(
            'An object such as --metadata \'{"longbench": {"log_prompts": "full"}}\' is needed, '
            f"not {text}."
        )
    return found


def take_locked(arguments: list[str]) -> tuple[str | None, list[str]]:
    """Take `--locked [FILE]` out of the arguments of `run`.

    Returns:
        The lock file, None without --locked; and the other arguments.
    """
    rest: list[str] = []
    path = None
    waiting = False
    for argument in arguments:
        if waiting and not argument.startswith("-"):
            path = argument
        elif argument == "--locked":
            path = path or DEFAULT
        elif argument.startswith("--locked="):
            path = argument.removeprefix("--locked=") or DEFAULT
        else:
            rest.append(argument)
        waiting = argument == "--locked"
    return path, rest


def lock(
    tasks: Annotated[
        str, typer.Option(help="Tasks and groups, as for run; wildcards work.")
    ] = _ALL,
    metadata: Annotated[
        str | None, typer.Option(help="More options, as for run: '{\"longbench\": {...}}'.")
    ] = None,
    truncate_to: Annotated[
        int | None, typer.Option(help="Longest prompt in tokens, as for run.")
    ] = None,
    data_dir: Annotated[
        str | None, typer.Option(metavar="DIR|sample", help="The data, as for run.")
    ] = None,
    tokenizer: Annotated[
        str | None, typer.Option(help="The model's tokenizer, as for run.")
    ] = None,
    repeats: Annotated[
        int | None, typer.Option(help="Answers to each question, as for run.")
    ] = None,
    output: Annotated[Path, typer.Option(help="Where to write.")] = Path(DEFAULT),
    force: Annotated[
        bool, typer.Option("--force", help="Write over a lock file that is there.")
    ] = False,
) -> None:
    """Freeze data, task versions, options and package versions in a file for run --locked."""
    names = (name for name in FLAGS if name != SHARD)
    given = dict(zip(names, (truncate_to, data_dir, tokenizer, repeats), strict=True))
    options = read_options(with_flags(read_metadata(metadata), given))
    if output.exists() and not is_lock(output):
        raise LockError(
            f"{output} is there and is no lock file, so it is left alone. Remove it, or give "
            "another --output."
        )
    if output.exists() and not force:
        raise LockError(
            f"{output} is there. --force writes over it; another --output leaves it alone."
        )
    frozen = lock_now(tasks.split(","), options)
    with written_together([output]) as (file,):
        file.write(lock_text(frozen).encode("utf-8"))
    say_line(f"{output}: {len(frozen.tasks)} tasks frozen")
