"""Find out what a file holds: by its content first, by its name second."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval_longbench.benchmarks.base import Benchmark
from lm_eval_longbench.benchmarks.registry import (
    benchmark_of_table,
    benchmarks,
    layouts,
    short_names,
    table_of,
    tables,
)
from lm_eval_longbench.benchmarks.results import read_results_file
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.files import odd_kind, reading
from lm_eval_longbench.records.log import is_log_row, task_in_name
from lm_eval_longbench.records.results import results_beside
from lm_eval_longbench.scoring.files import LOG, FoundFile, count_rows, first_rows, stem_of

_OWN_OUTPUT = frozenset({"table", "task", "id", "repeat", "score", "failed"})
_OWN = "own"
# Files of answers, and the log.
_OF_RUN = re.compile(r"answers_.+\.sqlite(\.lock|-wal|-shm)?|run_\d{4}-\d\d-\d\dT[\d.-]+\.log")


@dataclass(frozen=True, slots=True)
class Recognised:
    """What a file holds.

    Attributes:
        kind: LOG, or the `file_kind` of a benchmark.
        table: of all rows; None: each row says it, or the other files beside it tell.
        task: of all rows, or of logs whose rows do not say it; before the table is known the name
            of the file.
        filter: LOG: the harness filter of the first row.
        layout: of `registry.layouts`, for the file of another program; "": none.
    """

    kind: str
    table: str | None = None
    task: str | None = None
    filter: str | None = None
    layout: str = ""


@dataclass(frozen=True, slots=True)
class Foreign:
    """A file that is none of ours.

    Attributes:
        reason: why it is not scored, to be read after its name.
        quiet: whether it is expected beside predictions, and passed over without a word.
    """

    reason: str
    quiet: bool = False


def of_kind(kind: str) -> list[Benchmark]:
    """Return the benchmarks whose official files are of a kind."""
    return [one for one in benchmarks().values() if one.file_kind == kind]


def _kind_of(row: Any, stem: str) -> str | None:
    """Return the kind of file that a decoded row is of, or None."""
    if is_log_row(row):
        return LOG
    if not isinstance(row, dict):
        return None
    # Later benchmarks have more fields that tell them.
    found = (
        one for one in reversed(tuple(benchmarks().values())) if one.is_official_row(row, stem)
    )
    return next((one.file_kind for one in found), None)


def _kind_by_name(stem: str) -> str | None:
    """Return the kind of file that a name is usual for, or None."""
    for one in benchmarks().values():
        if one.is_official_name(stem):
            return one.file_kind
    return LOG if table_of(task_in_name(stem)) else None


def _log(
    row: Any, stem: str, benchmark: str | None = None, path: Path | None = None
) -> Recognised | Foreign:
    task = task_in_name(stem)
    told = row["doc"].get("task", task) if is_log_row(row) else task
    table = table_of(told)
    if table is None and path is not None:  # its benchmark may stand in the results beside it
        for file in results_beside(path):
            with contextlib.suppress(PredictionError):
                read_results_file(file)
        table = table_of(told)
    if table is None:
        whose = f"of the task {told!r}" if told else "that does not say its task"
        known = ", ".join(tables())
        return Foreign(f"is a sample log {whose}; the tasks of {known} are known")
    if benchmark is not None and table.benchmark != short_names()[benchmark].name:
        return Foreign(f"is a sample log of the task {told!r}, which is not of {benchmark}")
    name = row.get("filter") if isinstance(row, dict) else None
    known_task = task if table_of(task) else None
    return Recognised(LOG, None, known_task, name if isinstance(name, str) else None)


def log_of_task(row: Any, task: str) -> Recognised | None:
    """Return what rows in memory under a task's name are, from the first; None: none of ours."""
    found = _log(row, f"samples_{task}")
    return found if isinstance(found, Recognised) else None


def _chosen(kind: str | None, file: FoundFile, stem: str, short: str) -> str | Foreign | None:
    """Return the kind of a file that the user said the benchmark of."""
    own = short_names()[short]
    if kind == LOG:
        return LOG
    if own.file_names == "all" and not own.is_official_name(stem):
        return Foreign(f"is no dataset of {short}")
    known = file.named or kind == own.file_kind or own.is_official_name(stem)
    return own.file_kind if known or own.file_names == "none" else None


def _looked_up(file: FoundFile, stem: str) -> tuple[str | None, Any]:
    """Return the kind of a file by its content, with the row that tells; else by its name."""
    is_readable = False
    for row in first_rows(file.path):
        kind = _OWN if isinstance(row, dict) and row.keys() >= _OWN_OUTPUT else _kind_of(row, stem)
        if kind is not None:
            return kind, row
        is_readable = is_readable or isinstance(row, dict)
    return None if is_readable else _kind_by_name(stem), None


def _by_layout(file: FoundFile, short: str | None) -> Recognised | Foreign | None:
    """Return what the file of another program holds; None: it is of none that is known."""
    fitting = [name for name, own in layouts().items() if own.may_be(file.path, named=file.named)]
    for name in fitting:
        try:
            row = next((own for own in first_rows(file.path, name) if isinstance(own, dict)), None)
        except PredictionError:  # of another form
            continue
        found = None if row is None else layouts()[name].find(row, file.path)
        if isinstance(found, str):
            return Foreign(found)
        if found is None:
            continue
        own = benchmark_of_table(found.table)
        if short is not None and own.short != short:
            return Foreign(f"is {layouts()[name].title}, which is not of {short}")
        task = found.task or found.table
        return Recognised(own.file_kind, found.table, task, layout=name)
    if file.named or file.path.suffix not in (".csv", ".json"):
        return None
    # Looked at for its name alone.
    return Foreign("is not recognised as predictions", quiet=file.path.suffix == ".json")


def recognise(file: FoundFile, benchmark: str | None) -> Recognised | Foreign:
    """Return what a file holds, of the benchmark with this short name; None: of any.

    Raises:
        PredictionError: the file cannot be read.
    """
    if _OF_RUN.fullmatch(file.path.name):  # named or not: a shell writes all names of a folder
        return Foreign("is what `run` keeps beside its results, not predictions", quiet=True)
    stem = stem_of(file.path)
    with reading(file.path, PredictionError):
        odd = odd_kind(file.path)
    if odd:
        return Foreign(odd)
    other = _by_layout(file, benchmark)
    if other is not None:
        return other
    kind, row = _looked_up(file, stem)
    if kind == _OWN:
        return Foreign("is what this command writes, not predictions", quiet=not file.named)
    official = kind not in (None, LOG) and row and not file.named
    if official and of_kind(str(kind))[0].is_scored_elsewhere(row, stem):
        return Foreign("holds scores of the official evaluation, not answers")
    if benchmark is not None:
        chosen = _chosen(kind, file, stem, benchmark)
        if isinstance(chosen, Foreign):
            return chosen
        kind = chosen
    if kind == LOG:
        return _log(row, stem, benchmark, file.path)
    if kind is None:
        return Foreign("is not recognised as predictions")
    one = of_kind(kind)[0]
    if one.file_names == "all":
        if not one.is_official_name(stem):
            return Foreign(f"is no dataset of {one.short}")
        return Recognised(kind, short_names()[benchmark].name if benchmark else None, stem)
    table = one.official_table(row, stem)
    return Recognised(kind, table, table if table in tables()[table].tasks else None)


def table_of_folder(kind: str, folder: Path, files: Mapping[str, Path]) -> str:
    """Return the table that a folder's files belong to, of benchmarks whose rows look alike.

    A folder of the official scripts on the way to them decides, the nearest one; then a dataset
    that one benchmark alone has; then the numbers of rows, if all are the official ones of one.

    Args:
        kind: of the files.
        folder: where they are.
        files: by dataset.

    Raises:
        PredictionError: nothing tells.
    """
    known = of_kind(kind)
    for part in reversed(folder.parts):
        for one in known:
            if part == one.official_folder:
                return one.name
    labels = {one.name: {task.label for task in one.tasks.values()} for one in known}
    fitting = [name for name, own in labels.items() if files.keys() <= own]
    if len(fitting) == 1:
        return fitting[0]
    found = {dataset: count_rows(path) for dataset, path in files.items()}
    rows = {one.name: {task.label: task.questions for task in one.tasks.values()} for one in known}
    same = [
        name for name in fitting if all(rows[name][own] == number for own, number in found.items())
    ]
    if len(same) == 1:
        return same[0]
    counts = ", ".join(f"{dataset} {number}" for dataset, number in sorted(found.items()))
    titles = " or of ".join(one.title for one in known)
    raise PredictionError(
        f"{folder} may hold predictions of {titles}: both have these "
        f"datasets, and the numbers of rows ({counts}) do not tell. Say which "
        f"benchmark it is: {' or '.join(one.short for one in known)}."
    )
