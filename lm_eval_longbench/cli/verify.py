"""`lm-eval-longbench verify`: recompute results from their logs, and say what differs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from lm_eval_longbench.check.verification import STATUSES, Verification, outcome_lines
from lm_eval_longbench.check.verify import verify as verify_results
from lm_eval_longbench.console import (
    escaped_line,
    fail,
    say_json,
    say_line,
    say_table,
    table_of,
    working,
)
from lm_eval_longbench.options import in_flags


def kinds_table(report: Verification) -> Table:
    """Return the number of checks by kind and status."""
    kinds: dict[str, dict[str, int]] = {}
    for check in report.checks:
        own = kinds.setdefault(check.kind, dict.fromkeys(STATUSES, 0))
        own[check.status] += 1
    return table_of(
        [
            {"check": kind, **{status: str(number or "-") for status, number in own.items()}}
            for kind, own in kinds.items()
        ]
    )


def verify(
    results: Annotated[
        list[Path],
        typer.Argument(
            help="results_*.json of the harness, run folders, or folders that `score` wrote."
        ),
    ],
    data_dir: Annotated[
        str | None,
        typer.Option(help="Folder or file of the data, where it is not the official cache."),
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(help="Name or folder of the tokenizer that cut long prompts."),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print what was checked, and all that differs.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print every check as JSON.")] = False,
) -> None:
    """Recompute scores, counts and hashes from the sample logs; compare them with the results.

    Exit status, the first that applies: 1 something differs; 2 a file cannot be read, nothing
    was found, or the command was used wrongly; 3 nothing differs, but the official figure of a
    task could not be checked; 0 an official figure of every task was recomputed and confirmed.
    """
    with working("verifying ...") as update:
        report = verify_results(
            results,
            data_dir,
            tokenizer,
            progress=lambda task: update(f"verifying {task} ..."),
        )
    if as_json:
        say_json(json.dumps(report.as_json(), indent=1))
        raise typer.Exit(report.exit_status)
    for line in report.unreadable:
        fail(escaped_line(f"unreadable: {in_flags(line)}"))
    for line in outcome_lines(report, verbose=verbose):
        say_line(in_flags(line))
    if verbose and report.checks:
        say_table(kinds_table(report))
    elif report.checks:
        say_line("Every check with --verbose or --json.")
    raise typer.Exit(report.exit_status)
