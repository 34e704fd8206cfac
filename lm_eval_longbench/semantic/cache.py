"""Vectors kept on disk by what they were computed from."""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import numpy as np
from filelock import FileLock

from lm_eval_longbench.datasets_cache import our_cache
from lm_eval_longbench.once import warn_once

_log = logging.getLogger(__name__)
_T = TypeVar("_T")
# Part of the file's name: raise it when the rows or the way to embed change.
_FORMAT = "2"
# Seconds to wait for another process that writes.
_PATIENCE = 60.0
# Keys in one query: old SQLite libraries take 999 parameters.
_QUERY = 500
_TABLE = "CREATE TABLE vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL)"
# All that a sound file is made of: type and definition.
_SCHEMA = {(b"table", _TABLE.encode()), (b"index", None)}
# Bytes of the digest that stands before a vector.
_DIGEST = 16


class _Damaged(sqlite3.DatabaseError):
    """A file that SQLite can open, and that is not as this module makes it."""


class VectorCache:
    """One SQLite file in the datasets cache, shared by all embedders and processes.

    It can only save time: a damaged file is set aside, and a full disk, a read-only folder or a
    lock that cannot be had is a warning, after which vectors are computed as without a cache.

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
                    # A damaged index leads to the rows of other texts.
                    vector = _unpack(key, value) if key in by_key else None
                    if vector is not None:
                        found[by_key[key]] = vector
            return found

        return self._do(read, "read") or {}

    def put(self, identity: str, texts: Sequence[str], vectors: np.ndarray) -> None:
        """Keep the vectors, float32 of shape (n, d), of n texts: all of them, or none."""
        keys = [_key(identity, text) for text in texts]
        rows = [(key, _pack(key, vector)) for key, vector in zip(keys, vectors, strict=True)]

        def write(connection: sqlite3.Connection) -> None:
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)

        self._do(write, "written")

    def _do(self, action: Callable[[sqlite3.Connection], _T], done: str) -> _T | None:
        try:
            try:
                return self._transaction(action)
            except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
                if not _says_damaged(error):
                    raise
                self._set_aside()
                return self._transaction(action)
        # Damage makes SQLite ask for absurd memory, and its messages hold what is no text.
        except (sqlite3.Error, OSError, UnicodeDecodeError, MemoryError) as error:
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
        with closing(self._connected()) as connection, connection:
            connection.execute(_TABLE.replace("TABLE", "TABLE IF NOT EXISTS", 1))
            _check_schema(connection)
            return action(connection)

    def _connected(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=_PATIENCE)
        connection.text_factory = bytes  # what is damaged need not be UTF-8
        return connection

    def _set_aside(self) -> None:
        with FileLock(f"{self.path}.lock", timeout=_PATIENCE):
            # Another process may have met the damage first: its new file must stay.
            if self._sound():
                return
            aside = self.path.with_name(f"{self.path.name}.damaged")
            os.replace(self.path, aside)
            # They belong to the damaged file and would be played back into the new one.
            for ending in ("journal", "wal", "shm"):
                self.path.with_name(f"{self.path.name}-{ending}").unlink(missing_ok=True)
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
            with closing(self._connected()) as connection:
                _check_schema(connection)
                return connection.execute("PRAGMA integrity_check(1)").fetchall() == [(b"ok",)]
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            if _says_damaged(error):
                return False
            raise


def _check_schema(connection: sqlite3.Connection) -> None:
    if set(connection.execute("SELECT type, sql FROM sqlite_master")) != _SCHEMA:
        raise _Damaged("its tables are not those of an embedding cache")


def _says_damaged(error: Exception) -> bool:
    # The causes of an OperationalError lie outside the file: a lock, a full disk, a folder that
    # cannot be written. Codes are there from Python 3.11 on only.
    return not isinstance(error, sqlite3.OperationalError)


def _key(identity: str, text: str) -> bytes:
    return hashlib.sha256(f"{identity}\0{text}".encode("utf-8", "surrogatepass")).digest()


def _digest(key: bytes, raw: bytes) -> bytes:
    return hashlib.blake2b(key + raw, digest_size=_DIGEST).digest()


def _pack(key: bytes, vector: np.ndarray) -> bytes:
    raw = np.ascontiguousarray(vector, dtype="<f4").tobytes()
    # SQLite does not notice bits that flip, in a value or on the way to its row, and the vector of
    # another text is a wrong score too.
    return _digest(key, raw) + raw


def _unpack(key: bytes, value: object) -> np.ndarray | None:
    if not isinstance(value, bytes) or len(value) < _DIGEST + 4 or len(value) % 4:
        return None
    raw = value[_DIGEST:]
    if _digest(key, raw) != value[:_DIGEST]:
        return None
    return np.frombuffer(raw, dtype="<f4").astype(np.float32)
