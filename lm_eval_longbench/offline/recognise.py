"""Find out what a file holds: by its content first, by its name second."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lm_eval_longbench.catalog import V1, E
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.input_files import odd_kind, reading
from lm_eval_longbench.offline import harness_log
from lm_eval_longbench.offline.file_kinds import (
    INFERENCE,
    kind_by_name,
    kind_of,
    pro_table,
    task_in,
    v2_table,
)
from lm_eval_longbench.offline.find_files import FoundFile, stem_of
from lm_eval_longbench.offline.score_tables import BENCHMARKS, TABLES, table_of
from lm_eval_longbench.offline.source import LOG, PRO_FILE, V1_FILE, V2_FILE
from lm_eval_longbench.offline.survey import first_rows

_OWN_OUTPUT = frozenset({"table", "task", "id", "repeat", "score", "failed"})
_OWN = "own"
_DATASETS = {"v1": V1, "v1_e": E}


@dataclass(frozen=True, slots=True)
class Recognised:
    """What a file holds.

    Attributes:
        kind: see `source`.
        table: of all rows; None: each row says it, or (V1_FILE) the other files beside it tell.
        task: of all rows, or of logs whose rows do not say it; V1_FILE: the dataset.
        filter: LOG: the harness filter of the first row.
    """

    kind: str
    table: str | None = None
    task: str | None = None
    filter: str | None = None


@dataclass(frozen=True, slots=True)
class Foreign:
    """A file that is none of ours.

    Attributes:
        reason: why it is not scored, to be read after its name.
        quiet: whether it is expected beside predictions, and passed over without a word.
    """

    reason: str
    quiet: bool = False


def _log(row: Any, name: str, benchmark: str | None = None) -> Recognised | Foreign:
    task = task_in(name)
    told = row["doc"].get("task", task) if harness_log.is_log_row(row) else task
    table = table_of(told)
    if table is None:
        whose = f"of the task {told!r}" if told else "that does not say its task"
        return Foreign(f"is a sample log {whose}; the tasks of {', '.join(TABLES)} are known")
    if benchmark is not None and table.benchmark != BENCHMARKS[benchmark]:
        return Foreign(f"is a sample log of the task {told!r}, which is not of {benchmark}")
    return Recognised(LOG, None, task if table_of(task) else None, _filter(row))


def log_of_task(row: Any, task: str) -> Recognised | None:
    """Return what rows in memory under a task's name are, from the first; None: none of ours."""
    found = _log(row, f"samples_{task}")
    return found if isinstance(found, Recognised) else None


def _filter(row: Any) -> str | None:
    value = row.get("filter") if isinstance(row, dict) else None
    return value if isinstance(value, str) else None


def _chosen(kind: str | None, file: FoundFile, name: str, benchmark: str) -> str | Foreign | None:
    """Return the kind of a file that the user said the benchmark of."""
    if kind == LOG:
        return LOG
    if benchmark in _DATASETS:
        if name in _DATASETS[benchmark]:
            return V1_FILE
        return Foreign(f"is no dataset of {benchmark}")
    if benchmark == "v2":
        return V2_FILE
    return PRO_FILE if file.named or kind == PRO_FILE or INFERENCE in name else None


def _looked_up(file: FoundFile, name: str) -> tuple[str | None, Any]:
    """Return the kind of a file by its content, with the row that tells; else by its name."""
    is_readable = False
    for row in first_rows(file.path):
        kind = _OWN if isinstance(row, dict) and row.keys() >= _OWN_OUTPUT else kind_of(row, name)
        if kind is not None:
            return kind, row
        is_readable = is_readable or isinstance(row, dict)
    return None if is_readable else kind_by_name(name), None


def recognise(file: FoundFile, benchmark: str | None) -> Recognised | Foreign:
    """Return what a file holds.

    Args:
        file: the file.
        benchmark: one of BENCHMARKS that the user says it is of; None: to be found out.

    Raises:
        PredictionError: the file cannot be read.
    """
    name = stem_of(file.path)
    with reading(file.path, PredictionError):
        odd = odd_kind(file.path)
    if odd:
        return Foreign(odd)
    kind, row = _looked_up(file, name)
    if kind == _OWN:
        return Foreign("is what this command writes, not predictions", quiet=not file.named)
    if kind == PRO_FILE and row and "metric" in row and INFERENCE not in name and not file.named:
        return Foreign("holds scores of the official evaluation, not answers")
    if benchmark is not None:
        chosen = _chosen(kind, file, name, benchmark)
        if isinstance(chosen, Foreign):
            return chosen
        kind = chosen
    if kind == LOG:
        return _log(row, name, benchmark)
    if kind == V2_FILE:
        mode = v2_table(row, name)
        return Recognised(V2_FILE, mode, mode)
    if kind == PRO_FILE:
        return Recognised(PRO_FILE, pro_table(name))
    if kind == V1_FILE and name not in V1:
        return Foreign("is no dataset of v1")
    if kind == V1_FILE:
        table = BENCHMARKS[benchmark] if benchmark else None
        return Recognised(V1_FILE, table, name)
    return Foreign("is not recognised as predictions")
