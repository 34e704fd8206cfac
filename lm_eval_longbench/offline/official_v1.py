"""Rows of the prediction files that the official LongBench v1 and LongBench-E scripts write."""

from __future__ import annotations

from typing import Any

from lm_eval_longbench.catalog import Split, split_of_task
from lm_eval_longbench.metrics.longbench_v1 import CLASSIFICATION
from lm_eval_longbench.offline.checks import content_hash, is_texts, is_whole
from lm_eval_longbench.offline.sample import Read, Sample, Unusable
from lm_eval_longbench.offline.source import Source

_LONGEST = 2**53


def gold_problem(row: dict[str, Any], split: Split) -> str | None:
    """Return why a row's gold data cannot be scored against, or None."""
    if not is_texts(row.get("answers")):
        return "'answers' is not a list of one or more texts"
    classes, length = row.get("all_classes"), row.get("length")
    if split.info.name in CLASSIFICATION and not is_texts(classes):
        return f"{split.info.name} needs 'all_classes', a list of texts"
    if split.is_e and (not isinstance(length, int) or isinstance(length, bool)):
        return "LongBench-E needs 'length', a whole number"
    return None


def sample_of(
    row: dict[str, Any],
    split: Split,
    *,
    id: str,
    index: int,
    repeat: int,
    response: str,
    truncated: bool | None,
) -> Sample:
    """Return a sample from a row whose gold data is sound.

    Args:
        row: with answers, all_classes and length.
        split: the dataset.
        id: the question's.
        index: its place in the dataset.
        repeat: number of the answer, from 1.
        response: the answer.
        truncated: whether its prompt was cut.
    """
    shown: dict[str, Any] = {"dataset": split.info.name, "index": index}
    if split.is_e:
        shown["length"] = row["length"]
    classes, length = row.get("all_classes"), row.get("length")
    # Of official questions gold answers, classes and length are equal for two of a dataset at most;
    # without the length they often are.
    is_told = is_whole(length, 0, _LONGEST)
    asked = (row.get("input"), row["answers"], classes, length)
    return Sample(
        table=split.benchmark,
        task=split.task,
        id=id,
        order=index,
        repeat=repeat,
        response=response,
        golds=row["answers"],
        classes=classes if is_texts(classes) else None,
        shown=shown,
        truncated=truncated,
        content=content_hash(*asked) if is_told else None,
    )


def read_row(row: Any, index: int, source: Source) -> Read:
    """Return the sample of a prediction file's row.

    Args:
        row: decoded.
        index: position among the file's lines that are not blank, from 0: these rows have no id.
        source: the file; it is of one task.
    """
    if not isinstance(row, dict):
        return Unusable("not a JSON object")
    for name in ("pred", "answers"):
        if name not in row:
            return Unusable(f"no field {name!r}")
    if not isinstance(row["pred"], str):
        return Unusable("'pred' is not a text")
    split = split_of_task(str(source.task))
    problem = gold_problem(row, split)
    if problem:
        return Unusable(problem)
    own = sample_of(
        row,
        split,
        id=str(index),
        index=index,
        repeat=1,
        response=row["pred"],
        truncated=None,
    )
    return [own]
