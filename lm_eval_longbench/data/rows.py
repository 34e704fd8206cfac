"""What a row of data must be: the checks that benchmarks share."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.benchmarks.sample import is_whole
from lm_eval_longbench.errors import DataError

if TYPE_CHECKING:
    from lm_eval_longbench.benchmarks.base import Benchmark


def is_text(value: Any) -> bool:
    """Whether a value is a text that UTF-8 can hold: JSON can spell half a surrogate pair."""
    if not isinstance(value, str):
        return False
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def are_texts(value: Any) -> bool:
    """Whether a value is a list of nothing but such texts."""
    return isinstance(value, list) and all(map(is_text, value))


def schema_problem(row: Any, fields: Sequence[str], texts: Sequence[str]) -> str | None:
    """Return what is wrong with the shape of a decoded row, or None.

    It must have all `fields`, and those that are `texts` must be texts.
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


def kind_problem(row: Any, fields: Sequence[str], kinds: Mapping[str, str]) -> str | None:
    """Return which field of a decoded row is missing or of another kind, or None.

    `kinds` has "texts" or "int64" for fields that are no text.
    """
    problem = schema_problem(row, fields, [name for name in fields if name not in kinds])
    if problem:
        return problem
    for name, kind in kinds.items():
        if kind == "texts" and not are_texts(row[name]):
            return f"has a field {name!r} that is not a list of texts"
        if kind == "int64" and not is_whole(row[name], -(2**63), 2**63 - 1):
            return f"has a field {name!r} that is not a whole number of 64 bits"
    return None


def value_problem(row: Mapping[str, Any], among: Mapping[str, Iterable[str]]) -> str | None:
    """Return which field of a row has another value than it may have, or None."""
    for name, valid in among.items():
        if row[name] not in valid:
            return f"has an unknown {name} {row[name]!r}, not one of {', '.join(valid)}"
    return None


def checked_rows(
    items: Iterable[Any], where: str, benchmark: Benchmark
) -> Iterator[dict[str, Any]]:
    """Yield the decoded elements of an array as rows; extra fields are dropped.

    Raises:
        DataError: an element is not a row; the message names `where`, the element (from 1) and the
            reason.
    """
    for number, row in enumerate(items, start=1):
        problem = benchmark.row_problem(row)
        if problem:
            raise DataError(f"{where}, element {number}, {problem}.")
        yield {name: row[name] for name in benchmark.fields}


def parsed_rows(
    lines: Iterable[bytes], where: str, benchmark: Benchmark
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a JSON Lines file; blank lines are passed over, extra fields dropped.

    Raises:
        DataError: a line is not a row; the message names `where`, the line and the reason.
    """
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{where}, line {number}, is not JSON: {error}") from error
        problem = benchmark.row_problem(row)
        if problem:
            raise DataError(f"{where}, line {number}, {problem}.")
        yield {name: row[name] for name in benchmark.fields}
