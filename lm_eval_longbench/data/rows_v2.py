"""What a row of the LongBench v2 file must be."""

from __future__ import annotations

from typing import Any

from lm_eval_longbench.catalog_v2 import CHOICES, COUNTS
from lm_eval_longbench.data.checked_rows import schema_problem

_CHOICES = tuple(f"choice_{letter}" for letter in CHOICES)
# In the official order; all are texts.
FIELDS = (
    "_id",
    "domain",
    "sub_domain",
    "difficulty",
    "length",
    "question",
    *_CHOICES,
    "answer",
    "context",
)


def problem_of(row: Any) -> str | None:
    """Return what is wrong with a decoded row, or None if it is a question of LongBench v2.

    The document may be empty, and `sub_domain` any text: neither is needed to ask or to score.
    """
    problem = schema_problem(row, FIELDS, FIELDS)
    if problem:
        return problem
    for name in ("question", *_CHOICES):
        if not row[name].strip():
            return f"has an empty {name}"
    if row["answer"] not in CHOICES:
        return f"has the answer {row['answer']!r}, not one of {', '.join(CHOICES)}"
    for name, valid in COUNTS.items():
        if row[name] not in valid:
            return f"has an unknown {name} {row[name]!r}, not one of {', '.join(valid)}"
    return None
