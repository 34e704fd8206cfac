"""Keep a set of converted files as one folder of the datasets cache: all of them or none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

from lm_eval_longbench.data.arrow import cache_folder, cannot_write


def cached_folder(benchmark: str, sha256: str, fill: Callable[[Path], None]) -> Path:
    """Return the folder of files converted from one source file, making it on first use.

    A finished folder appears under its final name in one step and under a lock, so neither a crash
    nor a second process ever leaves or meets a half-filled one. What a killed process left behind
    is removed when the folder is made again.

    Args:
        benchmark: folder in the cache.
        sha256: of the source file; other bytes get another folder.
        fill: called with an empty folder if there is no finished one yet.

    Raises:
        DataError: the cache cannot be written, or `fill` raises it.
    """
    target = cache_folder(benchmark, sha256)
    try:
        if not target.is_dir():
            target.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{target}.lock"):
                if not target.is_dir():
                    _make(target, fill)
    except OSError as error:
        raise cannot_write(target, error) from error
    return target


def _make(target: Path, fill: Callable[[Path], None]) -> None:
    # Whoever holds the lock is alone: other partial folders have no living owner.
    for left in target.parent.glob(f"{target.name}.*.partial"):
        shutil.rmtree(left)
    partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
    partial.mkdir()
    try:
        fill(partial)
        partial.rename(target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
