"""One side of a comparison: its tasks with signature, figures and questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.provenance.find_results import SAMPLES, find_results
from lm_eval_longbench.provenance.read_log import read_log
from lm_eval_longbench.provenance.read_results import (
    ResultsFile,
    ScoredFolder,
    TaskResult,
    read_results,
)
from lm_eval_longbench.provenance.read_samples import read_samples
from lm_eval_longbench.provenance.recompute import COT
from lm_eval_longbench.provenance.shapes import SCORE, checked
from lm_eval_longbench.provenance.signature import UNKNOWN

_PACKAGE = "lm-eval-longbench "


@dataclass(frozen=True)
class Entry:
    """One task of one result.

    Attributes:
        file: the results file or scored folder.
        task: our own name of it; of a domain of LongBench v2 the user's.
        signature: the ingredients that the result states.
        figures: by metric, without standard errors.
        line: the signature in one line; None: the result has none.
        log: where the ids of its questions can be read; None: nowhere.
    """

    file: Path
    task: str
    signature: Mapping[str, Any]
    figures: Mapping[str, Any]
    line: str | None = None
    log: Path | None = None

    def questions(self) -> set[str] | None:
        """Return the ids of the questions that were answered; None: the result does not tell.

        Raises:
            PredictionError: the log is broken.
        """
        if self.log is None:
            return None
        if self.log.name == SAMPLES:
            rows = (row for _, row in read_samples(self.log) if row["task"] == self.task)
            return {str(row["id"]) for row in rows}
        return {row.name for row in read_log(self.log)}


@dataclass
class Side:
    """One side of a comparison.

    Attributes:
        entries: by task.
        foreign: tasks of others that were passed over.
    """

    entries: dict[str, Entry] = field(default_factory=dict)
    foreign: int = 0


def read_side(path: Path) -> Side:
    """Read one side: a results file, a run folder or a scored folder.

    Raises:
        PredictionError: a file is broken, there are no tasks of this package, or two files have
            results of one task.
    """
    side = Side()
    for place in find_results([path]):
        results = read_results(place)
        own = _of_folder(results) if isinstance(results, ScoredFolder) else _of_file(results)
        side.foreign += 0 if isinstance(results, ScoredFolder) else len(results.others)
        for entry in own:
            other = side.entries.setdefault(entry.task, entry)
            if other is not entry:
                raise PredictionError(
                    f"{path} has two results of {entry.task}: {other.file} and {entry.file}. Name "
                    "the one to compare."
                )
    if not side.entries:
        raise PredictionError(f"{path} has no results of tasks of this package.")
    return side


def _figures(file: Path, place: str, found: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the figures of a task that can be compared.

    Raises:
        PredictionError: one is no share, nor what the harness writes where it has none: null, NaN
            and "N/A", and any number as "bypass" of --predict_only.
    """
    for name, value in found.items():
        if name != "bypass" and value is not None and value == value and value != "N/A":
            checked(value, SCORE, f"{file} has a wrong figure", f"{place}.{name}")
    return found


def _of_file(results: ResultsFile) -> Iterator[Entry]:
    tasks = [str(task.run.get("task")) for task in results.tasks]
    for task in results.tasks:
        name = str(task.run.get("task"))
        # Domains of LongBench v2 share one name, and a user may run one task in two ways.
        shown = name if tasks.count(name) == 1 and not _is_domain(task) else task.name
        yield Entry(
            task.file,
            shown,
            task.signature,
            _figures(
                task.file,
                f"results.{task.name}",
                {
                    key.removesuffix(",none"): value
                    for key, value in task.figures.items()
                    if "," in key and "_stderr," not in key
                },
            ),
            str(task.run.get("signature")),
            task.log,
        )


def _is_domain(task: TaskResult) -> bool:
    is_v2 = task.run.get("benchmark") == "longbench_v2"
    return is_v2 and task.config.get("dataset_name") not in (None, "all")


def _of_folder(folder: ScoredFolder) -> Iterator[Entry]:
    """Yield the tasks of a scored folder, with the ingredients that its report knows."""
    version = str(folder.report.get("package", "")).removeprefix(_PACKAGE)
    for table, facts in folder.report["tables"].items():
        for task, own in facts["tasks"].items():
            signature: dict[str, Any] = {
                "benchmark": facts.get("benchmark"),
                "task": task,
                "repeats": facts.get("repeats"),
                "answered": own.get("questions"),
                "failed": own.get("failed"),
                "packages": {"lm_eval_longbench": version},
            }
            if len(facts.get("data") or ()) == 1:
                signature["data"] = facts["data"][0]
            if facts.get("benchmark") == "longbench_pro":
                signature["embedding_model"] = facts.get("embedding_model")
            stated = (facts.get("signature") or {}).get("tasks", {}).get(task, {})
            signature |= {name: value for name, value in stated.items() if value != UNKNOWN}
            metric = "score"
            if table.startswith("longbench_v2"):
                metric = "acc_one_call" if table == COT else "acc"
            figures = _figures(folder.path, f"{table}.{task}", {metric: own.get("score")})
            yield Entry(folder.path, task, signature, figures, None, folder.path / SAMPLES)
