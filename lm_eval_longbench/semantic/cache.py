"""Vectors kept on disk by what they were computed from."""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
import zlib
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import numpy as np
from filelock import FileLock

from lm_eval_longbench.once import warn_once

_log = logging.getLogger(__name__)
_T = TypeVar("_T")
# Part of the file's name: raise it when the rows or the way to embed change.
_FORMAT = "1"
# Seconds to wait for another process that writes.
_PATIENCE = 60.0
# Keys in one query: old SQLite libraries take 999 parameters.
_QUERY = 500


class VectorCache:
    """One SQLite file in the datasets cache, shared by all embedders and processes.

    It can only save time: a damaged file is set aside, and a full disk, a read-only folder or a
    lock that cannot be had is a warning, after which vectors are computed as without a cache.

    Args:
        folder: where the file lies; None: lm_eval_longbench/embeddings in the datasets cache.
    """

    def __init__(self, folder: Path | None = None) -> None:
        if folder is None:
            import datasets  # slow to import

            cache = Path(datasets.config.HF_DATASETS_CACHE)
            folder = cache / "lm_eval_longbench" / "embeddings"
        self.path = folder / f"vectors-{_FORMAT}.sqlite"

    def get(self, identity: str, texts: Sequence[str]) -> dict[str, np.ndarray]:
        """Return the vectors that are kept, float32 of shape (d,), by text.

        Args:
            identity: the embedder's.
            texts: any; those without a vector are left out of the result.
        """
        by_key = {_key(identity, text): text for text in texts}

        def read(connection: sqlite3.Connection) -> dict[str, np.ndarray]:
            keys, found = list(by_key), {}
            for start in range(0, len(keys), _QUERY):
                part = keys[start : start + _QUERY]
                marks = ",".join("?" * len(part))
                query = f"SELECT key, vector FROM vectors WHERE key IN ({marks})"
                for key, value in connection.execute(query, part):
                    vector = _unpack(value)
                    if vector is not None:
                        found[by_key[key]] = vector
            return found

        return self._do(read, "read") or {}

    def put(self, identity: str, texts: Sequence[str], vectors: np.ndarray) -> None:
        """Keep the vectors, float32 of shape (n, d), of n texts: all of them, or none."""
        rows = [
            (_key(identity, text), _pack(vector))
            for text, vector in zip(texts, vectors, strict=True)
        ]

        def write(connection: sqlite3.Connection) -> None:
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)

        self._do(write, "written")

    def _do(self, action: Callable[[sqlite3.Connection], _T], done: str) -> _T | None:
        try:
            try:
                return self._transaction(action)
            except sqlite3.DatabaseError as error:
                if not _says_damaged(error):
                    raise
                self._set_aside()
                return self._transaction(action)
        except (sqlite3.Error, OSError) as error:
            warn_once(
                _log,
                f"embedding cache {done}",
                f"The embedding cache {self.path} cannot be {done} ({error}). Vectors are computed "
                "without it; only time is lost. Free some space, or name another folder with the "
                "environment variable HF_DATASETS_CACHE.",
            )
            return None

    def _transaction(self, action: Callable[[sqlite3.Connection], _T]) -> _T:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self.path, timeout=_PATIENCE)) as connection, connection:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL)"
            )
            return action(connection)

    def _set_aside(self) -> None:
        with FileLock(f"{self.path}.lock", timeout=_PATIENCE):
            # Another process may have met the damage first: its new file must stay.
            if self._sound():
                return
            aside = self.path.with_name(f"{self.path.name}.damaged")
            os.replace(self.path, aside)
            # It belongs to the damaged file and would be played back into the new one.
            self.path.with_name(f"{self.path.name}-journal").unlink(missing_ok=True)
        warn_once(
            _log,
            "damaged embedding cache",
            f"The embedding cache {self.path} was damaged and is now {aside}, which can be "
            "deleted. A new one is begun.",
        )

    def _sound(self) -> bool:
        if not self.path.exists():
            return True
        try:
            with closing(sqlite3.connect(self.path, timeout=_PATIENCE)) as connection:
                return connection.execute("PRAGMA quick_check(1)").fetchall() == [("ok",)]
        except sqlite3.DatabaseError as error:
            if _says_damaged(error):
                return False
            raise


def _says_damaged(error: sqlite3.DatabaseError) -> bool:
    # The module has subclasses for every other cause; codes are there from Python 3.11 on only.
    return type(error) is sqlite3.DatabaseError


def _key(identity: str, text: str) -> bytes:
    return hashlib.sha256(f"{identity}\0{text}".encode("utf-8", "surrogatepass")).digest()


def _pack(vector: np.ndarray) -> bytes:
    raw = np.ascontiguousarray(vector, dtype="<f4").tobytes()
    # SQLite does not notice bits that flip in a value, and a wrong vector is a wrong score.
    return zlib.crc32(raw).to_bytes(4, "little") + raw


def _unpack(value: object) -> np.ndarray | None:
    if not isinstance(value, bytes) or len(value) < 8 or len(value) % 4:
        return None
    raw = value[4:]
    if zlib.crc32(raw) != int.from_bytes(value[:4], "little"):
        return None
    return np.frombuffer(raw, dtype="<f4").astype(np.float32)
