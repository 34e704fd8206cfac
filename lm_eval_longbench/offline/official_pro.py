"""Rows of the inference files that the official LongBench Pro scripts write."""

from __future__ import annotations

from typing import Any

from lm_eval_longbench.catalog import MOST_REPEATS
from lm_eval_longbench.catalog_pro import DIMENSIONS, SECONDARY_TASKS
from lm_eval_longbench.metrics.longbench_pro import SUMMARY
from lm_eval_longbench.offline.checks import (
    content_hash,
    document_of_text,
    is_texts,
    is_whole,
    text_id,
)
from lm_eval_longbench.offline.sample import Read, Sample, Unusable
from lm_eval_longbench.offline.source import Source


def question_problem(row: dict[str, Any]) -> str | None:
    """Return why a row's question cannot be scored against, or None."""
    if text_id(row.get("id")) is None:
        return "no field 'id' with a text"
    name = row.get("secondary_task")
    if not isinstance(name, str) or name not in SECONDARY_TASKS:
        return "'secondary_task' is missing or is none of LongBench Pro's"
    task = SECONDARY_TASKS[name]
    for dimension, valid in DIMENSIONS.items():
        if row.get(dimension) not in valid:
            return f"{dimension!r} is missing or not one of {', '.join(valid)}"
    if row["primary_task"] != task.primary:
        return f"{task.name!r} is no part of the primary task {row['primary_task']!r}"
    if not is_texts(row.get("answer")):
        return "'answer' is not a list of one or more texts"
    if task.metric == SUMMARY and not any(text.strip() for text in row["answer"]):
        return "'answer' holds no reference to compare a summary with"
    return None


def sample_of(
    row: dict[str, Any],
    table: str,
    *,
    repeat: int,
    response: str,
    truncated: bool | None,
    document: str | None,
) -> Sample:
    """Return a sample from a row whose question is sound.

    Args:
        row: with id, the dimensions, secondary_task and answer.
        table: "longbench_pro" or "longbench_pro_thinking".
        repeat: number of the answer, from 1.
        response: the answer.
        truncated: whether its prompt was cut.
        document: short hash of its document; None: not known.
    """
    # Many documents are asked one question: only with the document it is known for the same.
    asked = (row.get("question_nonthinking"), row.get("question_thinking"), row["answer"], document)
    shown = {dimension: row[dimension] for dimension in DIMENSIONS}
    shown["secondary_task"] = row["secondary_task"]
    return Sample(
        table=table,
        task=f"{table}_{SECONDARY_TASKS[row['secondary_task']].code}",
        id=text_id(row["id"]) or "",
        order=0,
        repeat=repeat,
        response=response,
        golds=row["answer"],
        shown=shown,
        truncated=truncated,
        content=None if document is None else content_hash(*asked),
        document=document,
    )


def read_row(row: Any, index: int, source: Source) -> Read:
    """Return the sample of an inference file's row.

    Args:
        row: decoded.
        index: not used: these rows have an id.
        source: the file; it is of one table.
    """
    if not isinstance(row, dict):
        return Unusable("not a JSON object")
    problem = question_problem(row)
    if problem:
        return Unusable(problem)
    if "prediction" not in row:
        return Unusable("no field 'prediction'")
    if not isinstance(row["prediction"], str | None):
        return Unusable("'prediction' is neither a text nor null")
    if not is_whole(row.get("bon_idx"), 1, MOST_REPEATS):
        return Unusable(f"'bon_idx' is not a whole number from 1 to {MOST_REPEATS}")
    own = sample_of(
        row,
        str(source.table),
        repeat=row["bon_idx"],
        response=row["prediction"] or "",
        truncated=None,
        # The official files have no `context`.
        document=document_of_text(row.get("context")),
    )
    return [own]
