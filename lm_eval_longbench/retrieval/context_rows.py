"""Tell what is wrong with an entry of a file of retrieved chunks."""

from __future__ import annotations

from typing import Any

from lm_eval_longbench.data.rows import is_text


def problem_of(row: Any) -> str | None:
    """Return what is wrong with a decoded entry, or None if nothing is."""
    if not isinstance(row, dict):
        return "is not a JSON object"
    for name in ("_id", "retrieved_context"):
        if name not in row:
            return f"lacks the field {name!r}"
    if not is_text(row["_id"]):
        return "has a field '_id' that is not a text (or not one that UTF-8 can hold)"
    if not isinstance(row["retrieved_context"], list):
        return "has a field 'retrieved_context' that is not a list"
    for number, chunk in enumerate(row["retrieved_context"], start=1):
        problem = _problem_of_chunk(chunk)
        if problem:
            return f"has a 'retrieved_context' whose item {number} {problem}"
    return None


def _problem_of_chunk(chunk: Any) -> str | None:
    if not isinstance(chunk, dict):
        return "is not a JSON object"
    for name in ("c_idx", "content"):
        if name not in chunk:
            return f"lacks the field {name!r}"
    place = chunk["c_idx"]
    if not isinstance(place, int) or isinstance(place, bool) or place < 0:
        return "has a field 'c_idx' that is not a whole number, 0 or more"
    if not is_text(chunk["content"]):
        return "has a field 'content' that is not a text (or not one that UTF-8 can hold)"
    return None
