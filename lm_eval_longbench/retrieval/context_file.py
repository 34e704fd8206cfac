"""Read ranked chunks from the file that the option `retrieved_context` names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from lm_eval_longbench.data.hashing import sha256_of
from lm_eval_longbench.data.rows import array_items, schema_problem
from lm_eval_longbench.errors import DataError, few
from lm_eval_longbench.input_files import blocks, is_packed, read_json_lines, reading
from lm_eval_longbench.retrieval.chunks import Chunk

_BOM = b"\xef\xbb\xbf"
_START = 4096  # bytes in which a JSON array must begin
# Missing questions that an error names.
_SHOWN = 5


def read_contexts(path: str, keep: int | None = None) -> Mapping[str, list[Chunk]]:
    """Return each question's ranked chunks, best first, by the question's `_id`.

    The file holds objects with `_id` and `retrieved_context`, a list of objects with `c_idx` (a
    whole number, 0 or more) and `content` (a text); other fields are ignored. It is JSON Lines,
    plain or packed by gzip, where blank lines are passed over; or one JSON array, as the official
    data file is. The list may be empty: then, as officially, the document is empty.

    Args:
        path: the file; `~` is the home folder.
        keep: hold no more than so many of the best of each question in memory; None: all.

    Raises:
        DataError: the file cannot be read, an entry is none such, or two entries of one question
            differ. The message names the file, the line or element (from 1) and the reason.
    """
    file = _file(path)
    contexts: dict[str, list[Chunk]] = {}
    first: dict[str, str] = {}
    for place, row in _rows(file):
        problem = problem_of(row)
        if problem:
            raise DataError(f"{file}, {place}, {problem}.")
        name = row["_id"]
        found = [
            Chunk(c_idx=chunk["c_idx"], content=chunk["content"])
            for chunk in row["retrieved_context"][:keep]
        ]
        if contexts.setdefault(name, found) != found:
            raise DataError(
                f"{file}, {place}, has other chunks for the _id {name!r} than {first[name]}. "
                "Keep one of the two."
            )
        first.setdefault(name, place)
    return contexts


def check_complete(contexts: Mapping[str, Any], ids: Iterable[str], path: str) -> None:
    """Check that every question that is asked has an entry.

    Raises:
        DataError: questions are missing; the message has their number and names the first ones.
    """
    asked = list(dict.fromkeys(ids))
    missing = [name for name in asked if name not in contexts]
    if missing:
        raise DataError(
            f"{_file(path)} has no chunks for {len(missing)} of {len(asked)} questions, by _id: "
            f"{few(missing, _SHOWN)}. Add them, or leave the option "
            "'retrieved_context' away to have chunks retrieved here."
        )


def contexts_sha256(path: str) -> str:
    """Return the sha256 of the file's bytes, for results; DataError if it cannot be read."""
    file = _file(path)
    with reading(file, DataError):
        return sha256_of(file)


def _file(path: str) -> Path:
    return Path(os.path.expanduser(path))


def _rows(file: Path) -> Iterator[tuple[str, Any]]:
    """Yield each decoded entry with its place, "line 3" or "element 3"."""
    with reading(file, DataError), closing(blocks(file)) as text:
        start = b""
        while len(start) < _START and (block := next(text, None)) is not None:
            start += block
    start = start[:_START].removeprefix(_BOM).lstrip()
    if start.startswith(b"["):
        if is_packed(file):
            raise DataError(
                f"{file} is a JSON array packed by gzip. Unpack it, or write JSON Lines."
            )
        for number, row in enumerate(array_items(file), start=1):
            yield f"element {number}", row
        return
    for number, row in read_json_lines(file, DataError):
        yield f"line {number}", row


def problem_of(row: Any) -> str | None:
    """Return what is wrong with a decoded entry, or None if nothing is."""
    problem = schema_problem(row, ("_id", "retrieved_context"), ("_id",))
    if problem:
        return problem
    if not isinstance(row["retrieved_context"], list):
        return "has a field 'retrieved_context' that is not a list"
    for number, chunk in enumerate(row["retrieved_context"], start=1):
        problem = _problem_of_chunk(chunk)
        if problem:
            return f"has a 'retrieved_context' whose item {number} {problem}"
    return None


def _problem_of_chunk(chunk: Any) -> str | None:
    problem = schema_problem(chunk, ("c_idx", "content"), ())
    if problem:
        return problem
    place = chunk["c_idx"]
    if not isinstance(place, int) or isinstance(place, bool) or place < 0:
        return "has a field 'c_idx' that is not a whole number, 0 or more"
    return schema_problem(chunk, (), ("content",))
