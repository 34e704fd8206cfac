"""Find the reasoning that chain of thought embedded, and check its hash."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.prompts.text_hash import text_sha256
from lm_eval_longbench.provenance.check import (
    CONFIRMED,
    DIFFERENT,
    EDITED,
    NOT_CHECKABLE,
    Check,
)
from lm_eval_longbench.provenance.read_log import read_log
from lm_eval_longbench.provenance.read_results import ResultsFile, TaskResult
from lm_eval_longbench.provenance.recompute import COT, COT_ANSWER

_KIND = "reasoning"


def find_reasoning(task: TaskResult, results: ResultsFile) -> Mapping[str, str] | str:
    """Return the reasoning of pass one by question, from its log of the same run.

    A text says why it is not here, or that the task embeds none.
    """
    if task.run.get("task") != COT_ANSWER:
        return "The task embeds no reasoning."
    if (task.metadata.get("longbench") or {}).get("cot_samples") is not None:
        return "Pass one was another run: its log was named by cot_samples."
    for other in results.tasks:
        same = (other.run.get("task"), other.run.get("data")) == (COT, task.run.get("data"))
        if same and other.log is not None:
            try:
                return {row.name: row.generated[0][0] for row in read_log(other.log)}
            except (LongBenchError, IndexError) as error:
                return f"The log of pass one cannot be read: {error}"
    return "Pass one was another run: its log is not beside these results."


def check_reasoning(task: TaskResult, reasoning: Mapping[str, str] | str) -> Iterator[Check]:
    """Yield the check of the reasoning's hash, where a task embeds one."""
    if task.run.get("task") != COT_ANSWER:
        return
    stated = task.run.get("reasoning_sha256")
    if isinstance(reasoning, str):
        yield Check(_KIND, _KIND, NOT_CHECKABLE, stated, None, reasoning)
        return
    found = text_sha256(json.dumps(dict(reasoning), sort_keys=True))
    if found == stated:
        yield Check(_KIND, _KIND, CONFIRMED, stated, found)
    else:
        said = f"The log of pass one has other reasoning. {EDITED}"
        yield Check(_KIND, _KIND, DIFFERENT, stated, found, said)
