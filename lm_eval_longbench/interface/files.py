"""Reports on runs in memory and in folders, and the runs that a caller names."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lm_eval_longbench.errors import DataError, OptionError, UnknownNameError
from lm_eval_longbench.interface.run import Run

if TYPE_CHECKING:
    from lm_eval_longbench.reports.scored_run import ScoredRun


def read_runs(paths: list[Path], scratch: Path, benchmark: str | None) -> list[ScoredRun]:
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


PUBLISHED = "published"


def check_against(against: str | None) -> None:
    """Raise UnknownNameError for what no report is compared with."""
    if against not in (None, PUBLISHED):
        raise UnknownNameError("comparison of --against", against, [PUBLISHED])


def report(
    *runs: Run | Path | str,
    format: str = "table",
    against: str | None = None,
    benchmark: str | None = None,
    baseline: str | None = None,
    x: str | None = None,
    width: int | None = None,
) -> str:
    """Return the report on some runs side by side: figures, intervals, differences.

    Args:
        runs: runs of `evaluate`, and folders: scored ones, or with predictions or sample logs. A
            folder given as "name=path" has that name in the report.
        format: "table", "markdown", "csv" or "json".
        against: "published" adds published figures and ranks.
        benchmark: short name of what predictions in folders are, such as "v1"; None: found out.
        baseline: name of one of the runs, or its path: the report says which share of its score
            each other run keeps; None: the plain report.
        x: with `baseline`: name of the number in which the runs differ and by which they are named,
            such as "ratio".
        width: longest line of "table"; None: no limit.

    Raises:
        UnknownNameError: there is no such format or comparison.
        OptionError: a run is given twice, or has no answers to our tasks.
        LongBenchError: a folder cannot be read or scored.
    """
    from lm_eval_longbench.reports.render import check_format, render  # slow to import
    from lm_eval_longbench.reports.report import make_report

    check_format(format)
    check_against(against)
    if x is not None and baseline is None:
        raise OptionError("--x names what runs along a baseline differ in: give --baseline too.")
    if against is not None and baseline is not None:
        raise OptionError("--baseline and --against are two reports: ask for one.")
    with tempfile.TemporaryDirectory(prefix="lm-eval-longbench-") as scratch:
        given, scored = read_named(runs, Path(scratch), benchmark)
        if baseline is None:
            return render(make_report(scored, published=against is not None), format, width)
        from lm_eval_longbench.reports import retained
        from lm_eval_longbench.reports.retained import make_retained

        paths = {str(path): own.name for path, own in zip(given, scored, strict=True)}
        made = make_retained(scored, paths.get(str(Path(baseline)), baseline), x)
        return retained.render(made, format, width)


def read_named(
    runs: Sequence[Run | Path | str], scratch: Path, benchmark: str | None
) -> tuple[list[Run | Path], list[ScoredRun]]:
    """Return the runs and paths that are meant, without their names, and the scored runs.

    Args:
        runs: see `report`.
        scratch: folder for what is scored first.
        benchmark: see `report`.

    Raises as `report`.
    """
    given = [(None, run) if isinstance(run, Run) else _named(run) for run in runs]
    folders = [path for _, path in given if isinstance(path, Path)]
    read = iter(read_runs(folders, scratch, benchmark))
    scored = [
        path.scored if isinstance(path, Run) else _renamed(next(read), name) for name, path in given
    ]
    names = [own.name for own in scored]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise OptionError(
            f"Several runs are called {', '.join(twice)}. Give each a name of its own: "
            "evaluate(..., name=...), or NAME=PATH for a folder."
        )
    return [path for _, path in given], scored


def _named(run: Path | str) -> tuple[str | None, Path]:
    """Return name and path of "name=path"; a path that exists as it stands has no name."""
    name, sign, path = str(run).partition("=")
    if not sign or not name or Path(run).exists():
        return None, Path(run)
    return name, Path(path)


def _renamed(run: ScoredRun, name: str | None) -> ScoredRun:
    return run if name is None else replace(run, name=name)
