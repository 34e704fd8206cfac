"""Rows of an Arrow file on disk: each is read when it is asked for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, overload

import pyarrow


class MappedRows(Sequence[dict[str, Any]]):
    """The rows of an Arrow file (stream format), or some of their columns, or some of the rows.

    The file is mapped: opening it reads no value, a row costs its own bytes, and a column costs the
    column. `rows[number]` is one row, `rows["name"]` the values of a column.

    Args:
        batches: of the file, as they lie in it.
        schema: the columns and their types.
        indices: numbers of the rows in the file that there are; None: all.
    """

    def __init__(
        self,
        batches: Sequence[pyarrow.RecordBatch],
        schema: pyarrow.Schema,
        indices: Sequence[int] | None = None,
    ) -> None:
        self.schema = schema
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
        with pyarrow.ipc.open_stream(pyarrow.memory_map(str(path))) as reader:
            return cls(list(reader), reader.schema)

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
        return row

    def _column(self, name: str) -> list[Any]:
        values = [value for batch in self._batches for value in batch.column(name).to_pylist()]
        return [values[index] for index in self._indices]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return map(self.__getitem__, range(len(self)))

    def select(self, indices: Sequence[int]) -> MappedRows:
        """Return some of the rows, by their numbers here."""
        return MappedRows(self._batches, self.schema, [self._indices[index] for index in indices])

    def without(self, name: str) -> MappedRows:
        """Return the rows without a column; KeyError if there is none of this name."""
        kept = [other for other in self.column_names if other != name]
        if len(kept) == len(self.column_names):
            raise KeyError(name)
        batches = [batch.select(kept) for batch in self._batches]
        schema = pyarrow.schema([self.schema.field(other) for other in kept])
        return MappedRows(batches, schema, self._indices)

    def columns(self) -> dict[str, list[Any]]:
        """Return the values of every column."""
        return {name: self[name] for name in self.column_names}
