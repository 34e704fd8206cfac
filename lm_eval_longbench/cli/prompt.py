"""`lm-eval-longbench prompt`: print exactly the prompt a model gets."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from lm_eval_longbench.api.documents import prompt as finished_prompt
from lm_eval_longbench.benchmarks.registry import benchmark_of, expanded, find_task, kind_of, tasks
from lm_eval_longbench.catalog.model import Task
from lm_eval_longbench.console import say
from lm_eval_longbench.errors import OptionError, PromptError
from lm_eval_longbench.files import read_json
from lm_eval_longbench.options import Options


def read_document(file: Path) -> dict[str, Any]:
    """Read one JSON object with a dataset's fields; PromptError if it is not one."""
    document = read_json(file, PromptError)
    if not isinstance(document, dict):
        raise PromptError(f"{file} must hold one JSON object, not {type(document).__name__}.")
    try:
        json.dumps(document, ensure_ascii=False).encode("utf-8")
    except ValueError as error:  # half a surrogate pair, which no tokenizer takes
        raise PromptError(f"{file} holds a text that is no UTF-8: {error}") from error
    return document


def stored_document(task: Task, index: int, data_dir: str | None) -> dict[str, Any]:
    """Read one row of a task's data; OptionError if there is no such row."""
    rows = benchmark_of(task).load(task, data_dir).rows
    if not 0 <= index < len(rows):
        raise OptionError(
            f"--index must be from 0 to {len(rows) - 1} for {task.name}, not {index}."
        )
    return rows[index]


def prompt(
    task: Annotated[str, typer.Argument(help="Task, such as longbench_v1_qasper.")],
    index: Annotated[int | None, typer.Option(help="Row of the dataset, from 0.")] = None,
    doc: Annotated[
        Path | None, typer.Option(help="File with one JSON object, the document.")
    ] = None,
    tokenizer: Annotated[
        str | None, typer.Option(help="Name or folder of the model's tokenizer.")
    ] = None,
    truncate_to: Annotated[
        int | None, typer.Option(help="Longest prompt in tokens, cut in the middle.")
    ] = None,
    data_dir: Annotated[
        str | None, typer.Option(help="Folder or archive with the data, or 'sample'.")
    ] = None,
) -> None:
    """Print the prompt of one document, byte for byte, with nothing added.

    On a terminal its control characters, if it has any, are written out.
    """
    # Task files are read only for what is no task.
    if task not in tasks() and kind_of(task) != "task":
        members = expanded([task])[0]
        raise OptionError(
            f"{task} is a group of {len(members)} tasks, such as {members[0]}: name one of them."
        )
    wanted = find_task(task)
    if (index is None) == (doc is None):
        raise OptionError("Give either --index N or --doc FILE.")
    if (tokenizer is None) != (truncate_to is None):
        raise OptionError("--tokenizer and --truncate-to go together.")
    Options(data_dir=data_dir, truncate_to=truncate_to, tokenizer=tokenizer)
    if index is not None:
        document = stored_document(wanted, index, data_dir)
    else:
        assert doc is not None  # one of the two, as seen above
        document = read_document(doc)
    finished = finished_prompt(task, document, tokenizer=tokenizer, truncate_to=truncate_to)
    if sys.stdout.isatty():
        say(finished, end="")
    else:
        sys.stdout.buffer.write(finished.encode("utf-8"))
        sys.stdout.buffer.flush()
