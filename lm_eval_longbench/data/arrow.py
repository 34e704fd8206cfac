"""Converted rows in the datasets cache: Arrow files, memory-mapped, each checked when opened.

What is converted from one file lies in one folder, with a manifest: the format, the sha256 of the
source and of every file in the folder, and one of the manifest itself. A file that is not as its
manifest says, or has no sound manifest, is never read; it is made anew from its source.

This finds what a disk, a crash, another program or an edit does to a file. It is no protection
from somebody who writes file and manifest anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import mmap
import os
import shutil
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, overload

import pyarrow
from filelock import FileLock

from lm_eval_longbench.data.hashing import identity, sha256_of
from lm_eval_longbench.datasets_cache import our_cache
from lm_eval_longbench.errors import DataError

if TYPE_CHECKING:
    from lm_eval_longbench.benchmarks.base import Benchmark


# ---------------------------------------------------------------------- rows of a file


# Characters of rows after which the pages they were read from are given back.
_READ = 16_000_000


class MappedRows(Sequence[dict[str, Any]]):
    """The rows of an Arrow file (stream format), or some of their columns, or some of the rows.

    The file is mapped: opening it reads no value, a row costs its own bytes, and a column costs the
    column. `rows[number]` is one row, `rows["name"]` the values of a column.

    Args:
        batches: of the file, as they lie in it.
        schema: the columns and their types.
        indices: numbers of the rows in the file that there are; None: all.
        mapped: the file; rows that were read count as memory of this process until it lets go.
    """

    def __init__(
        self,
        batches: Sequence[pyarrow.RecordBatch],
        schema: pyarrow.Schema,
        indices: Sequence[int] | None = None,
        mapped: mmap.mmap | None = None,
    ) -> None:
        self.schema = schema
        self._mapped, self._read = mapped, 0
        self._batches = batches
        self._ends = list(accumulate(batch.num_rows for batch in batches))
        self._indices = range(self._ends[-1] if batches else 0) if indices is None else indices

    @classmethod
    def of_file(cls, path: Path) -> MappedRows:
        """Map a file.

        Raises:
            OSError: it cannot be read.
            pyarrow.ArrowException: it is no Arrow file, or is cut off.
        """
        with path.open("rb") as file:
            try:
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except ValueError as error:  # it is empty
                raise OSError(f"{path}: {error}") from error
        with pyarrow.ipc.open_stream(pyarrow.py_buffer(mapped)) as reader:
            return cls(list(reader), reader.schema, mapped=mapped)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns, in order."""
        return self.schema.names

    def __len__(self) -> int:
        return len(self._indices)

    @overload
    def __getitem__(self, wanted: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, wanted: str) -> list[Any]: ...
    @overload
    def __getitem__(self, wanted: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, wanted: int | str | slice) -> Any:
        if isinstance(wanted, str):
            return self._column(wanted)
        if isinstance(wanted, slice):
            return [self[number] for number in range(*wanted.indices(len(self)))]
        place = self._indices[wanted]  # IndexError as of any sequence
        number = bisect_right(self._ends, place)
        batch = self._batches[number]
        (row,) = batch.slice(place - (self._ends[number] - batch.num_rows), 1).to_pylist()
        self._let_go(row)
        return row

    def _let_go(self, row: Mapping[str, Any]) -> None:
        """Give pages that were read back to the system, which reads them again if need be."""
        self._read += sum(len(value) for value in row.values() if isinstance(value, str))
        if self._read > _READ and self._mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
            self._mapped.madvise(mmap.MADV_DONTNEED)
            self._read = 0

    def _column(self, name: str) -> list[Any]:
        values = [value for batch in self._batches for value in batch.column(name).to_pylist()]
        return [values[index] for index in self._indices]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return map(self.__getitem__, range(len(self)))

    def select(self, indices: Sequence[int]) -> MappedRows:
        """Return some of the rows, by their numbers here."""
        chosen = [self._indices[index] for index in indices]
        return MappedRows(self._batches, self.schema, chosen, self._mapped)

    def without(self, name: str) -> MappedRows:
        """Return the rows without a column; KeyError if there is none of this name."""
        kept = [other for other in self.column_names if other != name]
        if len(kept) == len(self.column_names):
            raise KeyError(name)
        batches = [batch.select(kept) for batch in self._batches]
        schema = pyarrow.schema([self.schema.field(other) for other in kept])
        return MappedRows(batches, schema, self._indices, self._mapped)

    def columns(self) -> dict[str, list[Any]]:
        """Return the values of every column."""
        return {name: self[name] for name in self.column_names}


# ---------------------------------------------------------------------- the folder of a conversion

logger = logging.getLogger(__name__)
Value = TypeVar("Value")

# Part of every path: raise it when the stored columns or the manifest change. Folders of another
# format are left alone.
_FORMAT = "2"
_MANIFEST = "manifest.json"
# Bytes of a manifest; one with the files of 25 tasks has 3,000.
_LONGEST_MANIFEST = 1 << 20
# Times that a file is looked at while others replace it under our eyes.
_ATTEMPTS = 5
# A file's rows are written out when their texts reach this many characters: rows of a megabyte
# each must not add up in memory, and with this many to a batch writing costs little.
BATCH_CHARACTERS = 1_000_000
_BATCH_ROWS = 1000
# Column of every Arrow file: sha256 of `context`; null where that is empty.
CONTEXT_SHA256 = "context_sha256"

_KINDS = {
    "text": pyarrow.string(),
    "texts": pyarrow.list_(pyarrow.string()),
    "int64": pyarrow.int64(),
}


def schema_of(benchmark: Benchmark) -> pyarrow.Schema:
    """Return the columns of a benchmark's rows and their types."""
    kinds = benchmark.kinds
    return pyarrow.schema([(name, _KINDS[kinds.get(name, "text")]) for name in benchmark.fields])


def cache_folder(benchmark: str, sha256: str) -> Path:
    """Return the folder for what is converted from the file with this hash; it may not exist."""
    return our_cache() / benchmark / f"{sha256[:16]}-{_FORMAT}"


class ArrowFiles:
    """Files `<name>.arrow` of one folder, opened as rows for them come; a context manager.

    The files are complete when its block has ended without an error. OSError when the disk is full
    or not writable.

    Args:
        folder: where they are written.
        schema: columns of the rows that are given, `context` among them; the files have
            CONTEXT_SHA256 besides.
    """

    def __init__(self, folder: Path, schema: pyarrow.Schema) -> None:
        self._folder = folder
        self._schema = schema.append(pyarrow.field(CONTEXT_SHA256, pyarrow.string()))
        self._writers: dict[str, pyarrow.RecordBatchStreamWriter] = {}
        self._rows: dict[str, list[dict[str, Any]]] = {}  # not yet written
        self._characters: dict[str, int] = {}  # of their texts
        self._open = contextlib.ExitStack()

    def __enter__(self) -> ArrowFiles:
        """Return this object; files are opened as they are needed."""
        return self

    def write(self, name: str, row: Mapping[str, Any]) -> None:
        """Add a row to one file."""
        if name not in self._writers:
            file = self._open.enter_context((self._folder / f"{name}.arrow").open("wb"))
            self._writers[name] = pyarrow.ipc.new_stream(file, self._schema)
            self._rows[name], self._characters[name] = [], 0
        context, waiting = row["context"], self._rows[name]
        digest = hashlib.sha256(context.encode("utf-8")).hexdigest() if context else None
        waiting.append({**row, CONTEXT_SHA256: digest})
        self._characters[name] += sum(len(text) for text in row.values() if isinstance(text, str))
        if self._characters[name] >= BATCH_CHARACTERS or len(waiting) == _BATCH_ROWS:
            self._flush(name)

    def _flush(self, name: str) -> None:
        batch = pyarrow.RecordBatch.from_pylist(self._rows[name], schema=self._schema)
        self._writers[name].write_batch(batch)
        self._rows[name], self._characters[name] = [], 0

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Finish all files, or only close them after an error."""
        with self._open:
            if kind is None:
                for name, writer in self._writers.items():
                    if self._rows[name]:
                        self._flush(name)
                    writer.close()


class _Unsound(Exception):
    """Why a converted file cannot be used; `there`: something is in its place."""

    def __init__(self, reason: str, *, there: bool = True) -> None:
        super().__init__(reason)
        self.there = there


class CachedFolder:
    """The files converted from one source file: all of them or none, and none that is damaged.

    A finished folder appears under its final name in one step and under a lock, so neither a crash
    nor a second process ever leaves or meets a half-filled one. What a killed process left behind
    is removed when the folder is made again.

    Args:
        folder: where it is, or will be.
        sha256: of the source file.
        fill: called with an empty folder if there is no sound one, to write the files.
    """

    def __init__(self, folder: Path, sha256: str, fill: Callable[[Path], None]) -> None:
        self.folder = folder
        self._sha256 = sha256
        self._fill = fill

    def rows(self, name: str) -> MappedRows:
        """Open `<name>.arrow`, memory-mapped; see `open`."""
        return self.open(f"{name}.arrow", MappedRows.of_file)

    def open(self, name: str, read: Callable[[Path], Value]) -> Value:
        """Return what `read` makes of one file, which is as it was when it was converted.

        Raises:
            DataError: there is no sound file and it cannot be made anew: its source is not at hand,
                is damaged itself, or the cache cannot be written.
        """
        try:
            return self._checked(name, read)
        except _Unsound as reason:
            damage = f" to mend it, for it is damaged ({reason})" if reason.there else ""
        try:
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{self.folder}.lock"):
                try:
                    return self._checked(name, read)  # another process was here first
                except _Unsound as reason:
                    self._replace(reason)
                return self._checked(name, read)
        except _Unsound as reason:
            raise DataError(
                f"{self.folder / name} is not as it was written a moment ago: {reason}. Its disk "
                "may be failing; name another folder with the environment variable "
                "HF_DATASETS_CACHE."
            ) from reason
        except OSError as error:
            raise DataError(
                f"Cannot write {self.folder}{damage}: {error}. Free some space, or name another "
                "folder with the environment variable HF_DATASETS_CACHE."
            ) from error

    def _checked(self, name: str, read: Callable[[Path], Value]) -> Value:
        """Read a file that its manifest knows; _Unsound if there is none such."""
        path = self.folder / name
        for _ in range(_ATTEMPTS):
            try:
                expected = _manifest(self.folder, self._sha256).get(name)
                if expected is None:
                    raise _Unsound(f"{_MANIFEST} does not know {name}")
                before = identity(path)
                if sha256_of(path) != expected:
                    raise _Unsound(f"{name} has another sha256 than when it was written")
                value = read(path)
                if identity(path) == before:
                    return value
            except (OSError, pyarrow.ArrowException) as error:
                # Another process may have put a new folder in place of a damaged one.
                problem = _Unsound(str(error), there=self.folder.exists())
            else:
                problem = _Unsound(f"{name} changes all the time")
        raise problem

    def _replace(self, reason: _Unsound) -> None:
        """Make the folder anew, in place of what is there; only while its lock is held."""
        place = self.folder
        # Whoever holds the lock is alone: other partial folders have no living owner.
        for left in place.parent.glob(f"{place.name}.*.partial"):
            _remove(left)
        partial = place.with_name(f"{place.name}.{os.getpid()}.partial")
        old = place.with_name(f"{place.name}.{os.getpid()}.old.partial")
        partial.mkdir()
        try:
            self._fill(partial)
            _write_manifest(partial, self._sha256)
            if os.path.lexists(place):
                place.rename(old)
            partial.rename(place)
        except DataError as error:
            if not reason.there:
                raise
            raise DataError(
                f"The converted data in {place} is damaged ({reason}) and was not used. It can be "
                f"made anew from its source only: {error}"
            ) from error
        finally:
            _remove(partial)
            _remove(old)
        if reason.there:
            logger.warning(
                f"The converted data in {place} was damaged ({reason}). It was not used, but made "
                "anew from its source."
            )


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _digest_of(manifest: Mapping[str, Any]) -> str:
    text = json.dumps({key: manifest[key] for key in ("format", "source_sha256", "files")})
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _write_manifest(folder: Path, sha256: str) -> None:
    files = {path.name: sha256_of(path) for path in sorted(folder.iterdir())}
    manifest: dict[str, Any] = {"format": _FORMAT, "source_sha256": sha256, "files": files}
    manifest["sha256"] = _digest_of(manifest)
    (folder / _MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")


def _manifest(folder: Path, sha256: str) -> dict[str, str]:
    """Return the sha256 of each file of a folder that was converted from this source.

    Raises:
        _Unsound: there is no folder, or no manifest of this source and format.
    """
    path = folder / _MANIFEST
    if not os.path.lexists(folder):
        raise _Unsound(f"{folder} does not exist", there=False)
    if not path.is_file():
        raise _Unsound(f"it has no {_MANIFEST}")
    try:
        if path.stat().st_size > _LONGEST_MANIFEST:
            raise ValueError
        manifest = json.loads(path.read_bytes())
        sound = manifest["sha256"] == _digest_of(manifest)
    except (ValueError, KeyError, TypeError, RecursionError):
        sound = False
    if not sound:
        raise _Unsound(f"{_MANIFEST} is damaged")
    if (manifest["format"], manifest["source_sha256"]) != (_FORMAT, sha256):
        raise _Unsound(f"{_MANIFEST} is of another source")
    return manifest["files"]


def is_sound(folder: Path, sha256: str) -> bool:
    """Whether a folder holds what was converted from the file with this hash, each byte of it."""
    try:
        files = _manifest(folder, sha256)
        return all(sha256_of(folder / name) == digest for name, digest in files.items())
    except (_Unsound, OSError):
        return False


def _folder_of(benchmark: Benchmark, sha256: str, name: str) -> Path:
    return cache_folder(benchmark.family, sha256) / name


def stored(benchmark: Benchmark, sha256: str, name: str) -> MappedRows | None:
    """Return rows that `cached` has converted before; None: it has not, or they are damaged."""
    folder = CachedFolder(_folder_of(benchmark, sha256, name), sha256, lambda _: None)
    try:
        return folder._checked(f"{name}.arrow", MappedRows.of_file)
    except _Unsound:
        return None


def cached(
    benchmark: Benchmark,
    sha256: str,
    name: str,
    rows: Callable[[], Iterable[Mapping[str, Any]]],
) -> MappedRows:
    """Return the rows of one file, memory-mapped, converting them on first use.

    Args:
        benchmark: whose rows they are; its family is a folder in the cache.
        sha256: of the file the rows come from; other bytes get another folder.
        name: dataset name, the file's stem; a folder of its own.
        rows: called to read the rows, at least one, if there is no sound converted file.

    Raises:
        DataError: the cache cannot be written, or `rows` raises it.
    """

    def fill(folder: Path) -> None:
        with ArrowFiles(folder, schema_of(benchmark)) as files:
            for row in rows():
                files.write(name, row)

    return CachedFolder(_folder_of(benchmark, sha256, name), sha256, fill).rows(name)
