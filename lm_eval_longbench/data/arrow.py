"""Keep converted rows as Arrow files in the datasets cache, memory-mapped when used."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import datasets
from datasets.arrow_writer import ArrowWriter
from filelock import FileLock

from lm_eval_longbench.errors import DataError

# Part of every path: raise it when the stored columns change.
_FORMAT = "1"
# Rows in memory at a time while converting.
_BATCH = 50

V1_FEATURES = datasets.Features(
    {
        "input": datasets.Value("string"),
        "context": datasets.Value("string"),
        "answers": datasets.Sequence(datasets.Value("string")),
        "length": datasets.Value("int64"),
        "dataset": datasets.Value("string"),
        "language": datasets.Value("string"),
        "all_classes": datasets.Sequence(datasets.Value("string")),
        "_id": datasets.Value("string"),
    }
)


def cache_folder(benchmark: str, sha256: str) -> Path:
    """Return the folder for what is converted from the file with this hash; it may not exist."""
    cache = Path(datasets.config.HF_DATASETS_CACHE) / "lm_eval_longbench"
    return cache / benchmark / f"{sha256[:16]}-{_FORMAT}"


def cannot_write(target: Path, error: OSError) -> DataError:
    """Return the error to raise when the system refuses to write `target`."""
    return DataError(
        f"Cannot write {target}: {error}. Free some space, or name another folder with the "
        "environment variable HF_DATASETS_CACHE."
    )


def cached(
    benchmark: str,
    sha256: str,
    name: str,
    features: datasets.Features,
    rows: Callable[[], Iterable[dict[str, Any]]],
) -> datasets.Dataset:
    """Return the rows of one file as a memory-mapped dataset, converting them on first use.

    A finished file appears under its final name in one step and under a lock, so neither a crash
    nor a second process ever leaves or meets a half-written one.

    Args:
        benchmark: folder in the cache.
        sha256: of the file the rows come from; other bytes get another folder.
        name: dataset name, the file's stem.
        features: columns and their types.
        rows: called to read the rows if there is no converted file yet.

    Raises:
        DataError: the cache cannot be written, or `rows` raises it.
    """
    target = cache_folder(benchmark, sha256) / f"{name}.arrow"
    try:
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{target}.lock"):
                if not target.exists():
                    _convert(rows, features, target)
    except OSError as error:
        raise cannot_write(target, error) from error
    return datasets.Dataset.from_file(str(target))


def _convert(
    rows: Callable[[], Iterable[dict[str, Any]]], features: datasets.Features, target: Path
) -> None:
    partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
    try:
        with ArrowWriter(features=features, path=str(partial), writer_batch_size=_BATCH) as writer:
            for row in rows():
                writer.write(row)
            writer.finalize()
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
