"""Write the rows of one pass into several Arrow files at once."""

from __future__ import annotations

import contextlib
from pathlib import Path
from types import TracebackType
from typing import Any

import datasets
from datasets.arrow_writer import ArrowWriter

# A file's rows are written out when their texts reach this many characters: rows of a megabyte
# each must not add up in memory, and with this many to a batch writing costs little.
BATCH_CHARACTERS = 1_000_000


class ArrowFiles:
    """Files `<name>.arrow` of one folder, opened as rows for them come; a context manager.

    The files are complete when its block has ended without an error. OSError when the disk is full
    or not writable.
    """

    def __init__(self, folder: Path, features: datasets.Features) -> None:
        self._folder = folder
        self._features = features
        self._writers: dict[str, ArrowWriter] = {}
        self._waiting: dict[str, int] = {}  # characters
        self._open = contextlib.ExitStack()

    def __enter__(self) -> ArrowFiles:
        """Return this object; files are opened as they are needed."""
        return self

    def write(self, name: str, row: dict[str, Any]) -> None:
        """Add a row to one file."""
        if name not in self._writers:
            path = str(self._folder / f"{name}.arrow")
            writer = ArrowWriter(features=self._features, path=path)
            self._writers[name] = self._open.enter_context(writer)
        writer = self._writers[name]
        writer.write(row)
        size = sum(len(value) for value in row.values() if isinstance(value, str))
        self._waiting[name] = self._waiting.get(name, 0) + size
        if self._waiting[name] >= BATCH_CHARACTERS:
            writer.write_examples_on_file()
            self._waiting[name] = 0

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Finish all files, or only close them after an error."""
        with self._open:
            if kind is None:
                for writer in self._writers.values():
                    writer.finalize()
