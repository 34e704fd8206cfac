"""Verify results: recompute from the sample logs what can be recomputed, and say what differs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from lm_eval_longbench.benchmarks.registry import benchmark_of, signs, tasks
from lm_eval_longbench.benchmarks.results import ResultsFile, TaskResult, read_results_file
from lm_eval_longbench.catalog.model import CAPPED, COUNTS, TRUNCATED
from lm_eval_longbench.check.figures import (
    Figures,
    check_figures,
    check_groups,
    check_official,
    recompute_rows,
)
from lm_eval_longbench.check.logged_task import LoggedTask, check_prompts
from lm_eval_longbench.check.verification import (
    CONFIRMED,
    DIFFERENT,
    NOT_CHECKABLE,
    OFFICIAL,
    Check,
    Verification,
    all_of,
    compared,
)
from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.prompts.render import text_sha256
from lm_eval_longbench.records.log import LogRow, at, read_log
from lm_eval_longbench.records.results import find_results
from lm_eval_longbench.signature.signature import completed, data_of, is_local, line

# Called with the name of each task before it is verified.
Progress = Callable[[str], None]
_LOG = "sample log"
_NO_ANSWERS = (
    "A folder of `score` holds scores and no answers: verify the logs that it was made from, or "
    "score the inputs again."
)


def verify(
    paths: Path | str | Iterable[Path | str],
    data_dir: str | None = None,
    tokenizer: str | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Verify results files and run folders.

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
    given = [paths] if isinstance(paths, Path | str) else paths
    for path in find_results(map(Path, given)):
        if path.is_dir():
            check = Check(OFFICIAL, OFFICIAL, NOT_CHECKABLE, meaning=_NO_ANSWERS, file=str(path))
            report.checks.append(check)
            continue
        try:
            results = read_results_file(path)
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
    for result in results.tasks:
        if progress is not None:
            progress(result.name)
        found = [_signature(result), _is_known(result)]
        if found[-1].status == CONFIRMED:
            rows, check = _read_rows(result)
            report.answers += sum(len(row.responses) for row in rows)
            task = LoggedTask(result, rows, results, data_dir)
            found += [check, *_versions(task), *_data(task)]
            if rows:
                recomputed[result.name], check = recompute_rows(task)
                found += [check, *_log(task, recomputed[result.name], tokenizer)]
            found.append(check_official(task, found))
        yield from (replace(check, place=result.name) for check in found)
    for group, check in check_groups(results, recomputed):
        yield replace(check, place=group)


def _log(task: LoggedTask, figures: Figures, tokenizer: str | None) -> Iterator[Check]:
    """Yield the checks of a task's sample log and of what the results state of it."""
    yield from _rows(task)
    yield from check_figures(task, figures)
    yield from _counts(task, figures)
    yield from _questions(task)
    yield from _asked(task)
    yield from check_prompts(task, tokenizer)


def _read_rows(task: TaskResult) -> tuple[list[LogRow], Check]:
    """Return the rows of a task's sample log, none if it is missing or broken, and the check."""
    if task.log is None:
        said = (
            f"{task.log_name} is not beside {task.file.name}: its figures cannot be recomputed. "
            "Put it there, or run with log_samples to have one."
        )
        return [], Check(_LOG, _LOG, NOT_CHECKABLE, None, task.log_name, said)
    problem = "0 rows"
    try:
        rows = list(read_log(task.log))
    except LongBenchError as error:
        rows, problem = [], str(error)
    if rows:
        return rows, Check(_LOG, _LOG, CONFIRMED, f"{len(rows)} rows", None)
    said = "The log was damaged or cut short after the run; its figures cannot be recomputed."
    return [], Check(_LOG, _LOG, DIFFERENT, problem, None, said)


# ---------------------------------------------------------------------- signature and versions


def _signature(task: TaskResult) -> Check:
    """Check the signature's line against the ingredients beside it."""
    kind, said = "signature", "The line does not belong to the ingredients beside it."
    return compared(
        kind, kind, task.run.get("signature"), line(completed(task.signature), signs()), said
    )


def _is_known(task: TaskResult) -> Check:
    """Return the check whether there are such a benchmark and task; without, there is no other."""
    name, benchmark = str(task.run.get("task")), str(task.run.get("benchmark"))
    own = tasks().get(name)
    # Parts of what another task asks have names, but sign as the whole.
    if own is not None and own.counted == name and benchmark_of(own).name == benchmark:
        return Check("task", "task", CONFIRMED, name, name)
    said = "This package has no such task of such a benchmark: nothing else can be checked."
    return Check("task", "task", DIFFERENT, f"{benchmark}, {name}", None, said)


def _versions(task: LoggedTask) -> Iterator[Check]:
    """Yield the checks of the versions of task and scorer, and of the prompt template."""
    run, benchmark = task.run, task.benchmark
    said = "Another version of the task than this package's, or a number of a user's own."
    ours = benchmark.task_version
    kind = "task version"
    yield compared(kind, kind, str(run.get("version")), ours, said, NOT_CHECKABLE)
    said = "Scored by other rules than this package's. Install the version that the signature "
    said += "names to verify its scores."
    kind = "metrics version"
    yield compared(kind, kind, run.get("metrics"), benchmark.metrics, said)
    said = "The prompts were made from another version of the template."
    template = task.own.prompt_sha256
    yield compared("template", "template", run.get("template_sha256"), template, said)


# ---------------------------------------------------------------------- rows and counts of a log


def _rows(task: LoggedTask) -> Iterator[Check]:
    """Yield the checks that no row is missing, none is there twice, and all are of this run."""
    rows, run = task.rows, task.run
    lengths = sorted(set(Counter(row.filter for row in rows).values()))
    if task.result.n_samples is not None:
        said = "The log has lost rows, or has rows of other runs."
        yield compared("log rows", "n-samples", [task.result.n_samples], lengths, said)
    first: dict[tuple[str, int], int] = {}
    twice = [
        at(row, f"is the question of line {line}")
        for row in rows
        if (line := first.setdefault((row.filter, row.index), row.line)) != row.line
    ]
    yield all_of("duplicate rows", len(rows), twice, "each question once", "It counts twice.")
    of = run.get("task"), run.get("data")
    foreign = [
        at(row, f"is of {row.doc.get('task')}, data {row.doc.get('data')}")
        for row in rows
        if (row.doc.get("task"), row.doc.get("data")) != of
    ]
    what, said = f"of {of[0]}, data {of[1]}", "These are of another run."
    yield all_of("foreign rows", len(rows), foreign, what, said)
    if task.result.config.get("filter_list"):
        return  # a user's own filters may make more or fewer answers
    repeats = run.get("repeats") or 1
    wrong = [
        at(row, f"has {len(row.responses)} answers")
        for row in rows
        if len(row.responses) != repeats
    ]
    what, said = f"{repeats} answers to each question", "Answers were lost or added."
    yield all_of("repeats", len(rows), wrong, what, said)


def _counts(task: LoggedTask, figures: Figures) -> Iterator[Check]:
    """Yield the checks of kept, answered and COUNTS; for asked see `_asked`."""
    kind, run, last = "counts", task.run, task.rows[-1].filter  # they are of the last filter
    lost = "The signature counts other questions than the log has."
    number = sum(row.filter == last for row in task.rows)
    yield compared(kind, "kept", run.get("kept"), number, lost)
    if not figures.columns:
        said = "Nothing was scored, so nothing was counted."
        yield Check(kind, "answered", NOT_CHECKABLE, run.get("answered"), None, said)
        return
    yield compared(kind, "answered", run.get("answered"), number, lost)
    for name in sorted(metric.name for metric in COUNTS):
        times = 1 if name == TRUNCATED.name else run.get("repeats")
        total = figures.sum_of(f"{name},{last}", partly=name == CAPPED.name)
        if run.get(name) is None:
            continue  # several ranks count no reasoning, and servers may not say how answers end
        if total is None or times is None:
            said = "It does not follow from the log alone."
            yield Check(kind, name, NOT_CHECKABLE, run.get(name), None, said)
        else:
            said = f"The signature counts other {name} answers than the log has."
            yield compared(kind, name, run.get(name), round(total * times), said)


# ---------------------------------------------------------------------- data and questions


def _data(task: LoggedTask) -> Iterator[Check]:
    """Yield the checks of the data's hash: against what is pinned, and against the data here."""
    kind, data, found = "data", task.data, task.run.get("data_sha256")
    pinned = task.benchmark.source
    if data_of(task.run.get("data")) == pinned.label:
        said = "The label names other data than the hash."
        yield compared(kind, "label", found, pinned.sha256, said)
    if isinstance(data, str):
        yield Check(kind, "sha256", NOT_CHECKABLE, found, None, data)
    elif is_local(task.run.get("data")) and task.data_dir is not None:
        said = f"The result was not made from the data of the option data_dir, {data.label}."
        yield compared(kind, "sha256", found, data.sha256, said)
    else:
        said = f"Here is other data, {data.label}."
        yield compared(kind, "sha256", found, data.sha256, said, NOT_CHECKABLE)


def _questions(task: LoggedTask) -> Iterator[Check]:
    """Check every logged question against the data, if it is here: its place and its fields."""
    if isinstance(task.documents, str):
        return
    light = task.documents.rows.without("context").columns()
    wrong = []
    for row in task.rows:
        place = task.place(row)
        if place is None:
            wrong.append(at(row, f"is not the question in place {row.index} of the data"))
        else:
            other = [name for name, column in light.items() if row.doc.get(name) != column[place]]
            wrong += [at(row, f"has {name} {row.doc.get(name)!r}") for name in other[:1]]
    said = "The log has other questions or gold answers than the data it names."
    yield all_of("questions", len(task.rows), wrong, "fields as in the data", said)


def _asked(task: LoggedTask) -> Iterator[Check]:
    """Check the hash of the questions that were to be asked, and their number.

    The run hashed their ids in the order of the data. The log is in the order of the ranks, so its
    rows are put back by their number; questions that were skipped for their length are not in it.
    """
    kind = "questions asked"
    stated, asked = task.run.get("questions_sha256"), task.run.get("asked")
    first = task.rows[0].filter
    own = sorted((row for row in task.rows if row.filter == first), key=lambda row: row.index)
    ids = [row.name for row in own]
    if task.run.get("shard"):
        problem = "It is of the questions of all shards: verify them together once merged."
        yield Check(kind, "questions_sha256", NOT_CHECKABLE, stated, None, problem)
        yield compared("counts", "asked", asked, len(ids), "The log has another number of them.")
        return
    said = "The run was to ask other questions than the log has."
    if task.run.get("overlength") == "skip":
        problem = "Skipped questions are not in the log, and the data is not here to tell them."
        ids = task.ids[:asked]
        if task.ids:
            problem = "Skipped questions are not in the log: which were chosen cannot be told."
        if _hash(ids) != stated:
            yield Check(kind, "questions_sha256", NOT_CHECKABLE, stated, None, problem)
            yield Check("counts", "asked", NOT_CHECKABLE, asked, None, problem)
            return
    yield compared(kind, "questions_sha256", stated, _hash(ids), said)
    yield compared("counts", "asked", asked, len(ids), "The log has another number of them.")


def _hash(ids: Sequence[str]) -> str:
    return text_sha256(json.dumps(ids))
