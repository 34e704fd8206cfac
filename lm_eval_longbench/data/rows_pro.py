"""What a row of the LongBench Pro file must be."""

from __future__ import annotations

from typing import Any

from lm_eval_longbench.catalog_pro import DIMENSIONS, SECONDARY_TASKS
from lm_eval_longbench.data.checked_rows import schema_problem
from lm_eval_longbench.data.texts import is_texts

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
    problem = schema_problem(row, FIELDS, _TEXTS)
    if problem:
        return problem
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
