"""What `run` changes of the harness while it evaluates: each is put back afterwards.

The harness asks all requests of all tasks at once. Its `evaluate` is called a second time here,
with the same loaded model, for tasks whose prompts embed what the first call answered; and what it
found for our tasks is kept for the table at the end of a run.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import lm_eval.evaluator
import lm_eval.loggers

from lm_eval_longbench.errors import Interrupted, OptionError, RunStopped
from lm_eval_longbench.harness.backend import Evaluate, is_hf, replaced
from lm_eval_longbench.harness.headline import silence
from lm_eval_longbench.harness.kept_answers import KeptAnswers
from lm_eval_longbench.harness.models import NeedModel
from lm_eval_longbench.harness.prefill import reused_prefill
from lm_eval_longbench.harness.record import ResultsWriter, question_id
from lm_eval_longbench.harness.task import LongBenchTask
from lm_eval_longbench.options import KEY
from lm_eval_longbench.records.answer import BATCH
from lm_eval_longbench.retrieval.vectors import Embedder
from lm_eval_longbench.signature.signature import REUSED

logger = logging.getLogger(__name__)


@dataclass
class Captured:
    """The run of our tasks, as far as this process has it.

    Attributes:
        rows: sample log rows by task; empty on all ranks but the first, and with --predict_only
            (nothing was scored).
        predicted: with --predict_only the number of answered questions by task.
        signatures: the signature of each task's run.
        options: the options of each task that were given.
        embedder: that embedded the summaries among them; None: none did.
        unwritten: what could not be written, in one line; "": all was.
        model: the backend, and what it was given to load.
        logged: whether the run writes sample logs.
        log: file with all that was logged; None: the screen has it.
        begun: whether the model is loaded and the tasks are there.
        writer: of its results files; None: it did not come to it.
    """

    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    predicted: dict[str, int] = field(default_factory=dict)
    signatures: dict[str, dict[str, Any]] = field(default_factory=dict)
    options: dict[str, dict[str, Any]] = field(default_factory=dict)
    embedder: Embedder | None = None
    unwritten: str = ""
    model: str = ""
    logged: bool = False
    log: Path | None = None
    begun: bool = False
    writer: ResultsWriter | None = None

    @property
    def folder(self) -> Path | None:
        """Where the results are; None: the run writes none."""
        return self.writer.folder if self.writer and self.writer.results else None

    def keep(self, lm: Any, tasks: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        """Keep what `evaluate` found of a model, its samples included."""
        for name, task in tasks.items():
            if not isinstance(task, LongBenchTask):
                continue
            if task.predicts_only:
                self.predicted[name] = len({row["doc_id"] for row in result["samples"][name]})
            elif name in result["samples"]:  # of a second pass that failed there is nothing
                self.rows[name] = result["samples"][name]
                # Each rank knows of its own answers alone.
                replies = [row["doc"].get("replies", ()) for row in self.rows[name]]
                task.signature.leave_out(replies)
                reused = [reply.get("cached_tokens") for own in replies for reply in own]
                if name in getattr(lm, "reused_tasks", ()) or (is_hf(lm) and any(reused)):
                    task.signature.update(prefill=REUSED)
                if any(reply.get("via") for own in replies for reply in own):
                    task.signature.update(via=BATCH)
                metadata = result["configs"][name]["metadata"]
                self.signatures[name] = metadata["longbench_run"] = task.signature.run
                self.options[name] = dict(metadata.get(KEY) or {})
                self.embedder = self.embedder or task.asking.embedder


@contextlib.contextmanager
def evaluated(
    answers: KeptAnswers | None = None, kept: Captured | None = None
) -> Iterator[Captured]:
    """While open, the harness evaluates second passes after everything else, and all is kept.

    Args:
        answers: keeps all answers as they arrive; None: nothing does.
        kept: gets what is found; None: a new one.

    Raises:
        OptionError: a group's figure would need a second pass.
        BaseException: whatever ended a second pass; at the end, so that the harness has written the
            results of everything else.
    """
    kept = kept or Captured()
    evaluate = lm_eval.evaluator.evaluate
    failed: list[BaseException] = []

    def wrapped(
        lm: Any, task_dict: Any, log_samples: bool = True, **kwargs: Any
    ) -> dict[str, Any] | None:
        kept.begun = True
        reuse = all(
            task.asking.options.reuse_prefill != "off" for task in _ours(task_dict).values()
        )
        with (
            reused_prefill(lm) if reuse else contextlib.nullcontext(),
            answers.around(lm) if answers else contextlib.nullcontext(),
        ):
            result = _in_passes(evaluate, failed, lm, task_dict, **kwargs)
        if answers is not None:
            answers.end(lm)
        if result is not None:
            kept.keep(lm, task_dict["tasks"], result)
            if not log_samples:
                del result["samples"]
        return result

    with replaced(lm_eval.evaluator, evaluate=wrapped), silence():
        yield kept
    if failed:
        raise failed[0]


def _ours(task_dict: Any) -> dict[str, LongBenchTask]:
    """Return our tasks among those of a call."""
    return {name: t for name, t in task_dict["tasks"].items() if isinstance(t, LongBenchTask)}


# ---------------------------------------------------------------------- second passes


def _in_passes(
    evaluate: Evaluate,
    failed: list[BaseException],
    lm: Any,
    task_dict: Any,
    samples: Mapping[str, list[int]] | None = None,
    **kwargs: Any,
) -> dict[str, Any] | None:
    """Evaluate, and then what waits for the answers of it; the samples are always there."""
    evaluate = partial(evaluate, lm, log_samples=True, **kwargs)
    ours = _ours(task_dict)
    second = {name: task for name, task in ours.items() if task.asking.first_pass}
    waited_for = {task.asking.first_pass for task in second.values()}
    first = [name for name, task in ours.items() if task.asking.task.name in waited_for]
    if len(first) != 1:  # a log was named, or there is nothing to wait for
        return evaluate(task_dict, samples=samples)

    (own,) = first
    pass_one, pass_two = ours[own], next(iter(second.values())).asking.task.name
    _refuse_groups(task_dict.get("groups") or {}, second, pass_two)
    begun = {name: task for name, task in task_dict["tasks"].items() if name not in second}
    one = evaluate({**task_dict, "tasks": begun}, samples=samples)
    # The first rank has met the answers of all: its signature, which is the one that is written,
    # must not depend on how many ranks there are.
    whole = one and {question_id(row["doc"]): row["resps"][0][0] for row in one["samples"][own]}
    if samples is not None:
        samples = {**samples, **{name: samples[own] for name in second if own in samples}}
    for task in second.values():
        # Each rank has the reasoning of its own questions.
        asked = pass_one._instances or []
        task.asking.embed({question_id(own.doc): own.resps[0] for own in asked}, whole)
    try:
        two = evaluate({"tasks": second, "groups": {}}, samples=samples)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | Interrupted | RunStopped | NeedModel):
            raise  # where answers are kept the same command goes on
        if lm.world_size > 1 or one is None:  # the other ranks wait for this one
            raise
        # Not the error's repr: that of an HTTP error has the request's headers, and the key.
        kind = type(error).__name__
        logger.error(f"{pass_two} failed; the results of everything else are kept. {kind}: {error}")
        failed.append(error)
        return one
    if one is None or two is None:
        return None
    return {
        key: {**value, **two[key]} if isinstance(value, dict) and key in two else value
        for key, value in one.items()
    }


def _refuse_groups(groups: Mapping[str, Any], second: Collection[str], pass_two: str) -> None:
    """Refuse a group whose figure the harness would make before pass two is there."""
    for name, group in groups.items():
        if group.has_aggregation and set(group.child_names) & set(second):
            raise OptionError(
                f"The group {name!r} has a figure over {pass_two}, which is evaluated after it. "
                "Take the task out of the group, or give the finished reasoning with the option "
                "cot_samples."
            )


# ---------------------------------------------------------------------- results files


@contextlib.contextmanager
def results_written(kept: Captured, ended: Callable[[Mapping[str, Any]], object]) -> Iterator[None]:
    """While open, the harness's command line writes results as `ResultsWriter` does.

    Args:
        kept: gets the writer.
        ended: as for the writer.
    """

    def writer(**given: Any) -> ResultsWriter:
        kept.writer = ResultsWriter(ended, **given)
        return kept.writer

    try:
        with replaced(lm_eval.loggers, EvaluationTracker=writer):
            yield
    finally:
        if kept.writer is not None:
            kept.unwritten = kept.writer.take_back_parts()
