"""The sha256 of a file, computed once for each state of the file."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from lm_eval_longbench.input_files import raw_blocks


def sha256_of(path: Path) -> str:
    """Return the sha256 of a file's bytes, as hexadecimal digits; OSError if it cannot be read."""
    status = path.stat()
    return _digest(path, status.st_size, status.st_mtime_ns)


@functools.lru_cache(maxsize=256)
def _digest(path: Path, size: int, modified: int) -> str:
    digest = hashlib.sha256()
    for block in raw_blocks(path):
        digest.update(block)
    return digest.hexdigest()
