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
from lm_eval_longbench.scoring.files import LOG, InputFile, count_rows, first_rows, stem_of

_OWN_OUTPUT = frozenset({"table", "task", "id", "repeat", "score", "failed"})
_OWN = "own"
# Files of answers, and the log.
_OF_RUN = re.compile(r"answers_.+\.sqlite(\.lock|-wal|-shm)?|run_\d{4}-\d\d-\d\dT[\d.-]+\.log")


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


def recognise_log(file: InputFile, row: Any, benchmark: str | None = None) -> Foreign | None:
    """Note what a sample log holds, from its first row; or say why it is none of ours."""
    task = task_in_name(stem_of(file.path)) if file.path else file.name
    told = row["doc"].get("task", task) if is_log_row(row) else task
    table = table_of(told)
    if table is None and file.path is not None:  # its benchmark may stand in the results beside it
        for path in results_beside(file.path):
            with contextlib.suppress(PredictionError):
                read_results_file(path)
        table = table_of(told)
    if table is None:
        whose = f"of the task {told!r}" if told else "that does not say its task"
        known = ", ".join(tables())
        return Foreign(f"is a sample log {whose}; the tasks of {known} are known")
    if benchmark is not None and table.benchmark != short_names()[benchmark].name:
        return Foreign(f"is a sample log of the task {told!r}, which is not of {benchmark}")
    name = row.get("filter") if isinstance(row, dict) else None
    file.kind, file.task = LOG, task if table_of(task) else None
    file.filter = name if isinstance(name, str) else None
    return None


def _chosen(kind: str | None, file: InputFile, stem: str, short: str) -> str | Foreign | None:
    """Return the kind of a file that the user said the benchmark of."""
    own = short_names()[short]
    if kind == LOG:
        return LOG
    if own.file_names == "all" and not own.is_official_name(stem):
        return Foreign(f"is no dataset of {short}")
    known = file.named or kind == own.file_kind or own.is_official_name(stem)
    return own.file_kind if known or own.file_names == "none" else None


def _looked_up(file: InputFile, stem: str) -> tuple[str | None, Any]:
    """Return the kind of a file by its content, with the row that tells; else by its name."""
    is_readable = False
    for row in first_rows(file.place):
        kind = _OWN if isinstance(row, dict) and row.keys() >= _OWN_OUTPUT else _kind_of(row, stem)
        if kind is not None:
            return kind, row
        is_readable = is_readable or isinstance(row, dict)
    return None if is_readable else _kind_by_name(stem), None


def _by_layout(file: InputFile, short: str | None) -> Foreign | None:
    """Note what the file of another program holds, or say why it is not scored."""
    path = file.place
    fitting = [name for name, own in layouts().items() if own.may_be(path, named=file.named)]
    for name in fitting:
        try:
            row = next((own for own in first_rows(path, name) if isinstance(own, dict)), None)
        except PredictionError:  # of another form
            continue
        found = None if row is None else layouts()[name].find(row, path)
        if isinstance(found, str):
            return Foreign(found)
        if found is None:
            continue
        own = benchmark_of_table(found.table)
        if short is not None and own.short != short:
            return Foreign(f"is {layouts()[name].title}, which is not of {short}")
        file.kind, file.layout = own.file_kind, name
        file.table, file.task = found.table, found.task or found.table
        return None
    if file.named or path.suffix not in (".csv", ".json"):
        return None
    # Looked at for its name alone.
    return Foreign("is not recognised as predictions", quiet=path.suffix == ".json")


def recognise(file: InputFile, benchmark: str | None) -> Foreign | None:
    """Note what a file holds, of the benchmark with this short name; None: of any.

    Returns:
        Why it is none of ours; None: it is.

    Raises:
        PredictionError: the file cannot be read.
    """
    path = file.place
    if _OF_RUN.fullmatch(path.name):  # named or not: a shell writes all names of a folder
        return Foreign("is what `run` keeps beside its results, not predictions", quiet=True)
    stem = stem_of(path)
    with reading(path, PredictionError):
        odd = odd_kind(path)
    if odd:
        return Foreign(odd)
    other = _by_layout(file, benchmark)
    if other is not None or file.layout:
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
        return recognise_log(file, row, benchmark)
    if kind is None:
        return Foreign("is not recognised as predictions")
    one = of_kind(kind)[0]
    file.kind = kind
    if one.file_names == "all":
        if not one.is_official_name(stem):
            return Foreign(f"is no dataset of {one.short}")
        file.table, file.task = short_names()[benchmark].name if benchmark else None, stem
        return None
    file.table = one.official_table(row, stem)
    file.task = file.table if file.table in tables()[file.table].tasks else None
    return None


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
