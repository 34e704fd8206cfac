"""Converted rows in the datasets cache: Arrow files, memory-mapped, each checked when opened.

What is converted from one file lies in one folder, with the sha256 of each file in it. A file whose
bytes have another one, so that a gold answer may have changed, is not read but made anew from its
source.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import mmap
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from filelock import FileLock

from lm_eval_longbench.data.rows import HasData
from lm_eval_longbench.errors import DataError
from lm_eval_longbench.files import our_cache, sha256_of

if TYPE_CHECKING:
    import pyarrow

logger = logging.getLogger(__name__)
# Part of every path: raise it when what is stored changes. Folders of another format are left
# alone.
_FORMAT = "3"
_INDEX = "converted.json"
# Rows are written out when their texts reach this many characters: rows of a megabyte
# each must not add up in memory, and with this many to a batch writing costs little.
BATCH_CHARACTERS = 1_000_000
_BATCH_ROWS = 1000
# Column of every Arrow file: sha256 of `context`; null where that is empty.
CONTEXT_SHA256 = "context_sha256"
# Among the counts of a conversion: the rows of each file.
ROWS = "rows"
# Characters of rows after which the pages they were read from are given back.
_READ = 16_000_000


# ---------------------------------------------------------------------- rows of a file


class MappedRows(Sequence[dict[str, Any]]):
    """The rows of an Arrow file (stream format), or some of their columns, or some of the rows.

    The file is mapped: opening it reads no value, a row costs its own bytes, and a column costs the
    column. `rows[number]` is one row, `rows["name"]` the values of a column.

    Args:
        table: all rows of the file.
        mapped: the file; rows that were read count as memory of this process until it lets go.
        indices: numbers of the rows in the file that there are; None: all.
    """

    def __init__(
        self,
        table: pyarrow.Table,
        mapped: mmap.mmap | None = None,
        indices: Sequence[int] | None = None,
    ) -> None:
        self._table, self._mapped, self._read = table, mapped, 0
        self._indices = range(table.num_rows) if indices is None else indices

    @classmethod
    def of_file(cls, path: Path) -> MappedRows:
        """Map a file.

        Raises:
            OSError, ValueError: it cannot be read, is empty, is no Arrow file or is cut off.
        """
        import pyarrow

        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        with pyarrow.ipc.open_stream(pyarrow.py_buffer(mapped)) as reader:
            return cls(reader.read_all(), mapped)

    @property
    def schema(self) -> pyarrow.Schema:
        """The columns and their types."""
        return self._table.schema

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
            values = self._table.column(wanted).to_pylist()
            return [values[index] for index in self._indices]
        if isinstance(wanted, slice):
            return [self[number] for number in range(*wanted.indices(len(self)))]
        place = self._indices[wanted]  # IndexError as of any sequence
        (row,) = self._table.slice(place, 1).to_pylist()
        self._let_go(row)
        return row

    def _let_go(self, row: Mapping[str, Any]) -> None:
        """Give pages that were read back to the system, which reads them again if need be."""
        self._read += sum(len(value) for value in row.values() if isinstance(value, str))
        if self._read > _READ and self._mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
            self._mapped.madvise(mmap.MADV_DONTNEED)
            self._read = 0

    def select(self, indices: Sequence[int]) -> MappedRows:
        """Return some of the rows, by their numbers here."""
        chosen = [self._indices[index] for index in indices]
        return MappedRows(self._table, self._mapped, chosen)

    def without(self, name: str) -> MappedRows:
        """Return the rows without a column; KeyError if there is none of this name."""
        return MappedRows(self._table.drop_columns([name]), self._mapped, self._indices)

    def lengths(self, name: str) -> list[int]:
        """Return the bytes of each text of a column; no text is read."""
        import pyarrow.compute

        values = pyarrow.compute.binary_length(self._table.column(name)).to_pylist()
        return [values[index] for index in self._indices]

    def columns(self) -> dict[str, list[Any]]:
        """Return the values of every column."""
        return {name: self[name] for name in self.schema.names}


# ---------------------------------------------------------------------- writing


def schema_of(benchmark: HasData) -> pyarrow.Schema:
    """Return the columns of a benchmark's rows and their types."""
    import pyarrow

    kinds = {"texts": pyarrow.list_(pyarrow.string()), "int64": pyarrow.int64()}
    text = pyarrow.string()
    return pyarrow.schema(
        [(name, kinds.get(benchmark.kinds.get(name, ""), text)) for name in benchmark.fields]
    )


def write(
    folder: Path,
    benchmark: HasData,
    names: Iterable[str],
    rows: Iterable[tuple[str, Mapping[str, Any]]],
) -> dict[str, dict[str, int]]:
    """Write an Arrow file of each name into an empty folder, and then what tells they are whole.

    Args:
        folder: an empty one.
        benchmark: whose rows they are.
        names: of the files, without their ending.
        rows: each with the name of its file.

    Returns:
        How many rows each file has, under ROWS; and how many have each value, by dimension.

    Raises:
        OSError: the disk is full or not writable.
    """
    import pyarrow

    kinds = {ROWS: names, **benchmark.counts}
    counts = {kind: dict.fromkeys(values, 0) for kind, values in kinds.items()}
    schema = schema_of(benchmark).append(pyarrow.field(CONTEXT_SHA256, pyarrow.string()))
    waiting: dict[str, list[dict[str, Any]]] = {name: [] for name in counts[ROWS]}
    number = characters = 0  # of the rows that wait

    with contextlib.ExitStack() as stack:
        files = {own: stack.enter_context((folder / f"{own}.arrow").open("wb")) for own in waiting}
        streams = {
            own: stack.enter_context(pyarrow.ipc.new_stream(file, schema))
            for own, file in files.items()
        }

        def flush() -> None:
            for own, stream in streams.items():
                if waiting[own]:
                    stream.write_batch(pyarrow.RecordBatch.from_pylist(waiting[own], schema=schema))
                    waiting[own].clear()

        for name, row in rows:
            context = row["context"]
            digest = hashlib.sha256(context.encode("utf-8")).hexdigest() if context else None
            waiting[name].append({**row, CONTEXT_SHA256: digest})
            for kind, values in counts.items():
                values[name if kind == ROWS else row[kind]] += 1
            number += 1
            characters += sum(len(text) for text in row.values() if isinstance(text, str))
            if characters >= BATCH_CHARACTERS or number == _BATCH_ROWS:
                flush()
                number = characters = 0
        flush()
    hashes = {path.name: sha256_of(path) for path in sorted(folder.iterdir())}
    index = {"sha256": hashes, "counts": counts}
    (folder / _INDEX).write_text(json.dumps(index, indent=1), encoding="utf-8")
    return counts


# ---------------------------------------------------------------------- the folder of a conversion


def cache_folder(benchmark: HasData, sha256: str, dataset: str = "") -> Path:
    """Return the folder for what is converted from the file with this hash; it may not exist.

    `dataset` is one of its datasets, where each is converted by itself.
    """
    return our_cache() / benchmark.family / f"{sha256[:16]}-{_FORMAT}" / dataset


def _index(folder: Path) -> dict[str, Any]:
    """Return what is known of a folder's files; nothing if it is not there or cannot be read."""
    try:
        index = json.loads((folder / _INDEX).read_bytes())
    except (OSError, ValueError):
        return {}
    return index if isinstance(index, dict) else {}


def counts_in(folder: Path) -> dict[str, dict[str, int]]:
    """Return how many rows have each value, by dimension, of what was converted into a folder."""
    counts: dict[str, dict[str, int]] = _index(folder).get("counts", {})
    return counts


def is_whole(folder: Path, *names: str) -> bool:
    """Whether a folder has files, and each, or each of these, has the bytes that were written."""
    files = _index(folder).get("sha256", {})
    try:
        return bool(files) and all(
            sha256_of(folder / name) == files.get(name) for name in names or files
        )
    except OSError:
        return False


def converted(folder: Path, name: str) -> MappedRows | None:
    """Return the rows of `<name>.arrow`; None: there are none, or not those that were written."""
    path = folder / f"{name}.arrow"
    return MappedRows.of_file(path) if is_whole(folder, path.name) else None


def rows_of(folder: Path, name: str, fill: Callable[[Path], None]) -> MappedRows:
    """Return the rows of `<name>.arrow`, converting its folder on first use.

    A finished folder appears under its final name in one step and under a lock, so neither a crash
    nor a second process ever leaves or meets a half-filled one.

    Args:
        folder: where the files are, or will be.
        name: of the file.
        fill: called with an empty folder to `write` the files, if the file is not there or not as
            it was written.

    Raises:
        DataError: the cache cannot be written, or `fill` raises it.
    """
    partial = folder.with_name(f"{folder.name}.partial")
    try:
        rows = converted(folder, name)
        if rows is not None:
            return rows
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{folder}.lock"):
            rows = converted(folder, name)  # another process may have been here first
            if rows is not None:
                return rows
            if folder.exists():
                logger.warning(
                    f"The converted data in {folder} was changed or cannot be read. It is made "
                    "anew from its source."
                )
            shutil.rmtree(partial, ignore_errors=True)  # of a process that was killed
            partial.mkdir()
            try:
                fill(partial)
                shutil.rmtree(folder, ignore_errors=True)
                partial.rename(folder)
            finally:
                shutil.rmtree(partial, ignore_errors=True)
            return MappedRows.of_file(folder / f"{name}.arrow")
    except OSError as error:
        raise DataError(
            f"Cannot write {folder}: {error}. Free some space, or name another folder with the "
            "environment variable HF_DATASETS_CACHE."
        ) from error
