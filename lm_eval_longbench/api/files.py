"""Reports on runs in memory and in folders, and what the commands that check runs do."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lm_eval_longbench.api.run import Run, check_against
from lm_eval_longbench.errors import DataError, OptionError

if TYPE_CHECKING:
    from lm_eval_longbench.answers.summary import FileAnswers
    from lm_eval_longbench.check.compare import Compared
    from lm_eval_longbench.check.verification import Verification
    from lm_eval_longbench.harness.doctor_report import Line
    from lm_eval_longbench.options import Options
    from lm_eval_longbench.reporting.scored_run import ScoredRun


# ---------------------------------------------------------------------- checks of runs and results


def verify_results(
    paths: Path | str | Iterable[Path | str],
    *,
    data_dir: str | None = None,
    tokenizer: str | None = None,
) -> Verification:
    """Compute results again from their sample logs, as `lm-eval-longbench verify` does.

    Args:
        paths: results files, run folders and scored folders.
        data_dir: folder or file of the data, where it is not the official cache.
        tokenizer: name or folder of the tokenizer that cut prompts.

    Returns:
        Every check; `exit_status` is that of the command, 0 where all figures were confirmed.

    Raises:
        PredictionError: a path does not exist or holds no results.
    """
    from lm_eval_longbench.check.verify import verify  # slow to import

    given = [paths] if isinstance(paths, str | Path) else list(paths)
    return verify([Path(path) for path in given], data_dir, tokenizer)


def compare_results(left: Path | str, right: Path | str) -> Compared:
    """Say whether two results can be compared, as `lm-eval-longbench compare` does.

    Args:
        left, right: what `score` reads, results files, run folders or scored folders.

    Returns:
        The verdict, the headline of both, by task in what they differ, and why in points.

    Raises:
        PredictionError: a file is broken, or has no tasks of ours, or has answers of several models
            or settings.
    """
    from lm_eval_longbench.check.compare import compare_results as compared  # slow to import

    return compared(Path(left), Path(right))


def check_run(
    arguments: Sequence[str] = (), *, preset: str | None = None, thinking: bool = False
) -> list[Line]:
    """Look at everything a run needs before it costs anything, as `lm-eval-longbench doctor` does.

    Args:
        arguments: those of `lm-eval-longbench run`; none: what does not depend on a run.
        preset: published model of LongBench Pro whose settings are used.
        thinking: its settings for thinking scores.

    Returns:
        What was looked at, each with a status.
    """
    from lm_eval_longbench.harness.doctor import examine  # slow to import

    return examine(arguments, preset, thinking=thinking)


def freeze(tasks: Sequence[str], options: Options) -> str:
    """Return the text of a lock file, as `lm-eval-longbench lock` writes it.

    Args:
        tasks: tasks and groups; wildcards work.
        options: of the runs that it is for.

    Raises:
        UnknownNameError: a name stands for none of our tasks; names the nearest.
        DataError: data that `options` names is not there.
    """
    from lm_eval_longbench.check.lock import lock_now, lock_text  # slow to import

    return lock_text(lock_now(tasks, options))


def kept_answers(path: Path | str) -> list[FileAnswers]:
    """Return what is in the files where runs keep answers, as `lm-eval-longbench answers` does.

    Args:
        path: a file of answers, or a folder with some.

    Raises:
        OptionError: a file is none of answers, or damaged.
    """
    from lm_eval_longbench.answers.summary import files_of, summary

    return [summary(file) for file in files_of(Path(path))]


# ---------------------------------------------------------------------- runs by their names


def read_runs(paths: list[Path], scratch: Path, benchmark: str | None) -> list[ScoredRun]:
    """Read scored folders; what is not one is scored first, into `scratch`.

    Raises:
        DataError: a path does not exist, or a folder's files are damaged.
        OptionError: a path is given twice.
        LongBenchError: raw predictions cannot be scored.
    """
    from lm_eval_longbench.reporting.scored_run import (  # slow to import
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
    baseline: str | None = None,
    x: str | None = None,
    width: int | None = None,
) -> str:
    """Return the report on some runs side by side: figures, intervals, differences.

    Args:
        runs: runs of `evaluate`, and folders: scored ones, or with predictions or sample logs. A
            folder given as "name=path" has that name in the report; else a single one is called
            as its model, if a results file names it, and several by their folders.
        format: "table", "markdown", "csv", "json" or "latex".
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
    from lm_eval_longbench.reporting.formats import check_format  # slow to import
    from lm_eval_longbench.reporting.render import render
    from lm_eval_longbench.reporting.report import make_report

    check_format(format)
    check_against(against)
    if x is not None and baseline is None:
        raise OptionError("x names what runs along a baseline differ in: give baseline too.")
    if against is not None and baseline is not None:
        raise OptionError("baseline and against are two reports: ask for one.")
    with tempfile.TemporaryDirectory(prefix="lm-eval-longbench-") as scratch:
        given, scored = read_named(runs, Path(scratch), benchmark)
        if baseline is None:
            return render(make_report(scored, published=against is not None), format, width)
        from lm_eval_longbench.reporting import retained
        from lm_eval_longbench.reporting.retained import make_retained

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
    if len(given) == 1 and given[0][0] is None and scored[0].model:
        scored = [
            replace(scored[0], name=scored[0].model)
        ]  # a single folder need not be told apart
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
