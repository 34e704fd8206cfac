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
from itertools import chain
from pathlib import Path
from typing import Any

from lm_eval_longbench.benchmarks.registry import tables
from lm_eval_longbench.harness.backend import tasks_of_call
from lm_eval_longbench.records.answer import REPLIES
from lm_eval_longbench.records.scored import FORMAT, REPORT, SAMPLES
from lm_eval_longbench.reporting.report import make_report
from lm_eval_longbench.reporting.run_end import Asked, headlines
from lm_eval_longbench.reporting.scored_run import read_run
from lm_eval_longbench.result_files import written_together
from lm_eval_longbench.scoring.merge import TableAnswers, is_official
from lm_eval_longbench.scoring.report import table_report, table_signatures
from lm_eval_longbench.signature.signature import counted

Line = dict[str, Any]
logger = logging.getLogger(__name__)
_silent = False


class Judged(float):
    """A figure of one question that has with it what each of its answers is worth.

    As a figure it gets to the first rank from all others.

    Attributes:
        lines: of the answers, as in samples.jsonl.
        replies: what is known of them besides.
    """

    lines: tuple[Line, ...]
    replies: tuple[Mapping[str, Any], ...]


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """While open, nothing is said here: the run ends with a report."""
    global _silent
    before, _silent = _silent, True
    try:
        yield
    finally:
        _silent = before


def judged(value: float, lines: Sequence[Line], doc: Mapping[str, Any]) -> float:
    """Return a figure of a question of a log, with its answers if need be."""
    if _silent:
        return value
    found = Judged(value)
    found.lines = tuple({**line, "index": doc["index"]} for line in lines)
    found.replies = tuple(doc.get(REPLIES) or ())
    return found


def gather(task: Any, values: Sequence[Any]) -> None:
    """Take the answers that come with a task's figures; the last task of a run says what follows.

    Args:
        task: a `LongBenchTask` that has no answers yet.
        values: of the figure that has them, a question each.
    """
    if _silent or not all(isinstance(value, Judged) for value in values):
        return
    lines = chain.from_iterable(value.lines for value in values)
    task.lines = sorted(lines, key=lambda line: (line["index"], line["repeat"]))
    # Each rank knows of its own answers alone.
    task.signature.leave_out(value.replies for value in values)
    tasks = [one for one in tasks_of_call() if isinstance(one, type(task))]
    # With tensor parallelism several processes are each the first rank.
    if any(task.lines is None for task in tasks) or int(os.environ.get("LOCAL_RANK") or 0):
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
        task.lines = None


def _said(tasks: Sequence[Any], signed: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the headline of each table of a run, and the verdict on its protocol."""
    parts = {}
    for name in tables():
        own = [task for task in tasks if task.asking.task.table == name]
        if own:
            parts[name] = _part(name, own)
    signatures = table_signatures(parts, signed)
    for name, part in parts.items():
        part["signature"] = signatures[name]
    report = {"format": FORMAT, "package": "", "tables": parts, "inputs": [], "problems": {}}
    with tempfile.TemporaryDirectory(prefix="lm-eval-longbench-") as scratch:
        with written_together([Path(scratch) / SAMPLES, Path(scratch) / REPORT]) as (rows, made):
            for task in tasks:
                for line in task.lines or ():
                    rows.add(line)
            made.document(report)
        runs = ((task.signature.run, len(task.eval_docs)) for task in tasks)
        asked = {run["task"]: (run["asked"], of) for run, of in runs}
        found = make_report([read_run(Path(scratch), "plain")])
        return headlines(found, Asked("--limit or --samples", asked))


def _part(name: str, tasks: Sequence[Any]) -> Any:
    """Return a table's part of the report."""
    lines = [line for task in tasks for line in task.lines or ()]
    labels = sorted({str(task.signature.run["data"]) for task in tasks})
    embedder = next((task.asking.embedder for task in tasks if task.asking.embedder), None)
    return table_report(
        TableAnswers(
            name,
            lines,
            repeats=max(task.asking.repeats for task in tasks),
            official=all(map(is_official, labels)),
            reasoning=tasks[0].asking.options.reasoning,
            data=labels,
            embedding_model=embedder.name if embedder else None,
        )
    )
