"""Give the harness the second stage that chain of thought in LongBench v2 needs.

The harness asks all requests of all tasks at once. Within `two_passes` it is called a second time,
with the same loaded model, for the answers that embed what the first call reasoned.
"""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import lm_eval.evaluator

from lm_eval_longbench.errors import LongBenchError, OptionError
from lm_eval_longbench.harness.longbench_v2_cot import (
    LongBenchV2CotAnswerTask,
    LongBenchV2CotTask,
)
from lm_eval_longbench.result_files import json_lines

logger = logging.getLogger(__name__)

PASS_ONE = LongBenchV2CotTask.NAME
PASS_TWO = LongBenchV2CotAnswerTask.NAME

Evaluate = Callable[..., dict[str, Any] | None]


def with_pass_two(tasks: str | Sequence[str]) -> list[str]:
    """Return the wanted tasks with pass two after pass one, where it was not asked for."""
    given = [tasks] if isinstance(tasks, str) else tasks
    names = [name.strip() for part in given for name in part.split(",")]
    if PASS_ONE in names and PASS_TWO not in names:
        names.insert(names.index(PASS_ONE) + 1, PASS_TWO)
    return names


@contextlib.contextmanager
def two_passes(folder: Path) -> Iterator[None]:
    """While open, the harness evaluates pass two after everything else.

    Args:
        folder: where pass one's reasoning is kept before pass two begins, whatever happens then.

    Raises:
        OptionError: a group's figure would need pass two.
        BaseException: whatever ended pass two; at the end, so that the harness has written the
            results of everything else.
    """
    evaluate = lm_eval.evaluator.evaluate
    failed: list[BaseException] = []

    def in_two_passes(lm: Any, task_dict: Any, **kwargs: Any) -> dict[str, Any] | None:
        return _evaluate(evaluate, folder, failed, lm, task_dict, **kwargs)

    lm_eval.evaluator.evaluate = in_two_passes
    try:
        yield
    finally:
        lm_eval.evaluator.evaluate = evaluate
    if failed:
        raise failed[0]


def _evaluate(
    evaluate: Evaluate,
    folder: Path,
    failed: list[BaseException],
    lm: Any,
    task_dict: Any,
    samples: Mapping[str, list[int]] | None = None,
    **kwargs: Any,
) -> dict[str, Any] | None:
    tasks = task_dict["tasks"]
    first = [task for task in tasks.values() if isinstance(task, LongBenchV2CotTask)]
    second = {
        name: task
        for name, task in tasks.items()
        if isinstance(task, LongBenchV2CotAnswerTask) and not task.reads_log
    }
    if len(first) != 1 or not second:  # a log was named, or there is nothing to wait for
        return evaluate(lm, task_dict, samples=samples, **kwargs)

    _refuse_groups(task_dict.get("groups") or {}, second)
    begun = {name: task for name, task in tasks.items() if name not in second}
    wanted = kwargs.pop("log_samples", True)
    one = evaluate(lm, {**task_dict, "tasks": begun}, samples=samples, log_samples=True, **kwargs)
    _keep(folder, first[0], lm)
    # The first rank has met the answers of all: its signature, which is the one that is written,
    # must not depend on how many ranks there are.
    whole = None
    if one is not None:
        own = next(name for name, task in tasks.items() if task is first[0])
        whole = first[0].logged_reasoning(one["samples"][own])
        if not wanted:
            del one["samples"]
    kwargs["log_samples"] = wanted
    if samples is not None:
        own = next(name for name, task in tasks.items() if task is first[0])
        samples = {**samples, **{name: samples[own] for name in second if own in samples}}
    for task in second.values():
        task.embed(first[0].reasoning(), whole)
    try:
        two = evaluate(lm, {"tasks": second, "groups": {}}, samples=samples, **kwargs)
    except BaseException as error:
        if lm.world_size > 1 or one is None:  # the other ranks wait for this one
            raise
        # Not the error's repr: that of an HTTP error has the request's headers, and the key.
        kind = type(error).__name__
        logger.error(f"{PASS_TWO} failed; the results of everything else are kept. {kind}: {error}")
        failed.append(error)
        return one
    return None if one is None or two is None else _joined(one, two)


def _refuse_groups(groups: Mapping[str, Any], second: Mapping[str, Any]) -> None:
    """Refuse a group whose figure the harness would make before pass two is there."""
    for name, group in groups.items():
        members = set(group.child_names)
        if group.has_aggregation and members & set(second):
            raise OptionError(
                f"The group {name!r} has a figure over {PASS_TWO}, which is evaluated after it. "
                "Take the task out of the group, or give the finished reasoning with the option "
                "cot_samples."
            )


def _keep(folder: Path, task: LongBenchV2CotTask, lm: Any) -> None:
    """Write the reasoning down: an interrupted pass two must not cost pass one."""
    moment = datetime.now().strftime("%Y-%m-%dT%H-%M-%S.%f")
    file = folder / f"reasoning_{PASS_ONE}_{moment}_rank{lm.rank}.jsonl"
    try:
        with json_lines(file) as emit:
            for row in task.log_rows():
                emit(row)
    except LongBenchError as error:  # pass two can still be had, and the run's own log after it
        logger.error(f"The reasoning of {PASS_ONE} could not be kept before pass two: {error}")
        return
    # Each rank has the reasoning of its own questions.
    option = json.dumps({"longbench": {"cot_samples": str(folder if lm.world_size > 1 else file)}})
    logger.warning(
        f"{PASS_ONE}: the reasoning is in {file}. Should pass two be interrupted, go on with "
        f"--tasks {PASS_TWO} --metadata '{option}'."
    )


def _joined(one: dict[str, Any], two: dict[str, Any]) -> dict[str, Any]:
    """Return the results of two calls as those of one."""
    return {
        key: {**value, **two[key]} if isinstance(value, dict) and key in two else value
        for key, value in one.items()
    }
