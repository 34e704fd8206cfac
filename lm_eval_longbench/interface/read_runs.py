"""Read the runs that a caller names: scored folders, or what is scored first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lm_eval_longbench.errors import DataError, OptionError

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
