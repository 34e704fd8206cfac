"""Rows of the result files that the official LongBench v2 scripts write."""

from __future__ import annotations

from typing import Any

from lm_eval_longbench.catalog_v2 import CHOICES, COUNTS, DIFFICULTIES, LENGTHS
from lm_eval_longbench.offline.checks import content_hash, is_texts, text_id
from lm_eval_longbench.offline.sample import Read, Sample, Unusable
from lm_eval_longbench.offline.source import Source

_DOMAINS = tuple(COUNTS["domain"])
_ASKED = ("question", *(f"choice_{letter}" for letter in CHOICES))


def _one_of(row: dict[str, Any], name: str, valid: tuple[str, ...]) -> str | None:
    if name not in row:
        return f"no field {name!r}"
    if row[name] not in valid:
        return f"{name!r} is not one of {', '.join(valid)}"
    return None


def question_problem(row: dict[str, Any]) -> str | None:
    """Return why a row's question cannot be scored against, or None."""
    if text_id(row.get("_id")) is None:
        return "no field '_id' with a text"
    for name, valid in (("answer", CHOICES), ("difficulty", DIFFICULTIES), ("length", LENGTHS)):
        problem = _one_of(row, name, valid)
        if problem:
            return problem
    if row.get("domain") is not None and row["domain"] not in _DOMAINS:
        return f"'domain' is not one of {', '.join(_DOMAINS)}"
    if not isinstance(row.get("sub_domain"), str | None):
        return "'sub_domain' is not a text"
    return None


def sample_of(
    row: dict[str, Any],
    table: str,
    *,
    repeat: int,
    response: str | None,
    truncated: bool | None,
) -> Sample:
    """Return a sample from a row whose question is sound.

    Args:
        row: with _id, domain, sub_domain, difficulty, length and answer.
        table: also the name of its one task.
        repeat: number of the answer, from 1.
        response: the answer; None: not kept.
        truncated: whether its prompt was cut.
    """
    asked = [row.get(name) for name in _ASKED]
    return Sample(
        table=table,
        task=table,
        id=text_id(row["_id"]) or "",
        order=0,
        repeat=repeat,
        response=response,
        golds=[row["answer"]],
        shown={
            "domain": row.get("domain"),
            "sub_domain": row.get("sub_domain"),
            "difficulty": row["difficulty"],
            "length": row["length"],
        },
        truncated=truncated,
        content=content_hash(*asked) if is_texts(asked) else None,
    )


def read_row(row: Any, index: int, source: Source) -> Read:
    """Return the sample of a result file's row.

    Where there is a `response`, null for a failed call, it is read again; else `pred` counts, the
    letter that was taken from it (null: none).

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
    has_response, has_stored = "response" in row, "pred" in row
    if not has_response and not has_stored:
        return Unusable("neither a field 'response' nor a field 'pred'")
    response, stored = row.get("response"), row.get("pred") or None
    if not isinstance(response, str | None):
        return Unusable("'response' is not a text")
    if stored not in (None, *CHOICES):
        if not has_response:
            return Unusable("'pred' is neither null nor a letter from A to D")
        stored = str(stored)
    own = sample_of(
        row,
        str(source.table),
        repeat=1,
        response=(response or "") if has_response else None,
        truncated=None,
    )
    own.stored, own.has_stored = stored, has_stored
    return [own]
