"""`lm-eval-longbench report`: tables, a page and charts of scored runs."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from lm_eval_longbench.api.run import check_against, read_named
from lm_eval_longbench.api.run import report as printed
from lm_eval_longbench.benchmarks.registry import short_names
from lm_eval_longbench.check.verification import outcome_lines
from lm_eval_longbench.check.verify import verify
from lm_eval_longbench.console import say, say_json, say_line
from lm_eval_longbench.errors import DataError, OptionError, UnknownNameError
from lm_eval_longbench.language import LANGUAGES
from lm_eval_longbench.options import in_flags
from lm_eval_longbench.page.build import build_page
from lm_eval_longbench.page.data import page_data
from lm_eval_longbench.page.entries import read_summaries
from lm_eval_longbench.page.files import chart_files
from lm_eval_longbench.page.leaderboard import about_of
from lm_eval_longbench.page.samples import answers_of, lengths_of
from lm_eval_longbench.reporting.exchange import EEE, RECORDS, eee, model_index
from lm_eval_longbench.reporting.report import make_report
from lm_eval_longbench.result_files import written_together
from lm_eval_longbench.statistics.effective import SHARE

HTML = "html"
CHARTS = ("svg", "png", "pdf")
LOOKS = (HTML, *CHARTS)


def _record(runs: Sequence[Path], format: str, benchmark: str | None) -> str:
    """Return the record of one run in one of RECORDS; DataError: it needs `verify` to confirm."""
    with tempfile.TemporaryDirectory(prefix="lm-eval-longbench-") as scratch:
        (path,), scored = read_named(runs, Path(scratch), benchmark)
        if format == EEE:
            return eee(make_report(scored), time.time())
        checked = verify([Path(str(path))])
        if checked.exit_status != 0:
            reasons = " ".join([*outcome_lines(checked, verbose=False), *checked.unreadable])
            raise DataError(
                f"--format {format} is for runs that `lm-eval-longbench verify` confirms, and "
                f"{path} is none: {in_flags(reasons)}"
            )
        return model_index(make_report(scored))


def _only(short: str | None) -> set[str]:
    """Return the name of the one benchmark that is asked for; nothing where none is."""
    if short is None:
        return set()
    if short not in short_names():
        raise UnknownNameError("benchmark", short, short_names())
    return {short_names()[short].name}


def report(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(help="Folders that `score` wrote, NAME=FOLDER, or what is scored first."),
    ] = None,
    format: Annotated[
        str,
        typer.Option(
            "--format",
            help="table, markdown, csv, json, latex; html: one page; svg, png, pdf: charts; "
            "eee, model-index: records that others read.",
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
        typer.Option("--x", help="With --baseline: what the runs, named NUMBER=PATH, differ in."),
    ] = None,
    without_known_errors: Annotated[
        bool,
        typer.Option(
            "--without-known-errors",
            help="Add the headline without questions that are publicly known to be wrong.",
        ),
    ] = False,
    price: Annotated[
        str | None,
        typer.Option(help="in,out[,cached] for a million tokens: add tokens, time and cost."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(help="File to write, of charts a folder; without it the report is printed."),
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
    if price is not None and (format != "table" or output is not None):
        raise OptionError("--price adds a table to the printed report: leave --output out.")
    if without_known_errors and (baseline is not None or format in (*LOOKS, *RECORDS)):
        which = "--baseline" if baseline is not None else f"--format {format}"
        raise OptionError(f"--without-known-errors adds rows to a table, and is not for {which}.")
    _check(format, against, baseline, x, output, share, answers, language, models, runs)
    if format not in LOOKS:
        to_terminal = output is None and sys.stdout.isatty()
        if format in RECORDS:
            text = _record(runs or (), format, benchmark)
        else:
            text = printed(
                *runs or (),
                format=format,
                against=against,
                benchmark=benchmark,
                baseline=baseline,
                x=x,
                without_known_errors=without_known_errors,
                price=price,
                width=shutil.get_terminal_size().columns if to_terminal else None,
            )
        if output is None:
            (say_json if format in ("json", EEE) else say)(text, end="")
            return
        found = {output: text.encode("utf-8")}
    else:
        assert output is not None  # as _check has seen
        with tempfile.TemporaryDirectory(prefix="lm-eval-longbench-") as scratch:
            summaries, others = read_summaries(runs or [])
            given, scored = read_named(others, Path(scratch), benchmark)
            folders = {run.name: Path(str(path)) for run, path in zip(scored, given, strict=True)}
            data = page_data(
                scored,
                published=against is not None,
                only=_only(benchmark),
                share=SHARE if share is None else share,
                about={name: about_of(path)[1] for name, path in folders.items()},
                summaries=summaries,
                lengths={name: lengths_of([path], benchmark) for name, path in folders.items()},
            )
            if format == HTML:
                names = list(folders)
                packed = answers_of(list(folders.values()), names, benchmark) if answers else ""
                found = {output: build_page(data, packed).encode("utf-8")}
            else:
                files = chart_files(data, format, language, tuple(models or ()))
                found = {output / name: content for name, content in files}
    with written_together(list(found)) as files_of_all:
        for file, content in zip(files_of_all, found.values(), strict=True):
            file.write(content)
    for path in found:
        say_line(f"written: {path}")


def _check(
    format: str,
    against: str | None,
    baseline: str | None,
    x: str | None,
    output: Path | None,
    share: float | None,
    answers: bool,
    language: str,
    models: list[str] | None,
    runs: list[Path] | None,
) -> None:
    """Refuse options that do not go together, before anything is read."""
    check_against(against)
    problem = ""
    if format not in LOOKS:
        given = {"--share": share, "--answers": answers or None, "--models": models}
        unused = [name for name, value in given.items() if value is not None]
        if unused or language != LANGUAGES[0]:
            named = ", ".join(unused or ["--language"])
            problem = f"{named}: this is for --format {', '.join(LOOKS)}, not {format}."
        elif format in RECORDS and (baseline or x or against):
            problem = f"--against, --baseline and --x are not for --format {format}."
        elif format in RECORDS and len(runs or ()) > 1:
            problem = f"--format {format} is the record of one run. Give one folder."
        elif not runs:
            problem = f"--format {format} needs one or more runs. Give folders that `score` wrote."
    elif baseline is not None or x is not None:
        problem = f"--baseline and --x are not for --format {format}."
    elif language not in LANGUAGES:
        raise UnknownNameError("language", language, LANGUAGES)
    elif share is not None and not 0 < share <= 1:
        problem = f"--share must be above 0 and at most 1, not {share}."
    elif not runs and against is None:
        problem = (
            f"--format {format} needs a run. Give folders that `score` wrote, or, for the page "
            "and the charts, --against published."
        )
    elif output is None:
        what = "a file: --output report.html" if format == HTML else "a folder: --output charts"
        problem = f"--format {format} needs {what}."
    elif answers and format != HTML:
        problem = "--answers is for --format html."
    elif models and format == HTML:
        problem = f"--models is for --format {', '.join(CHARTS)}."
    if problem:
        raise OptionError(problem)
