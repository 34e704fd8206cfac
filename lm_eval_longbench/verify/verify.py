"""Verify results: recompute from the sample logs what can be recomputed, and say what differs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.logs.found_results import find_results
from lm_eval_longbench.logs.results_file import (
    ResultsFile,
    ScoredFolder,
    TaskResult,
    read_results,
)
from lm_eval_longbench.logs.sample_log import LogRow, read_log
from lm_eval_longbench.verify.check import CONFIRMED, DIFFERENT, NOT_CHECKABLE, Check, Verification
from lm_eval_longbench.verify.data import check_asked, check_data, check_questions
from lm_eval_longbench.verify.figures import (
    Figures,
    check_figures,
    check_groups,
    check_official,
    recompute_rows,
)
from lm_eval_longbench.verify.prompts import check_prompts
from lm_eval_longbench.verify.rows import (
    check_counts,
    check_line,
    check_rows,
    check_versions,
    is_known,
)
from lm_eval_longbench.verify.scored import check_scored
from lm_eval_longbench.verify.subject import Subject, gathered

# Called with the name of each task before it is verified.
Progress = Callable[[str], None]
_LOG = "sample log"


def verify(
    paths: Iterable[Path],
    data_dir: str | None = None,
    tokenizer: str | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Verify results files, run folders and scored folders.

    Args:
        paths: what to verify; folders are searched at any depth.
        data_dir: folder or file of local data, or a copy of pinned data; None: nobody says.
        tokenizer: name or folder of the tokenizer that cut prompts; None: the one that the
            signature names, if it is on this machine.
        progress: told of each task before it is verified.

    Raises:
        PredictionError: a path does not exist or holds no results. A file that is broken is noted
            in the report instead.
    """
    report = Verification()
    for path in find_results(paths):
        try:
            results = read_results(path)
            if isinstance(results, ScoredFolder):
                found = list(check_scored(results))
            else:
                report.foreign += len(results.others)
                found = list(_results(report, results, data_dir, tokenizer, progress))
        except LongBenchError as error:
            report.unreadable.append(str(error))
            continue
        report.checks += [replace(check, file=str(path)) for check in found]
    return report


def _results(
    report: Verification,
    results: ResultsFile,
    data_dir: str | None,
    tokenizer: str | None,
    progress: Progress | None,
) -> Iterator[Check]:
    """Yield the checks of a results file; `report` counts its answers."""
    recomputed: dict[str, Figures] = {}
    for task in results.tasks:
        if progress is not None:
            progress(task.name)
        found = [check_line(task), is_known(task)]
        if found[-1].status != DIFFERENT:
            rows, check = read_rows(task)
            report.answers += sum(len(row.responses) for row in rows)
            known = gathered(task, rows, results, data_dir)
            found += [check, *check_versions(known)]
            found += check_data(known, named=data_dir is not None)
            if rows:
                recomputed[task.name], checks = recompute_rows(known)
                found += [*checks, *_log(known, recomputed[task.name], tokenizer)]
            found.append(check_official(known, found))
        yield from (replace(check, place=task.name) for check in found)
    for group, check in check_groups(results, recomputed):
        yield replace(check, place=group)


def _log(task: Subject, figures: Figures, tokenizer: str | None) -> Iterator[Check]:
    """Yield the checks of a task's sample log and of what the results state of it."""
    yield from check_rows(task)
    yield from check_figures(task, figures)
    yield from check_counts(task, figures)
    yield from check_questions(task)
    yield from check_asked(task)
    yield from check_prompts(task, tokenizer)


def read_rows(task: TaskResult) -> tuple[list[LogRow], Check]:
    """Return the rows of a task's sample log, none if it is missing or broken, and the check."""
    if task.log is None:
        said = (
            f"{task.log_name} is not beside {task.file.name}: its figures cannot be recomputed. "
            "Put it there, or run with log_samples to have one."
        )
        return [], Check(_LOG, _LOG, NOT_CHECKABLE, None, task.log_name, said)
    try:
        rows = list(read_log(task.log))
    except LongBenchError as error:
        said = "The log was damaged or cut short after the run; its figures cannot be recomputed."
        return [], Check(_LOG, _LOG, DIFFERENT, str(error), None, said)
    if not rows:
        said = "The log is empty: its rows were lost after the run."
        return [], Check(_LOG, _LOG, DIFFERENT, "0 rows", None, said)
    return rows, Check(_LOG, _LOG, CONFIRMED, f"{len(rows)} rows", None)
