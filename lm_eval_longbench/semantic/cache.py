"""Vectors kept on disk by what they were computed from."""

from __future__ import annotations

import hashlib
import logging
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import numpy as np

from lm_eval_longbench.datasets_cache import our_cache
from lm_eval_longbench.once import warn_once

_log = logging.getLogger(__name__)
_T = TypeVar("_T")
# Part of the file's name: raise it when the rows or the way to embed change.
_FORMAT = "3"
# Seconds to wait for another process that writes.
_PATIENCE = 60.0
# Keys in one query: old SQLite libraries take 999 parameters.
_QUERY = 500
_TABLE = "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL)"


class VectorCache:
    """One SQLite file in the datasets cache, shared by all embedders and processes.

    It can only save time: a file that cannot be read is deleted and begun anew; after a full disk,
    a read-only folder or a lock that cannot be had vectors are computed as without a cache.

    Args:
        folder: where the file lies; None: lm_eval_longbench/embeddings in the datasets cache.
    """

    def __init__(self, folder: Path | None = None) -> None:
        if folder is None:
            folder = our_cache() / "embeddings"
        self.path = folder / f"vectors-{_FORMAT}.sqlite"

    def get(self, identity: str, texts: Sequence[str]) -> dict[str, np.ndarray]:
        """Return an embedder's vectors that are kept, float32 of shape (d,), by text."""
        by_key = {_key(identity, text): text for text in texts}

        def read(connection: sqlite3.Connection) -> dict[str, np.ndarray]:
            keys, found = list(by_key), {}
            for start in range(0, len(keys), _QUERY):
                part = keys[start : start + _QUERY]
                marks = ",".join("?" * len(part))
                query = f"SELECT key, vector FROM vectors WHERE key IN ({marks})"
                for key, value in connection.execute(query, part):
                    found[by_key[key]] = np.frombuffer(value, dtype="<f4").astype(np.float32)
            return found

        return self._do(read, "read") or {}

    def put(self, identity: str, texts: Sequence[str], vectors: np.ndarray) -> None:
        """Keep the vectors, float32 of shape (n, d), of n texts: all of them, or none."""
        keys = [_key(identity, text) for text in texts]
        values = [np.ascontiguousarray(vector, dtype="<f4").tobytes() for vector in vectors]
        rows = list(zip(keys, values, strict=True))

        def write(connection: sqlite3.Connection) -> None:
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)

        self._do(write, "written")

    def _do(self, action: Callable[[sqlite3.Connection], _T], done: str) -> _T | None:
        try:
            try:
                return self._transaction(action)
            except sqlite3.OperationalError:  # a lock, a full disk, a folder that is read-only
                raise
            except sqlite3.DatabaseError:
                for ending in ("", "-journal", "-wal", "-shm"):
                    self.path.with_name(f"{self.path.name}{ending}").unlink(missing_ok=True)
                _log.warning(f"The embedding cache {self.path} was damaged. It is begun anew.")
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
            connection.execute(_TABLE)
            return action(connection)


def _key(identity: str, text: str) -> bytes:
    return hashlib.sha256(f"{identity}\0{text}".encode("utf-8", "surrogatepass")).digest()
