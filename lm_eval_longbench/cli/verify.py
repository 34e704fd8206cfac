"""`lm-eval-longbench verify`: recompute results from their logs, and say what differs."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.terminal import (
    escaped_line,
    fail,
    say_json,
    say_line,
    say_table,
    table_of,
    working,
)
from lm_eval_longbench.verify.check import (
    CONFIRMED,
    DIFFERENT,
    NOT_CHECKABLE,
    OFFICIAL,
    STATUSES,
    Check,
    Report,
)

# Characters of a value that a line shows.
_SHOWN = 300


def kinds_table(report: Report) -> Table:
    """Return the number of checks by kind and status."""
    kinds: dict[str, dict[str, int]] = {}
    for check in report.checks:
        own = kinds.setdefault(check.kind, dict.fromkeys(STATUSES, 0))
        own[check.status] += 1
    table = table_of(["check"], STATUSES)
    for kind, own in kinds.items():
        table.add_row(kind, *(str(number) if number else "-" for number in own.values()))
    return table


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _title(check: Check) -> str:
    return check.kind if check.name == check.kind else f"{check.kind} {check.name}"


def different_lines(report: Report) -> Iterator[str]:
    """Yield a line for each check that differs: where, what, found, expected, meaning."""
    for check in report.with_status(DIFFERENT):
        expected = "" if check.expected is None else f", expected {_short(check.expected)}"
        where = f"{check.file}, {check.place}" if check.place else check.file
        yield (
            f"different: {where}: {_title(check)}: found {_short(check.found)}{expected}. "
            f"{check.meaning}"
        )


def not_checkable_lines(report: Report) -> Iterator[str]:
    """Yield a line for each reason why something cannot be checked, with what it concerns."""
    groups: dict[tuple[str, str], list[Check]] = defaultdict(list)
    for check in report.with_status(NOT_CHECKABLE):
        groups[check.kind, check.meaning].append(check)
    for (kind, meaning), own in groups.items():
        names = dict.fromkeys(check.name.removeprefix(f"{kind}.") for check in own)
        names.pop(kind, None)
        places = list(dict.fromkeys(check.place for check in own))
        where = places[0] if len(places) == 1 else f"{len(places)} tasks"
        if not where:  # it is about a file as a whole
            files = list(dict.fromkeys(check.file for check in own))
            where = files[0] if len(files) == 1 else f"{len(files)} files"
        named = f" {', '.join(names)}" if names else ""
        yield f"not checkable: {where}: {kind}{named}: {meaning}"


def summary_line(report: Report) -> str:
    """Return the outcome in one line."""
    counts = report.counts
    parts = [f"{counts[status]} {status}" for status in STATUSES]
    if report.unreadable:
        parts.append(f"{len(report.unreadable)} unreadable")
    if report.foreign:
        parts.append(f"{report.foreign} tasks of others passed over")
    official = [check.status for check in report.checks if check.kind == OFFICIAL]
    left = f"{len(official) - official.count(CONFIRMED)} of {len(official)}"
    verdict = {
        0: "an official figure of every task follows from its answers, and nothing differs",
        1: "something differs",
        2: "not everything could be read" if counts[CONFIRMED] else "nothing could be checked",
        3: f"nothing differs, but the official figures of {left} tasks could not be checked",
    }[report.exit_status]
    return f"{', '.join(parts)}: {verdict}."


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
        from lm_eval_longbench.verify.verify import verify as verify_results  # slow to import

        try:
            with working("verifying ...") as update:
                report = verify_results(
                    results,
                    data_dir,
                    tokenizer,
                    progress=lambda task: update(f"verifying {task} ..."),
                )
        except LongBenchError as error:
            fail(f"error: {error}")
            raise typer.Exit(_UNREADABLE) from error
        if as_json:
            say_json(json.dumps(report.as_json(), indent=1))
            raise typer.Exit(report.exit_status)
        if report.checks:
            say_table(kinds_table(report))
        for line in (*different_lines(report), *not_checkable_lines(report)):
            say_line(line)
        for line in report.unreadable:
            fail(escaped_line(f"unreadable: {line}"))
        say_line(summary_line(report))
        raise typer.Exit(report.exit_status)
