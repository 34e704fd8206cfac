"""The sha256 of a file, computed once for each state of the file."""

from __future__ import annotations

import functools
import hashlib
import stat
import time
from pathlib import Path

from lm_eval_longbench.input_files import raw_blocks

# What tells one state of a file from another: device and inode, size, and when its bytes and its
# entry were changed. The last cannot be set back.
Identity = tuple[int, int, int, int, int]

# A clock that ticks slowly gives two states of a file one time; a file that changed less than this
# ago is hashed anew, in nanoseconds.
_FRESH = 50_000_000


def identity(path: Path) -> Identity:
    """Return what changes with the bytes of a regular file; OSError if it is none."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise OSError(f"{path} is not a regular file")
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def sha256_of(path: Path) -> str:
    """Return the sha256 of a regular file's bytes, as hexadecimal digits.

    Raises:
        OSError: it cannot be read, or is not a regular file.
    """
    state = identity(path)
    if time.time_ns() - max(state[-2:]) < _FRESH:
        return _hashed(path)
    return _remembered(path, state)


@functools.lru_cache(maxsize=256)
def _remembered(path: Path, state: Identity) -> str:
    return _hashed(path)


def _hashed(path: Path) -> str:
    digest = hashlib.sha256()
    for block in raw_blocks(path):
        digest.update(block)
    return digest.hexdigest()
