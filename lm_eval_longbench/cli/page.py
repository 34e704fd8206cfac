"""What `report` writes for people to look at: a page and charts."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval_longbench.errors import OptionError, UnknownNameError
from lm_eval_longbench.result_files import written_together
from lm_eval_longbench.terminal import say_line

HTML = "html"
CHARTS = ("svg", "png", "pdf")
LOOKS = (HTML, *CHARTS)
LANGUAGES = ("en", "zh")


@dataclass(frozen=True)
class WantedPage:
    """What a command line asks for.

    Attributes:
        paths: of runs.
        kind: one of LOOKS.
        output: file, of charts a folder; None: not given.
        against: "published" or None.
        benchmark: short name of what predictions are, and of what published rows to show; None.
        share: of the effective context length; None: the usual one.
        answers: whether the page has the answers.
        language: of charts in files.
        models: names of those in charts in files; (): the runs and the best published rows.
    """

    paths: list[Path]
    kind: str
    output: Path | None
    against: str | None
    benchmark: str | None
    share: float | None
    answers: bool
    language: str
    models: tuple[str, ...] = ()


def _check(wanted: WantedPage) -> None:
    from lm_eval_longbench.api.run import check_against  # slow to import

    check_against(wanted.against)
    if wanted.language not in LANGUAGES:
        raise UnknownNameError("language", wanted.language, LANGUAGES)
    if wanted.share is not None and not 0 < wanted.share <= 1:
        raise OptionError(f"--share must be above 0 and at most 1, not {wanted.share}.")
    if not wanted.paths and wanted.against is None:
        raise OptionError(
            f"--format {wanted.kind} needs a run. Give folders that `score` wrote, or, for the "
            "page and the charts, --against published."
        )
    if wanted.output is None:
        what = (
            "a file: --output report.html" if wanted.kind == HTML else "a folder: --output charts"
        )
        raise OptionError(f"--format {wanted.kind} needs {what}.")
    if wanted.answers and wanted.kind != HTML:
        raise OptionError("--answers is for --format html.")
    if wanted.models and wanted.kind not in CHARTS:
        raise OptionError(f"--models is for --format {', '.join(CHARTS)}.")


def _only(short: str | None) -> set[str]:
    """Return the name of the one benchmark that is asked for; nothing where none is."""
    from lm_eval_longbench.benchmarks.registry import short_names

    if short is None:
        return set()
    if short not in short_names():
        raise UnknownNameError("benchmark", short, short_names())
    return {short_names()[short].name}


def _data(wanted: WantedPage, scratch: Path) -> tuple[dict[str, Any], str]:
    """Return what a page or charts show, and the packed answers; "" where none are asked for."""
    from lm_eval_longbench.api.files import read_named
    from lm_eval_longbench.page.data import page_data
    from lm_eval_longbench.page.entries import read_summaries
    from lm_eval_longbench.page.leaderboard import about_of, facts_of
    from lm_eval_longbench.page.samples import answers_of, lengths_of
    from lm_eval_longbench.statistics.effective import SHARE  # slow to import

    summaries, others = read_summaries(wanted.paths)
    given, runs = read_named(others, scratch, wanted.benchmark)
    paths = [path for path in given if isinstance(path, Path)]
    about = {run.name: facts_of(about_of(path)) for run, path in zip(runs, paths, strict=True)}
    answers = ""
    if wanted.answers:
        answers = answers_of(paths, [run.name for run in runs], wanted.benchmark)
    lengths = {
        run.name: lengths_of([path], wanted.benchmark)
        for run, path in zip(runs, paths, strict=True)
    }
    data = page_data(
        runs,
        published=wanted.against is not None,
        only=_only(wanted.benchmark),
        share=SHARE if wanted.share is None else wanted.share,
        about=about,
        summaries=summaries,
        lengths=lengths,
    )
    return data, answers


def look_at(wanted: WantedPage) -> None:
    """Write the page or the charts.

    Raises:
        OptionError, UnknownNameError: the command line does not fit.
        LongBenchError: a run cannot be read, a package is missing, or the output cannot be written.
    """
    from lm_eval_longbench.page.build import build_page  # slow to import
    from lm_eval_longbench.page.files import chart_files

    _check(wanted)
    found: dict[Path, bytes] = {}
    with tempfile.TemporaryDirectory(prefix="lm-eval-longbench-") as scratch:
        assert wanted.output is not None
        data, answers = _data(wanted, Path(scratch))
        if wanted.kind == HTML:
            found[wanted.output] = build_page(data, answers).encode("utf-8")
        else:
            files = chart_files(data, wanted.kind, wanted.language, wanted.models)
            found = {wanted.output / name: content for name, content in files}
    with written_together(list(found)) as files_of_all:
        for file, content in zip(files_of_all, found.values(), strict=True):
            file.write(content)
    for path in found:
        say_line(f"written: {path}")
