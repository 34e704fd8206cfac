"""Read rows of data, of JSON Lines in an archive or of one JSON array, and check each of them."""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from lm_eval_longbench.catalog.model import Source, Task
from lm_eval_longbench.errors import DataError
from lm_eval_longbench.files import (
    BLOCK,
    lines,
    open_input,
    read_whole,
    reading,
)


class HasData(Protocol):
    """What reading and opening data asks a benchmark; `benchmarks.base` explains each."""

    name: str
    family: str
    prepared_as: str
    is_prepared: bool
    source: Source
    samples: Path
    tasks: Mapping[str, Task]
    fields: tuple[str, ...]
    kinds: Mapping[str, str]
    counts: Mapping[str, Mapping[str, int]]
    split_by: str

    def row_problem(self, row: Any) -> str | None:
        """Return what is wrong with a decoded row of the data, or None."""
        ...


# ---------------------------------------------------------------------- what a row must be


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
        if kind == "int64" and not (type(row[name]) is int and -(2**63) <= row[name] < 2**63):
            return f"has a field {name!r} that is not a whole number of 64 bits"
    return None


def value_problem(row: Mapping[str, Any], among: Mapping[str, Iterable[str]]) -> str | None:
    """Return which field of a row has another value than it may have, or None."""
    for name, valid in among.items():
        if row[name] not in valid:
            return f"has an unknown {name} {row[name]!r}, not one of {', '.join(valid)}"
    return None


def checked_rows(
    found: Iterable[tuple[int, Any]], where: str, benchmark: HasData
) -> Iterator[dict[str, Any]]:
    """Yield numbered decoded values as rows: the fields that their benchmark knows.

    Args:
        found: the values.
        where: what their numbers count, such as "data.json, element".
        benchmark: whose rows they are.

    Raises:
        DataError: a value is none of its rows; the message has its place and the reason.
    """
    for number, row in found:
        problem = benchmark.row_problem(row)
        if problem:
            raise DataError(f"{where} {number}, {problem}.")
        yield {name: row[name] for name in benchmark.fields}


# ---------------------------------------------------------------------- archives


def find_member(archive: Path, names: Sequence[str]) -> str | None:
    """Return the first of `names` that the archive has; names in it are only compared, never used.

    Raises:
        DataError: the file is not a zip archive.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            members = set(opened.namelist())
    except (zipfile.BadZipFile, OSError) as error:
        raise DataError(f"{archive} cannot be read as a zip archive: {error}") from error
    return next((name for name in names if name in members), None)


def member_lines(archive: Path, member: str) -> Iterator[bytes]:
    """Yield the lines of one member, unpacked as they are read; only "\\n" ends a line.

    Raises:
        DataError: the member is damaged, encrypted or packed in a way Python does not know, or
            a line is too long.
    """

    def pieces() -> Iterator[bytes]:
        with zipfile.ZipFile(archive) as opened, opened.open(member) as handle:
            yield from iter(lambda: handle.read(BLOCK), b"")

    try:
        yield from lines(pieces())
    # The last one: it is encrypted, or packed by a method that Python does not know.
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError) as error:
        raise DataError(f"{archive}, member {member}, cannot be read: {error}") from error


# ---------------------------------------------------------------------- one array

# Half a surrogate pair, which ijson reads as "?" without a word; twelve bytes tell it.
_HALF = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})")
_HELD = 11
# Line breaks to ijson, errors to `json`; neither stands in valid JSON, in texts too.
_CONTROL = re.compile(rb"[\v\f]")
# More lists in lists than `json` decodes; ijson does, in a time that grows with their square.
_DEEP = b"[" * 2000
# Bytes of an array that is decoded as a whole, and those that ijson reads at once.
_WHOLE = 1 << 30
_BUFFER = 1 << 20


class _OnlyJsonKnows(Exception):
    """An array has something that ijson reads otherwise than `json`."""


class _Watched:
    """A file for ijson that raises an error before it hands out what ijson reads otherwise."""

    def __init__(self, handle: BinaryIO, progress: Callable[[int], Any]) -> None:
        self._handle, self._progress, self._held = handle, progress, b""
        # Goes behind the file: without it ijson passes over a text that has no end.
        self._end = b"\n"

    def read(self, size: int = -1) -> bytes:
        """Return about so many bytes; none at the end."""
        while size:  # ijson reads 0 bytes to learn their type
            block = self._handle.read(size)
            self._progress(len(block))
            text = self._held + block
            # What may go on in the next block waits for it.
            sure = max(0, len(text) - _HELD) if block else len(text)
            if _DEEP in text or _CONTROL.search(block):
                raise _OnlyJsonKnows
            if any(half.start() < sure for half in _HALF.finditer(text)):
                raise _OnlyJsonKnows
            self._held = text[sure:]
            if not block:
                end, self._end = self._end, b""
                return text + end
            if sure:
                return text[:sure]
        return b""


def array_items(path: Path, progress: Callable[[int], Any] = lambda _: None) -> Iterator[Any]:
    """Yield the elements of the JSON array that a UTF-8 file holds, as `json.loads` decodes them.

    Memory holds the longest element. Only what ijson does not read as `json` does (NaN, numbers
    beyond 64 bits, a byte order mark, half a surrogate pair) takes the memory of the whole array.

    Args:
        path: the file.
        progress: called with the number of bytes after each read.

    Raises:
        DataError: the file cannot be read, is not UTF-8 or is not one JSON array; the message names
            it and the reason.
    """
    import ijson

    number = 0
    with reading(path, DataError):
        try:
            with open_input(path) as handle:
                # Its slower backends read more things otherwise.
                if ijson.backend != "yajl2_c" or not _begins_array(handle):
                    raise _OnlyJsonKnows
                watched = _Watched(handle, progress)
                for item in ijson.items(watched, "item", use_float=True, buf_size=_BUFFER):
                    yield item
                    number += 1
            return
        except (_OnlyJsonKnows, ijson.JSONError, UnicodeDecodeError):
            whole = read_whole(path, _WHOLE)
    try:
        array = json.loads(whole.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 at byte {error.start}: {error.reason}.") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is not a JSON array: {error}.") from error
    if not isinstance(array, list):
        raise DataError(f"{path} is not a JSON array: it does not begin with '['.")
    yield from islice(array, number, None)


def _begins_array(handle: BinaryIO) -> bool:
    """Whether a file begins like an array; it is at its beginning afterwards."""
    while (first := handle.read(1)).isspace():
        pass
    handle.seek(0)
    return first == b"["
