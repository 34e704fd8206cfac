"""Keep what the harness found, for the table at the end of a run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import lm_eval.evaluator
from lm_eval.loggers import EvaluationTracker

from lm_eval_longbench.harness.task import LongBenchTask
from lm_eval_longbench.secrets import masked
from lm_eval_longbench.semantic.embedder import Embedder


@dataclass
class Captured:
    """The run of our tasks, as far as this process has it.

    Attributes:
        rows: sample log rows by task; empty on all ranks but the first, and with --predict_only
            (nothing was scored).
        signatures: the signature of each task's run.
        embedder: that embedded the summaries among them; None: none did.
    """

    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    signatures: dict[str, dict[str, Any]] = field(default_factory=dict)
    embedder: Embedder | None = None


@contextlib.contextmanager
def captured() -> Iterator[Captured]:
    """While open, what the harness's evaluate returns for our tasks is kept."""
    evaluate = lm_eval.evaluator.evaluate
    kept = Captured()

    def keeping(lm: Any, task_dict: Any, log_samples: bool = True, **kwargs: Any) -> Any:
        result = evaluate(lm, task_dict, log_samples=True, **kwargs)
        if result is not None:
            _keep(kept, task_dict["tasks"], result)
            if not log_samples:
                del result["samples"]
        return result

    lm_eval.evaluator.evaluate = keeping
    try:
        yield kept
    finally:
        lm_eval.evaluator.evaluate = evaluate


@contextlib.contextmanager
def arguments_masked() -> Iterator[None]:
    """While open, no secret among the model's arguments is in the results files of the harness."""
    save = EvaluationTracker.save_results_aggregated

    def saving(self: EvaluationTracker, results: dict[str, Any], samples: Any = None) -> None:
        given = results["config"]["model_args"]
        if isinstance(given, dict):
            # In place: the model is built, and the harness prints them once more.
            given.update(masked(given))
        save(self, results=results, samples=samples)

    EvaluationTracker.save_results_aggregated = saving
    try:
        yield
    finally:
        EvaluationTracker.save_results_aggregated = save


def _keep(kept: Captured, tasks: dict[str, Any], result: dict[str, Any]) -> None:
    for name, task in tasks.items():
        # Of a second pass that failed there is nothing.
        if isinstance(task, LongBenchTask) and not task.predicts_only and name in result["samples"]:
            kept.rows[name] = result["samples"][name]
            kept.signatures[name] = result["configs"][name]["metadata"]["longbench_run"]
            kept.embedder = kept.embedder or task.embedder
