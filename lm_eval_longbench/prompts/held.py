"""Texts of prompts, out of memory until they are sent: ten thousand long ones are gigabytes."""

from __future__ import annotations

import logging
import os
import tempfile
import threading
from collections.abc import Callable
from typing import IO, Any

from lm_eval_longbench.datasets_cache import our_cache
from lm_eval_longbench.once import warn_once

logger = logging.getLogger(__name__)
# Bytes of the texts of one task that stay in memory: a short task needs no file.
_IN_MEMORY = 2_000_000


class Held:
    """A text in a file that has no name; it goes when nothing refers to it any more."""

    __slots__ = ("_file", "_make", "_place", "_size")

    def __init__(self, file: IO[bytes], place: int, size: int, make: Callable[[str], Any]) -> None:
        self._file, self._place, self._size, self._make = file, place, size, make

    def read(self) -> Any:
        """Return the text, or what is made of it."""
        data = os.pread(self._file.fileno(), self._size, self._place)
        return self._make(data.decode("utf-8", "surrogatepass"))


class Texts:
    """Holds the texts of one task."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._size = self._end = 0
        self._lock = threading.Lock()

    def hold(self, text: str, make: Callable[[str], Any] = str) -> Any:
        """Return what `whole` makes the text of again, or what `make` makes of it.

        Where the disk is full or there is none that can be written, it stays in memory.
        """
        data = text.encode("utf-8", "surrogatepass")
        with self._lock:
            self._size += len(data)
            if self._size <= _IN_MEMORY or not hasattr(os, "pread"):
                return make(text)
            try:
                if self._file is None:
                    folder = our_cache()
                    folder.mkdir(parents=True, exist_ok=True)
                    self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115
                written = 0
                while written < len(data):
                    written += os.pwrite(
                        self._file.fileno(), memoryview(data)[written:], self._end + written
                    )
            except OSError as error:
                warn_once(logger, "held", f"Prompts stay in memory: {our_cache()}: {error}.")
                return make(text)
            held = Held(self._file, self._end, len(data), make)
            self._end += len(data)
            return held


def whole(held: Any) -> Any:
    """Return what was held."""
    return held.read() if isinstance(held, Held) else held
