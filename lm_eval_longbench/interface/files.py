"""Reports on runs in memory and in folders."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from lm_eval_longbench.errors import DataError, OptionError, UnknownNameError
from lm_eval_longbench.interface.run import Run

if TYPE_CHECKING:
    from lm_eval_longbench.reports.scored_run import Run as ScoredRun

PUBLISHED = "published"


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


def report(
    *runs: Run | Path | str,
    format: str = "table",
    against: str | None = None,
    benchmark: str | None = None,
    width: int | None = None,
) -> str:
    """Return the report on some runs side by side: figures, intervals, differences.

    Args:
        runs: runs of `evaluate`, and folders: scored ones, or with predictions or sample logs.
        format: "table", "markdown", "csv" or "json".
        against: "published" adds published figures and ranks.
        benchmark: short name of what predictions in folders are, such as "v1"; None: found out.
        width: longest line of "table"; None: no limit.

    Raises:
        UnknownNameError: there is no such format or comparison.
        OptionError: a run is given twice, or has no answers to our tasks.
        LongBenchError: a folder cannot be read or scored.
    """
    from lm_eval_longbench.reports.render import check_format, render  # slow to import
    from lm_eval_longbench.reports.report import make_report

    check_format(format)
    if against not in (None, PUBLISHED):
        raise UnknownNameError("comparison of --against", against, [PUBLISHED])
    folders = [Path(run) for run in runs if not isinstance(run, Run)]
    with tempfile.TemporaryDirectory(prefix="lm-eval-longbench-") as scratch:
        read = iter(read_runs(folders, Path(scratch), benchmark))
        scored = [run.scored if isinstance(run, Run) else next(read) for run in runs]
        names = [own.name for own in scored]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise OptionError(
                f"Several runs are called {', '.join(twice)}. Give each a name of its own: "
                "evaluate(..., name=...), or a folder of another name."
            )
        return render(make_report(scored, published=against is not None), format, width)
