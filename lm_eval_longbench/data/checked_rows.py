"""Turn the decoded elements of a JSON array into checked rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from lm_eval_longbench.data.texts import is_text
from lm_eval_longbench.errors import DataError


def schema_problem(row: Any, fields: Sequence[str], texts: Sequence[str]) -> str | None:
    """Return what is wrong with the shape of a decoded row, or None.

    Args:
        row: any value that JSON can hold.
        fields: that it must have.
        texts: those of them whose value must be a text.
    """
    if not isinstance(row, dict):
        return "is not a JSON object"
    missing = [name for name in fields if name not in row]
    if missing:
        return f"lacks the field {missing[0]!r}"
    for name in texts:
        if not is_text(row[name]):
            return f"has a field {name!r} that is not a text (or not one that UTF-8 can hold)"
    return None


def checked_rows(
    items: Iterable[Any],
    where: str,
    fields: Sequence[str],
    problem_of: Callable[[Any], str | None],
) -> Iterator[dict[str, Any]]:
    """Yield decoded elements as rows; extra fields are dropped.

    Args:
        items: the elements.
        where: names their file.
        fields: of a row, in order.
        problem_of: what is wrong with an element, or None.

    Raises:
        DataError: an element is not a row; the message names `where`, the element (from 1) and the
            reason.
    """
    for number, row in enumerate(items, start=1):
        problem = problem_of(row)
        if problem:
            raise DataError(f"{where}, element {number}, {problem}.")
        yield {name: row[name] for name in fields}
