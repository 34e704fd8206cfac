"""Turn the lines of a LongBench v1 or LongBench-E file into checked rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from lm_eval_longbench.data.texts import is_text, is_texts
from lm_eval_longbench.errors import DataError
from lm_eval_longbench.input_files import decoded

# Lengths that an Arrow column of int64 can hold.
_LENGTHS = 2**63
FIELDS = ("input", "context", "answers", "length", "dataset", "language", "all_classes", "_id")


def problem_of(row: Any) -> str | None:
    """Return what is wrong with a decoded row, or None if it has the official schema."""
    if not isinstance(row, dict):
        return "is not a JSON object"
    missing = [name for name in FIELDS if name not in row]
    if missing:
        return f"lacks the field {missing[0]!r}"
    for name in ("input", "context", "dataset", "language", "_id"):
        if not is_text(row[name]):
            return f"has a field {name!r} that is not a text (or not one that UTF-8 can hold)"
    if not is_texts(row["answers"]):
        return "has a field 'answers' that is not a list of texts"
    if row["all_classes"] is not None and not is_texts(row["all_classes"]):
        return "has a field 'all_classes' that is neither null nor a list of texts"
    length = row["length"]
    if not isinstance(length, int) or isinstance(length, bool) or not 0 <= length < _LENGTHS:
        return "has a field 'length' that is not a whole number of words or characters"
    return None


def parse_rows(lines: Iterable[bytes], where: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a JSON Lines file; blank lines are passed over, extra fields dropped.

    Raises:
        DataError: a line is not a row; the message names `where`, the line and the reason.
    """
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = decoded(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{where}, line {number}, is not JSON: {error}") from error
        problem = problem_of(row)
        if problem:
            raise DataError(f"{where}, line {number}, {problem}.")
        yield {name: row[name] for name in FIELDS}
