"""`lm-eval-longbench answers`: what is in the files where runs keep their answers."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from lm_eval_longbench.console import fail, say_json, say_line, say_table, table_of
from lm_eval_longbench.records.answer import STATES
from lm_eval_longbench.records.summary import (
    TOKENS,
    FileAnswers,
    kept_answers,
    merge_answers,
    summary,
    with_sum,
)
from lm_eval_longbench.server.batch import Imported, import_results

# What a table has of each task, and how it calls that.
_COLUMNS = {name: name.replace("_", " ") for name in (*STATES, *TOKENS)}


def answers_table(found: FileAnswers) -> Table:
    """Lay out the tasks of a file; the last line has the sums."""
    rows = []
    for name, own in with_sum(found.tasks).items():
        times = {"first": _moment(own.first), "last": _moment(own.last)}
        rows.append({"task": name, **own.shown(_COLUMNS), **times})
    return table_of(rows, title=found.model, total=True)


def _moment(seconds: float | None) -> str:
    return "" if seconds is None else f"{datetime.fromtimestamp(seconds):%Y-%m-%d %H:%M:%S}"


def merge(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Files of answers, or folders.")
    ],
    to: Annotated[Path, typer.Option(help="Folder for one file a model.")],
) -> None:
    """Join the files of several machines, which stay as they are."""
    for file, double in merge_answers(paths, to).items():
        found = summary(file)
        say_line(f"written: {file}")
        say_table(answers_table(found))
        if double:
            say_line(f"{double} answers were in several files")
        if lacking := sum(own.empty + own.filtered + own.failed for own in found.tasks.values()):
            say_line(f"{lacking} requests have no answer: the command that asked them asks again")
    say_line("`score` of the logs says which shards are missing or double.")


def import_answers(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Result files of a batch API.")
    ],
    output_path: Annotated[
        Path, typer.Option("--output_path", help="As of the run with --write-requests.")
    ],
) -> None:
    """Keep the answers of a batch; the same run then asks what is missing alone."""
    say_import(import_results(files, output_path))


# What `Imported` counts, in print.
_IMPORTED = {
    "empty": "of them empty or withheld, and asked again",
    "known": "answers that were there already",
    "double": "rows for a request that another row answers, left out",
    "foreign": "rows of other requests (another model, prompt version or folder), left out",
    "broken": "lines that are no row of results (cut off?), left out",
}


def say_import(found: Imported) -> None:
    """Print what became of the rows of result files."""
    for file, number in found.answers.items():
        say_line(f"{number} new answers: {file}")
    if not found.answers:
        say_line("no new answer")
    for name, what in _IMPORTED.items():
        if number := getattr(found, name):
            say_line(f"{number} {what}")
    for reason, number in found.failed.most_common():
        say_line(f"{number} failed: {reason}")
    missing = f"{found.missing} requests have no answer yet"
    say_line(missing if found.missing else "all are answered")


def answers(
    path: Annotated[Path, typer.Argument(help="A file of answers, or a folder with some.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what runs have kept: answers by task and state, tokens, and when they came.

    `answers merge PATH... --to FOLDER` joins the files of several machines, `answers import FILE...
    --output_path FOLDER` takes the results of a batch.
    """
    found = kept_answers(path)
    if not found:
        fail(f"There is no file of answers at {path}. run writes one into --output_path.")
        raise typer.Exit(2)
    if as_json:
        document = [asdict(one) for one in found]
        say_json(json.dumps(document, indent=1, ensure_ascii=False, default=str))
        return
    for one in found:
        say_line(str(one.path))
        say_table(answers_table(one))
        if one.damaged:
            say_line(f"{one.damaged} answers are damaged; the next run asks them again.")
        for name, own in one.tasks.items():
            for reason, number in sorted(own.reasons.items(), key=lambda one: -one[1]):
                say_line(f"{name}: {number} x {reason}")
