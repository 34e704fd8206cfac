"""The sha256 of a file, computed once for each state of the file."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from lm_eval_longbench.input_files import raw_blocks


def sha256_of(path: Path) -> str:
    """Return the sha256 of a regular file's bytes, as hexadecimal digits.

    Raises:
        OSError: it cannot be read, or is not a regular file.
    """
    found = path.stat()
    # The time when its entry was changed cannot be set back.
    return _hashed(path, (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns))


@functools.lru_cache(maxsize=256)
def _hashed(path: Path, state: tuple[int, ...]) -> str:
    digest = hashlib.sha256()
    for block in raw_blocks(path):
        digest.update(block)
    return digest.hexdigest()
