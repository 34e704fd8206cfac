"""Compare two results, task by task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval_longbench.benchmarks.registry import benchmark_of, benchmark_of_table, tasks
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.logs.found_results import find_results
from lm_eval_longbench.logs.results_file import (
    ResultsFile,
    ScoredFolder,
    read_results,
)
from lm_eval_longbench.logs.sample_log import BYPASS, read_log
from lm_eval_longbench.logs.scored_files import SAMPLES
from lm_eval_longbench.shapes import Cosine, checked
from lm_eval_longbench.signature.compare import (
    CARE,
    COMPARABLE,
    NOT,
    Comparison,
    SignatureDifference,
    compare,
)
from lm_eval_longbench.signature.signature import UNKNOWN
from lm_eval_longbench.verify.scored import read_samples

_PACKAGE = "lm-eval-longbench "


@dataclass(frozen=True)
class ComparedEntry:
    """One task of one result.

    Attributes:
        file: the results file or scored folder.
        task: our own name of it; of a part of a task the user's.
        signature: the ingredients that the result states.
        figures: by metric, without standard errors.
        log: where the ids of its questions can be read; None: nowhere.
    """

    file: Path
    task: str
    signature: Mapping[str, Any]
    figures: Mapping[str, Any]
    log: Path | None

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


def read_side(path: Path) -> dict[str, ComparedEntry]:
    """Read one side by task: a results file, a run folder or a scored folder.

    Raises:
        PredictionError: a file is broken, there are no tasks of this package, or two files have
            results of one task.
    """
    entries: dict[str, ComparedEntry] = {}
    for place in find_results([path]):
        results = read_results(place)
        own = _of_folder(results) if isinstance(results, ScoredFolder) else _of_file(results)
        for entry in own:
            other = entries.setdefault(entry.task, entry)
            if other is not entry:
                raise PredictionError(
                    f"{path} has two results of {entry.task}: {other.file} and {entry.file}. Name "
                    "the one to compare."
                )
    if not entries:
        raise PredictionError(f"{path} has no results of tasks of this package.")
    return entries


def _figures(file: Path, place: str, found: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the figures of a task that can be compared.

    Raises:
        PredictionError: one is no share and no cosine, nor what the harness writes where it has
            none: null, NaN and "N/A", and any number as "bypass" of --predict_only.
    """
    for name, value in found.items():
        if name != BYPASS and value is not None and value == value and value != "N/A":
            checked(value, Cosine, f"{file} has a wrong figure", f"{place}.{name}")
    return found


def _of_file(results: ResultsFile) -> Iterator[ComparedEntry]:
    known = [str(task.run.get("task")) for task in results.tasks]
    for task, name in zip(results.tasks, known, strict=True):
        own = tasks().get(name)
        asked = own and benchmark_of(own).asked(own, task.config.get("dataset_name"))
        # Parts of a task share its name, and a user may run one task in two ways.
        shared = known.count(name) > 1 or asked not in (None, own)
        figures: Mapping[str, Any] = {
            key.removesuffix(",none"): value
            for key, value in task.figures.items()
            if "," in key and "_stderr," not in key
        }
        figures = _figures(task.file, f"results.{task.name}", figures)
        yield ComparedEntry(
            task.file, task.name if shared else name, task.signature, figures, task.log
        )


def _of_folder(folder: ScoredFolder) -> Iterator[ComparedEntry]:
    """Yield the tasks of a scored folder, with the ingredients that its report knows."""
    version = str(folder.report.get("package", "")).removeprefix(_PACKAGE)
    for table, facts in folder.report["tables"].items():
        benchmark = benchmark_of_table(table)
        for task, own in facts["tasks"].items():
            signature: dict[str, Any] = {
                "benchmark": facts.get("benchmark"),
                "task": task,
                "repeats": facts.get("repeats"),
                "answered": own.get("questions"),
                "failed": own.get("failed"),
                "capped": own.get("capped"),
                "packages": {"lm_eval_longbench": version},
            }
            if len(facts.get("data") or ()) == 1:
                signature["data"] = facts["data"][0]
            if any(one.summary for one in benchmark.tasks.values()):
                signature["embedding_model"] = facts.get("embedding_model")
            stated = (facts.get("signature") or {}).get("tasks", {}).get(task, {})
            signature |= {name: value for name, value in stated.items() if value != UNKNOWN}
            known = benchmark.tables[table].tasks.get(task)
            metric = benchmark.harness_metrics(known)[0].name if known else "score"
            figures = _figures(folder.path, f"{table}.{task}", {metric: own.get("score")})
            yield ComparedEntry(folder.path, task, signature, figures, folder.path / SAMPLES)


@dataclass(frozen=True)
class TaskComparison:
    """One task that both results have.

    Attributes:
        task: its name.
        comparison: of its signatures, and of the questions that were asked.
        figures: each that both sides have, with its two values.
    """

    task: str
    comparison: Comparison
    figures: Sequence[tuple[str, Any, Any]]


@dataclass(frozen=True)
class Compared:
    """Two results beside each other.

    Attributes:
        tasks: those that both have.
        only_left, only_right: names of the others.
    """

    tasks: Sequence[TaskComparison]
    only_left: Sequence[str]
    only_right: Sequence[str]

    @property
    def verdict(self) -> str:
        """The heaviest verdict of the shared tasks; NOT without any."""
        verdicts = {task.comparison.verdict for task in self.tasks}
        if NOT in verdicts or not verdicts:
            return NOT
        alone = self.only_left or self.only_right
        return CARE if CARE in verdicts or alone else COMPARABLE


def compare_results(left: Path, right: Path) -> Compared:
    """Compare two results files, run folders or scored folders.

    Raises:
        PredictionError: a file is broken, or has no tasks of this package, or one task twice.
    """
    ours, theirs = read_side(left), read_side(right)
    return Compared(
        [_task(name, own, theirs[name]) for name, own in ours.items() if name in theirs],
        [name for name in ours if name not in theirs],
        [name for name in theirs if name not in ours],
    )


def _task(name: str, left: ComparedEntry, right: ComparedEntry) -> TaskComparison:
    found = compare(left.signature, right.signature)
    ours, theirs = left.questions(), right.questions()
    if ours is not None and theirs is not None and ours != theirs:  # signatures only count them
        other = SignatureDifference(
            "questions",
            f"{len(ours)}, {len(ours - theirs)} of them only here",
            f"{len(theirs)}, {len(theirs - ours)} of them only here",
            NOT,
            "the logs have answers to other questions",
        )
        found = Comparison([*found.differences, other], found.unstated)
    shared = (own for own in left.figures if own in right.figures)
    return TaskComparison(
        name, found, [(own, left.figures[own], right.figures[own]) for own in shared]
    )
