"""`lm-eval-longbench verify`: recompute results from their logs, and say what differs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from lm_eval_longbench.errors import LongBenchError

# Columns of text that no table needs.
_WIDE = 1000
_UNREADABLE = 2


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""

    @app.command("verify")
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
        as_json: Annotated[bool, typer.Option("--json", help="Print every check as JSON.")] = False,
    ) -> None:
        """Recompute scores, counts and hashes from the sample logs; compare them with the results.

        Exit status, the first that applies: 1 something differs; 2 a file cannot be read, nothing
        was found, or the command was used wrongly; 3 nothing differs, but the official figure of a
        task could not be checked; 0 an official figure of every task was recomputed and confirmed.
        """
        from lm_eval_longbench.cli.verify_tables import (
            different_lines,
            kinds_table,
            not_checkable_lines,
            printable,
            summary_line,
        )
        from lm_eval_longbench.provenance.verify import verify as verify_results  # slow to import

        errors = Console(stderr=True, soft_wrap=True, markup=False, highlight=False)
        try:
            with errors.status("verifying ...") as status:
                report = verify_results(
                    results,
                    data_dir,
                    tokenizer,
                    progress=lambda task: status.update(f"verifying {task} ..."),
                )
        except LongBenchError as error:
            errors.print(printable(f"error: {error}"), style="red")
            raise typer.Exit(_UNREADABLE) from error
        if as_json:
            typer.echo(json.dumps(report.as_json(), indent=1))
            raise typer.Exit(report.exit_status)
        plain = Console(soft_wrap=True, markup=False, highlight=False)
        if report.checks:
            table = kinds_table(report)
            width = Console(width=_WIDE).measure(table).maximum
            Console(width=max(plain.width, width), markup=False).print(table, crop=False)
        for line in (*different_lines(report), *not_checkable_lines(report)):
            plain.print(printable(line))
        for line in report.unreadable:
            errors.print(printable(f"unreadable: {line}"), style="red")
        plain.print(summary_line(report))
        raise typer.Exit(report.exit_status)
