"""The sha256 of a file, computed once for each state of the file."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path


def sha256_of(path: Path) -> str:
    """Return the sha256 of a file's bytes, as hexadecimal digits."""
    status = path.stat()
    return _digest(path, status.st_size, status.st_mtime_ns)


@functools.lru_cache(maxsize=256)
def _digest(path: Path, size: int, modified: int) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as handle:
        while chunk := handle.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()
