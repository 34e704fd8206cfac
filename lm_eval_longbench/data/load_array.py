"""Open a dataset that is one JSON array in one file: pinned, a local copy, or the sample.

The file is converted once, in one pass, into the Arrow files of one folder.
"""

from __future__ import annotations

import codecs
import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from tqdm import tqdm

from lm_eval_longbench.data import hub
from lm_eval_longbench.data.arrow import ArrowFiles, CachedFolder, cache_folder, schema_of
from lm_eval_longbench.data.documents import SAMPLE, Documents
from lm_eval_longbench.data.hashing import sha256_of
from lm_eval_longbench.data.rows import checked_rows
from lm_eval_longbench.errors import DataError, few
from lm_eval_longbench.input_files import (
    LONGEST,
    open_input,
    reading,
    size_text,
)
from lm_eval_longbench.once import first_time
from lm_eval_longbench.terminal import escaped_line

if TYPE_CHECKING:
    from lm_eval_longbench.benchmarks.base import Benchmark


# ---------------------------------------------------------------------- elements of one huge array

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
        if self._progress and data:
            self._progress(len(data))

    def _reason(self, error: json.JSONDecodeError) -> str:
        if error.pos >= len(self._text) or error.msg.startswith(_CUT_STRING):
            return f"is cut short: {error.msg} when the file ends."
        return f"is not JSON: {error.msg}, character {error.pos - self._at} of the element."

    def _bad(self, reason: str) -> DataError:
        return DataError(f"{self._path}, element {self._element}, {reason}")


# ---------------------------------------------------------------------- the dataset

logger = logging.getLogger(__name__)

COUNTS_FILE = "counts.json"
# Questions that have each value, by dimension. Every question has one value of each dimension.
Counts = Mapping[str, Mapping[str, int]]
# Differing counts that a message names.
SHOWN = 8


def differences(counts: Counts, official: Counts) -> list[str]:
    """Return one phrase for each count that is not the official one; empty if all are."""
    here, expected = (sum(next(iter(own.values())).values()) for own in (counts, official))
    found = [f"{here} questions instead of {expected}"] if here != expected else []
    return found + [
        f"{dimension} {value!r} {counts[dimension][value]} instead of {number}"
        for dimension, values in official.items()
        for value, number in values.items()
        if counts[dimension][value] != number
    ]


def convert(benchmark: Benchmark, file: Path, folder: Path, *, official: bool) -> None:
    """Write counts.json and each Arrow file of a benchmark that has rows into an empty folder.

    Raises:
        DataError: the file is damaged, holds wrong rows or none, or (official) has other counts
            than the official ones.
    """
    counts = {name: dict.fromkeys(values, 0) for name, values in benchmark.counts.items()}
    number = 0
    # On a terminal only, and only if it takes longer than a second.
    bar = tqdm(
        total=file.stat().st_size,
        desc=escaped_line(f"converting {file.name}"),
        unit="B",
        unit_scale=True,
        disable=None,
        delay=1,
    )
    with bar, ArrowFiles(folder, schema_of(benchmark)) as files:
        for row in checked_rows(array_items(file, bar.update), str(file), benchmark):
            files.write(benchmark.arrow_file(row), row)
            for dimension, values in counts.items():
                values[row[dimension]] += 1
            number += 1
    found = differences(counts, benchmark.counts) if official else []
    if found:
        raise DataError(
            f"{file} is not the official set: {few(found, SHOWN, '; ')}. Nothing was kept."
        )
    if not number:
        raise DataError(f"{file} holds no questions: its JSON array is empty.")
    (folder / COUNTS_FILE).write_text(json.dumps(counts, indent=1), encoding="utf-8")


def load_array(
    benchmark: Benchmark, data_dir: str | None, name: str, only: Mapping[str, str]
) -> Documents:
    """Return the documents of one Arrow file, all or some, in the order of the array.

    The first call for a file converts it for all tasks; later ones only map its rows. A choice of
    the pinned file's questions is official, as the whole is.

    Args:
        benchmark: whose data it is.
        data_dir: None: the pinned official file; "sample": the embedded sample; else a folder with
            a file of the official name, or such a file by any name.
        name: of the Arrow file; see `Benchmark.arrow_file`.
        only: the value of a dimension that the questions must have; empty: all.

    Raises:
        DataError: the data is not there, damaged, or (pinned) is not what is pinned, or there are
            no such questions.
    """
    pinned, file, digest = benchmark.source, None, benchmark.source.sha256
    if data_dir == SAMPLE:
        file = benchmark.samples / pinned.file
    elif data_dir is not None:
        file = _local_file(Path(data_dir).expanduser(), pinned.file)
    if file is not None:
        with reading(file, DataError):
            digest = sha256_of(file)
    official = digest == pinned.sha256
    kind = SAMPLE if data_dir == SAMPLE else "local"
    label = pinned.label if official else f"{kind}-{digest[:12]}"

    def fill(folder: Path) -> None:
        source = hub.fetch(pinned) if file is None else file
        convert(benchmark, source, folder, official=official)
        # Read after it was hashed: the name of the folder must not lie.
        if sha256_of(source) != digest:
            raise DataError(f"{source} was changed while it was read. Run again.")

    folder = CachedFolder(cache_folder(benchmark.family, digest), digest, fill)
    # The counts of the pinned file were checked when it was converted.
    if file is not None and not official:
        counts = folder.open(COUNTS_FILE, lambda path: json.loads(path.read_bytes()))
        if kind != SAMPLE and first_time(f"data_dir {file}"):
            other = few(differences(counts, benchmark.counts), SHOWN, "; ")
            logger.warning(
                f"data_dir {file} is not the pinned official file: sha256 {digest} instead of "
                f"{pinned.sha256}; {other or 'all counts are the official ones'}. "
                f"Results are marked 'data: {label}'."
            )
        for dimension, value in only.items():
            if counts[dimension][value] == 0:
                raise DataError(f"{file} holds no questions of {value!r}.")
    documents = Documents.of_stored(folder.rows(name), label, digest, official=official)
    for dimension, value in only.items():
        own = documents.rows[dimension]  # this reads the one column, not the texts
        kept = [index for index, found in enumerate(own) if found == value]
        if len(kept) < len(own):
            documents = documents.select(kept)
    return documents


def _local_file(place: Path, name: str) -> Path:
    if not place.exists():
        raise DataError(f"data_dir {str(place)!r} does not exist. {hub.THREE_WAYS}")
    if not place.is_dir():
        return place
    file = place / name
    if not file.is_file():
        raise DataError(f"data_dir {str(place)!r} has no {name}. {hub.THREE_WAYS}")
    return file
