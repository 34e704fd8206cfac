"""`lm-eval-longbench report`: the tables people publish, from scored runs."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from lm_eval_longbench.cli.page import LOOKS, WantedPage, look_at
from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.result_files import written_together
from lm_eval_longbench.terminal import say, say_json, say_line

JSON = "json"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""

    @app.command("report")
    def report(
        runs: Annotated[
            list[Path] | None,
            typer.Argument(
                help="Folders that `score` wrote, NAME=FOLDER, or what is scored first."
            ),
        ] = None,
        format: Annotated[
            str,
            typer.Option(
                "--format",
                help="table, markdown, csv, json, latex; html: one page; svg, png, pdf: charts.",
            ),
        ] = "table",
        against: Annotated[
            str | None, typer.Option(help="published: add published figures and the run's rank.")
        ] = None,
        benchmark: Annotated[
            str | None,
            typer.Option(help="What predictions are, as for `score`: v1, v1_e, v2 or pro."),
        ] = None,
        baseline: Annotated[
            str | None,
            typer.Option(help="A run: show which share of its score each other run keeps."),
        ] = None,
        x: Annotated[
            str | None,
            typer.Option(
                "--x", help="With --baseline: what the runs, named NUMBER=PATH, differ in."
            ),
        ] = None,
        output: Annotated[
            Path | None,
            typer.Option(
                help="File to write, of charts a folder; without it the report is printed."
            ),
        ] = None,
        share: Annotated[
            float | None,
            typer.Option(help="Of the score at the shortest length, for the effective length."),
        ] = None,
        answers: Annotated[
            bool, typer.Option("--answers", help="html: add the answers; needs sample logs.")
        ] = False,
        language: Annotated[str, typer.Option(help="Of charts in files: en or zh.")] = "en",
        models: Annotated[
            list[str] | None,
            typer.Option(help="For charts in files; once each; else runs and the best published."),
        ] = None,
    ) -> None:
        """Put scored runs side by side, with intervals, differences and p-values."""
        if format in LOOKS:
            if baseline is not None or x is not None:
                raise OptionError(f"--baseline and --x are not for --format {format}.")
            own = (runs or [], format, output, against, benchmark, share, answers, language)
            look_at(WantedPage(*own, tuple(models or ())))
            return
        given = {"--share": share, "--answers": answers or None, "--models": models}
        unused = [name for name, value in given.items() if value is not None]
        if unused or language != "en":
            named = ", ".join(unused or ["--language"])
            raise OptionError(f"{named}: this is for --format {', '.join(LOOKS)}, not {format}.")
        if not runs:
            raise OptionError(
                f"--format {format} needs one or more runs. Give folders that `score` wrote."
            )
        to_terminal = output is None and sys.stdout.isatty()
        width = shutil.get_terminal_size().columns if to_terminal else None
        from lm_eval_longbench.api.files import report as made  # slow to import

        text = made(
            *runs,
            format=format,
            against=against,
            benchmark=benchmark,
            baseline=baseline,
            x=x,
            width=width,
        )
        if output is None:
            (say_json if format == JSON else say)(text, end="")
        else:
            with written_together([output]) as (file,):
                file.write(text.encode("utf-8"))
            say_line(f"written: {output}")
