"""Say in plain `lm_eval` what its table lacks: the figures that papers print, and the verdict.

The harness can only average tasks. But what is known of every answer, of all ranks, passes through
the aggregation of each task, which is ours: the last one of a run says the rest. `run` and
`evaluate` of this package end with a report of their own, and are silent here.
"""

from __future__ import annotations

import contextlib
import logging
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lm_eval_longbench.harness.backend import tasks_of_call
from lm_eval_longbench.records.answer import REPLIES
from lm_eval_longbench.reporting.report import make_report
from lm_eval_longbench.reporting.run_end import Asked, headlines
from lm_eval_longbench.reporting.scored_run import read_run
from lm_eval_longbench.scoring.score import score_rows
from lm_eval_longbench.signature.signature import counted

logger = logging.getLogger(__name__)
_silent = False


class Judged(float):
    """A figure of one question that has the row of its sample log with it.

    As a figure it gets to the first rank from all others.
    """

    row: dict[str, Any]


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """While open, nothing is said here: the run ends with a report."""
    global _silent
    before, _silent = _silent, True
    try:
        yield
    finally:
        _silent = before


def judged(value: float, doc: Mapping[str, Any], results: Sequence[Any]) -> float:
    """Return a figure of a question of a log, with its answers if need be."""
    if _silent:
        return value
    found = Judged(value)
    found.row = {"doc_id": doc["index"], "doc": doc, "filtered_resps": results}
    return found


def gather(task: Any, values: Sequence[Any]) -> None:
    """Take the answers that come with a task's figures; the last task of a run says what follows.

    Args:
        task: a `LongBenchTask` that has no answers yet.
        values: of the figure that has them, a question each.
    """
    if _silent or not all(isinstance(value, Judged) for value in values):
        return
    task.rows = sorted((value.row for value in values), key=lambda row: int(row["doc_id"]))
    # Each rank knows of its own answers alone.
    task.signature.leave_out(row["doc"].get(REPLIES, ()) for row in task.rows)
    tasks = [one for one in tasks_of_call() if isinstance(one, type(task))]
    # With tensor parallelism several processes are each the first rank.
    if any(task.rows is None for task in tasks) or int(os.environ.get("LOCAL_RANK") or 0):
        return
    # Of two settings of one task the one under our own name counts.
    signed = counted({str(task.config.task): task.signature.run for task in tasks})
    known = [task for task in tasks if any(own is task.signature.run for own in signed)]
    try:
        for line in _said(known, signed):
            logger.warning(line)
    except Exception as error:  # whatever it is: the harness has results to write
        logger.warning(f"The figures of all tasks together cannot be given: {error}")
        logger.debug("They cannot be given.", exc_info=True)
    for task in tasks:
        task.rows = None


def _said(tasks: Sequence[Any], signed: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the headline of each table of a run, and the verdict on its protocol."""
    rows = {str(task.config.task): task.rows for task in tasks}
    embedder = next((task.asking.embedder for task in tasks if task.asking.embedder), None)
    with tempfile.TemporaryDirectory(prefix="lm-eval-longbench-") as scratch:
        score_rows(rows, scratch, embedder=embedder, signatures=signed)
        found = make_report([read_run(Path(scratch), "plain")])
    runs = ((task.signature.run, len(task.eval_docs)) for task in tasks)
    asked = {run["task"]: (run["asked"], of) for run, of in runs}
    return headlines(found, Asked("--limit or --samples", asked))
