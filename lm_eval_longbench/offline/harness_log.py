"""Rows of the harness's own sample logs (`--log_samples`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lm_eval_longbench.catalog import MOST_REPEATS, split_of_task
from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.offline import official_pro, official_v1, official_v2
from lm_eval_longbench.offline.checks import document_of_hash, is_whole
from lm_eval_longbench.offline.sample import FOREIGN, Read, Sample, Unusable
from lm_eval_longbench.offline.score_tables import TABLES, TableInfo, table_of
from lm_eval_longbench.offline.source import Source
from lm_eval_longbench.provenance.read_log import responses_of
from lm_eval_longbench.provenance.recompute import had_no_reasoning

_MOST_DOCUMENTS = 2**53
_COT_ANSWER = "longbench_v2_cot_answer"


def is_log_row(row: Any) -> bool:
    """Whether a decoded row is of a sample log, of any task."""
    return (
        isinstance(row, dict)
        and isinstance(row.get("doc"), dict)
        and ("resps" in row or "filtered_resps" in row)
    )


def task_of(row: dict[str, Any], source: Source) -> object:
    """Return the task that a row names, else that of its file; None: neither does."""
    return row["doc"].get("task", source.task)


def data_label(row: dict[str, Any]) -> str | None:
    """Return the label of the data that a row's question is of; None: the row does not say."""
    label = row["doc"].get("data")
    return label if isinstance(label, str) else None


def _v1(row: dict[str, Any], table: TableInfo, task: str, index: int) -> Read:
    split = split_of_task(task)
    doc = row["doc"]
    problem = official_v1.gold_problem(doc, split)
    if problem:
        return Unusable(f"doc: {problem}")
    place = doc.get("index", row.get("doc_id", index))
    if not is_whole(place, 0, _MOST_DOCUMENTS):
        return Unusable("doc: 'index' is not a whole number from 0")
    name = doc.get("_id")
    if not isinstance(name, str) or not name:
        name = str(place)
    return _samples(
        row,
        lambda repeat, response, truncated: official_v1.sample_of(
            doc,
            split,
            id=name,
            index=place,
            repeat=repeat,
            response=response,
            truncated=truncated,
        ),
    )


def _v2(row: dict[str, Any], table: TableInfo, task: str, index: int) -> Read:
    doc = row["doc"]
    problem = official_v2.question_problem(doc)
    if problem:
        return Unusable(f"doc: {problem}")
    lost = task == _COT_ANSWER and _had_no_reasoning(row)

    def sample(repeat: int, response: str, truncated: bool | None) -> Sample:
        # Without reasoning there was nothing to answer from: the harness counts this as failed.
        text = "" if lost else response
        own = official_v2.sample_of(
            doc, table.name, repeat=repeat, response=text, truncated=truncated
        )
        own.dropped = not text
        return own

    return _samples(row, sample)


def _had_no_reasoning(row: dict[str, Any]) -> bool:
    """Whether pass one of chain of thought failed for a row of pass two.

    The prompt tells, as in the harness and in `verify`. Of a prompt that was cut, or that is not
    logged, what the harness found stands.
    """
    doc = row["doc"]
    try:
        known = had_no_reasoning(doc)
    except (KeyError, TypeError, AttributeError, LongBenchError):
        known = None
    return row.get("failed") == 1.0 if known is None else known


def _pro(row: dict[str, Any], table: TableInfo, task: str, index: int) -> Read:
    doc = row["doc"]
    problem = official_pro.question_problem(doc)
    if problem:
        return Unusable(f"doc: {problem}")
    if table.tasks[task].label != doc["secondary_task"]:
        return Unusable(f"doc: {doc['secondary_task']!r} is another task than {task}")
    return _samples(
        row,
        lambda repeat, response, truncated: official_pro.sample_of(
            doc,
            table.name,
            repeat=repeat,
            response=response,
            truncated=truncated,
            document=_document(row),
        ),
    )


_BENCHMARKS = {
    "longbench_v1": _v1,
    "longbench_v1_e": _v1,
    "longbench_v2": _v2,
    "longbench_pro": _pro,
}


def _prompt(row: dict[str, Any]) -> dict[str, Any]:
    """Return what a row says of its prompt, if it says anything."""
    prompt = row["doc"].get("prompt")
    return prompt if isinstance(prompt, dict) else {}


def _document(row: dict[str, Any]) -> str | None:
    """Return the short hash of the document that a row's question is about, if it says it."""
    return document_of_hash(_prompt(row).get("document_sha256"))


def _samples(row: dict[str, Any], sample: Callable[[int, str, bool | None], Sample]) -> Read:
    responses = responses_of(row)
    if responses is None:
        return Unusable("neither 'filtered_resps' nor 'resps' holds a list of texts")
    if len(responses) > MOST_REPEATS:
        return Unusable(f"has {len(responses)} answers; at most {MOST_REPEATS} are scored")
    truncated, document = _prompt(row).get("truncated"), _document(row)
    known = truncated if isinstance(truncated, bool) else None
    samples = [sample(number, text, known) for number, text in enumerate(responses, start=1)]
    for own in samples:
        own.document = document
    return samples


def read_row(row: Any, index: int, source: Source) -> Read:
    """Return the samples of a log's row: one an answer.

    Args:
        row: decoded.
        index: position among the file's lines that are not blank, from 0.
        source: the file.
    """
    if not isinstance(row, dict):
        return Unusable("not a JSON object")
    if not is_log_row(row):
        return Unusable("no sample log row: it needs 'doc' and 'filtered_resps' or 'resps'")
    own = row.get("filter")
    if own != source.filter:
        reason = f"is of the filter {own!r}; scored is {source.filter!r}, the file's first"
        return Unusable(reason, FOREIGN)
    task = task_of(row, source)
    table = table_of(task)
    if table is None:
        return Unusable(f"is of the task {task!r}, which is none of {', '.join(TABLES)}", FOREIGN)
    if source.benchmark not in (None, table.benchmark):
        return Unusable(f"is of the task {task!r}, which is not of {source.benchmark}", FOREIGN)
    return _BENCHMARKS[table.benchmark](row, table, str(task), index)
