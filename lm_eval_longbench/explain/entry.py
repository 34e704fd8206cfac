"""What results files and scored folders say of each task: ingredients and figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval_longbench.benchmarks.registry import benchmark_of, benchmark_of_table, tasks
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.input_files import read_json_lines
from lm_eval_longbench.logs.results_file import ResultsFile, ScoredFolder
from lm_eval_longbench.logs.sample_log import BYPASS, is_log_row
from lm_eval_longbench.logs.scored_files import SAMPLES
from lm_eval_longbench.shapes import Cosine, checked
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

        Nor does it where ids are lines of a prediction file, which another side need not have.

        Raises:
            PredictionError: the log is broken.
        """
        if self.log is None:
            return None
        if self.log.name == SAMPLES:
            rows = [row for _, row in read_samples(self.log) if row["task"] == self.task]
            are_lines = all(str(row["id"]) == str(row.get("index")) for row in rows)
            return None if are_lines else {str(row["id"]) for row in rows}
        docs = (
            row["doc"] for _, row in read_json_lines(self.log, PredictionError) if is_log_row(row)
        )
        return {str(doc.get("_id", doc.get("id"))) for doc in docs}


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


def of_file(results: ResultsFile) -> Iterator[ComparedEntry]:
    """Yield the tasks of a results file."""
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


def of_folder(folder: ScoredFolder) -> Iterator[ComparedEntry]:
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
