"""Turn the elements of the LongBench Pro file into checked rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from lm_eval_longbench.catalog_pro import DIMENSIONS, SECONDARY_TASKS
from lm_eval_longbench.data.texts import is_text, is_texts
from lm_eval_longbench.errors import DataError

# In the official order.
FIELDS = (
    "id",
    "context",
    "language",
    "token_length",
    "primary_task",
    "secondary_task",
    "contextual_requirement",
    "question_nonthinking",
    "question_thinking",
    "answer",
    "difficulty",
)
_TEXTS = tuple(name for name in FIELDS if name != "answer")


def problem_of(row: Any) -> str | None:
    """Return what is wrong with a decoded row, or None if it is a question of LongBench Pro."""
    if not isinstance(row, dict):
        return "is not a JSON object"
    missing = [name for name in FIELDS if name not in row]
    if missing:
        return f"lacks the field {missing[0]!r}"
    for name in _TEXTS:
        if not is_text(row[name]):
            return f"has a field {name!r} that is not a text (or not one that UTF-8 can hold)"
    if not is_texts(row["answer"]):
        return "has a field 'answer' that is not a list of texts"
    if not any(text.strip() for text in row["answer"]):
        return "has no answer"
    task = SECONDARY_TASKS.get(row["secondary_task"])
    if task is None:
        return f"has an unknown secondary_task {row['secondary_task']!r}"
    for name, valid in DIMENSIONS.items():
        if row[name] not in valid:
            return f"has an unknown {name} {row[name]!r}, not one of {', '.join(valid)}"
    if row["primary_task"] != task.primary:
        return f"has the primary_task {row['primary_task']!r}, which {task.name!r} is not part of"
    return None


def checked_rows(items: Iterable[Any], where: str) -> Iterator[dict[str, Any]]:
    """Yield decoded elements as rows; extra fields are dropped.

    Raises:
        DataError: an element is not a row; the message names `where`, the element (from 1) and the
            reason.
    """
    for number, row in enumerate(items, start=1):
        problem = problem_of(row)
        if problem:
            raise DataError(f"{where}, element {number}, {problem}.")
        yield {name: row[name] for name in FIELDS}
