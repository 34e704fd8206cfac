"""`lm-eval-longbench report`: the tables people publish, from scored runs."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lm_eval_longbench.errors import DataError, OptionError, UnknownNameError
from lm_eval_longbench.result_files import written_together
from lm_eval_longbench.terminal import say, say_json, say_line

if TYPE_CHECKING:
    from lm_eval_longbench.reports.scored_run import Run

PUBLISHED, JSON = "published", "json"


def read_runs(paths: list[Path], scratch: Path, benchmark: str | None) -> list[Run]:
    """Read scored folders; what is not one is scored first, into `scratch`.

    Raises:
        DataError: a path does not exist, or a folder's files are damaged.
        OptionError: a path is given twice.
        LongBenchError: raw predictions cannot be scored.
    """
    from lm_eval_longbench.reports.scored_run import (  # slow to import
        is_scored,
        read_run,
        unique_names,
    )

    seen: set[Path] = set()
    for path in paths:
        if not path.exists():
            raise DataError(
                f"{path} does not exist. Give folders that `lm-eval-longbench score` wrote, or "
                "predictions or sample logs."
            )
        if path.resolve() in seen:
            raise OptionError(f"{path} is given twice. Name each run once.")
        seen.add(path.resolve())
    runs = []
    for number, (path, name) in enumerate(zip(paths, unique_names(paths), strict=True)):
        folder = path
        if not is_scored(path):
            from lm_eval_longbench.scoring.score import score_paths  # slow to import

            folder = scratch / str(number)
            score_paths([path], folder, benchmark=benchmark)
        runs.append(read_run(folder, name))
    return runs


def report_text(
    paths: list[Path],
    kind: str = "table",
    *,
    against: str | None = None,
    benchmark: str | None = None,
    width: int | None = None,
) -> str:
    """Return the report on some runs.

    Args:
        paths: scored folders, or predictions or sample logs.
        kind: format, see `reports.render.FORMATS`.
        against: "published" adds published figures and ranks; None.
        benchmark: of predictions and logs; None: found out.
        width: longest line of tables; None: no limit.

    Raises:
        UnknownNameError: there is no such format or comparison.
        LongBenchError: as `read_runs`.
    """
    from lm_eval_longbench.reports.render import check_format, render  # slow to import
    from lm_eval_longbench.reports.report import make_report

    check_format(kind)
    if against not in (None, PUBLISHED):
        raise UnknownNameError("comparison of --against", against, [PUBLISHED])
    with tempfile.TemporaryDirectory(prefix="lm-eval-longbench-") as scratch:
        runs = read_runs(paths, Path(scratch), benchmark)
        return render(make_report(runs, published=against is not None), kind, width)


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""

    @app.command("report")
    def report(
        runs: Annotated[
            list[Path],
            typer.Argument(
                help="Folders that `score` wrote; predictions or logs are scored first."
            ),
        ],
        format: Annotated[
            str, typer.Option("--format", help="table, markdown, csv or json.")
        ] = "table",
        against: Annotated[
            str | None, typer.Option(help="published: add published figures and the run's rank.")
        ] = None,
        benchmark: Annotated[
            str | None,
            typer.Option(help="What predictions are, as for `score`: v1, v1_e, v2 or pro."),
        ] = None,
        output: Annotated[
            Path | None, typer.Option(help="File to write; without it the report is printed.")
        ] = None,
    ) -> None:
        """Put scored runs side by side, with intervals, differences and p-values."""
        to_terminal = output is None and sys.stdout.isatty()
        width = shutil.get_terminal_size().columns if to_terminal else None
        text = report_text(runs, format, against=against, benchmark=benchmark, width=width)
        if output is None:
            (say_json if format == JSON else say)(text, end="")
        else:
            with written_together([output]) as (file,):
                file.write(text.encode("utf-8"))
            say_line(f"written: {output}")
