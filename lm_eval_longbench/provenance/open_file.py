"""Read JSON and JSON Lines files that may be compressed with gzip, whatever their name says."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from lm_eval_longbench.errors import PredictionError

_MAGIC = b"\x1f\x8b"


def _open(path: Path) -> BinaryIO:
    handle = path.open("rb")
    packed = handle.read(len(_MAGIC)) == _MAGIC
    handle.seek(0)
    return gzip.GzipFile(fileobj=handle) if packed else handle  # type: ignore[return-value]


def read_json(path: Path) -> Any:
    """Return the decoded document; PredictionError if the file is broken."""
    try:
        with _open(path) as handle:
            return json.loads(handle.read())
    except (OSError, EOFError, zlib.error) as error:
        raise PredictionError(f"{path} cannot be read: {error}") from error
    except (ValueError, RecursionError) as error:
        raise PredictionError(f"{path} is not JSON: {error}") from error


def read_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield the number (from 1) and the decoded value of each line that is not blank.

    Raises:
        PredictionError: the file cannot be read to its end, or a line is not JSON.
    """
    number = 0
    try:
        with _open(path) as handle:
            for number, line in enumerate(handle, start=1):
                if line.strip():
                    yield number, json.loads(line)
    except (OSError, EOFError, zlib.error) as error:
        after = f"{path}, after line {number},"
        raise PredictionError(f"{after} cannot be read: {error}") from error
    except (ValueError, RecursionError) as error:
        raise PredictionError(f"{path}, line {number}, is not JSON: {error}") from error
