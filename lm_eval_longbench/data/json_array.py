"""Read the elements of one huge JSON array one by one, without loading the file."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from lm_eval_longbench.errors import DataError
from lm_eval_longbench.input_files import (
    LONGEST,
    TOO_MANY_MARKS,
    has_too_many_marks,
    open_input,
    reading,
    size_text,
)

# Bytes read at a time. The element that a chunk's end cuts is decoded twice, so that this is a few
# times the longest usual element.
CHUNK = 1 << 22
# A number, a literal or an escape that the end of the text cuts gives an error at most this many
# characters before the end; a cut string gives one at its start, of a kind of its own.
_MARGIN = 32
_CUT_STRING = "Unterminated string"
_NO_SPACE = re.compile(r"[^ \t\n\r]")


def array_items(
    path: Path, progress: Callable[[int], Any] | None = None, chunk: int = CHUNK
) -> Iterator[Any]:
    """Yield the elements of the JSON array that a UTF-8 file holds, as `json.loads` decodes them.

    Time is linear in the file; memory holds the longest element and a chunk, a few times over.

    Args:
        path: the file; a byte order mark is passed over.
        progress: called with the number of bytes after each read; in all the size of the file.
        chunk: bytes to read at a time, at least 1.

    Raises:
        DataError: the file cannot be read, is not UTF-8, is not one array, ends too early or goes
            on after it; the message names the file, the element (from 1) and the reason.
    """
    with reading(path, DataError), open_input(path) as handle:
        yield from _Reader(path, handle, progress, chunk).items()


def _after_space(text: str, at: int) -> int:
    """Return the first place from `at` on that is no white space of JSON's, or the text's end."""
    found = _NO_SPACE.search(text, at)
    return found.start() if found else len(text)


class _Reader:
    """A window of text over the file, and the place in it where decoding goes on."""

    def __init__(
        self, path: Path, handle: BinaryIO, progress: Callable[[int], Any] | None, chunk: int
    ) -> None:
        self._path = path
        self._handle = handle
        self._progress = progress
        self._chunk = chunk
        self._utf8 = codecs.getincrementaldecoder("utf-8")()
        self._json = json.JSONDecoder()
        self._read = 0  # bytes
        self._ended = False
        self._text = ""
        self._at = 0
        self._element = 0

    def items(self) -> Iterator[Any]:
        if self._next_mark() == "\ufeff":
            self._at += 1
        if self._next_mark() != "[":
            raise DataError(f"{self._path} is not a JSON array: it does not begin with '['.")
        self._at += 1
        mark = self._next_mark()
        while mark != "]":
            self._element += 1
            yield self._item()
            mark = self._next_mark()  # ',' or ']': that is how the element is known to be whole
            self._at += mark == ","
        self._at += 1
        if self._next_mark():
            raise DataError(f"{self._path} goes on after the end of its JSON array.")

    def _item(self) -> Any:
        """Decode one element, reading on until what follows it shows that it is whole."""
        while self._next_mark():
            try:
                value, end = self._json.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if self._ended or not self._may_be_cut(error):
                    raise self._bad(self._reason(error)) from error
            except (ValueError, RecursionError) as error:  # a number or a nesting beyond limits
                raise self._bad(f"cannot be decoded: {error}.") from error
            else:
                # "12" is whole only if no digit follows, and the next chunk may begin with one.
                end = _after_space(self._text, end)
                if self._text[end : end + 1] in (",", "]"):
                    self._at = end
                    return value
                if end < len(self._text) - (0 if self._ended else _MARGIN):
                    raise self._bad("is not followed by ',' or ']'.")
                if self._ended:
                    break
            self._more()
        raise self._bad("is cut short: the file ends before its JSON array does.")

    def _may_be_cut(self, error: json.JSONDecodeError) -> bool:
        """Whether an error may come of the text's end alone, so that reading on may mend it."""
        near_end = error.pos >= len(self._text) - _MARGIN
        return near_end or error.msg.startswith(_CUT_STRING)

    def _next_mark(self) -> str:
        """Pass over white space and return the character there; empty at the end of the file."""
        while True:
            self._at = _after_space(self._text, self._at)
            if self._at < len(self._text) or self._ended:
                return self._text[self._at : self._at + 1]
            self._more()

    def _more(self) -> None:
        """Drop what is decoded and read on: as much again as is left, so that time is linear."""
        rest = self._text[self._at :]
        if len(rest) > LONGEST:
            raise self._bad(f"is longer than {size_text(LONGEST)}.")
        data = self._handle.read(min(max(self._chunk, len(rest)), LONGEST // 8))
        self._ended = not data
        start = self._read - len(self._utf8.getstate()[0])
        try:
            self._text = rest + self._utf8.decode(data, final=self._ended)
        except UnicodeDecodeError as error:
            # Not the element's number: whole elements may still stand before the place.
            raise DataError(
                f"{self._path} is not UTF-8 at byte {start + error.start}, in or after element "
                f"{max(self._element, 1)}: {error.reason}."
            ) from error
        self._at = 0
        self._read += len(data)
        if has_too_many_marks(self._text):
            raise self._bad(f"or one after it cannot be decoded: {TOO_MANY_MARKS}.")
        if self._progress and data:
            self._progress(len(data))

    def _reason(self, error: json.JSONDecodeError) -> str:
        if error.pos >= len(self._text) or error.msg.startswith(_CUT_STRING):
            return f"is cut short: {error.msg} when the file ends."
        return f"is not JSON: {error.msg}, character {error.pos - self._at} of the element."

    def _bad(self, reason: str) -> DataError:
        return DataError(f"{self._path}, element {self._element}, {reason}")
