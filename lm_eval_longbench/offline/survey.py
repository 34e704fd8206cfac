"""What must be known of a file before it is scored."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.input_files import (
    Chunk,
    Damaged,
    blocks,
    chunks,
    decoded,
    is_packed,
    raw_blocks,
    reading,
)

# Lines that are looked at to find out what a file is.
_LOOKED_AT = 20


@dataclass(frozen=True, slots=True)
class Survey:
    """A file's identity.

    Attributes:
        sha256: of the file as it is.
        text_sha256: of its text: equal for a file and its compressed copy.
        size: of its text in bytes.
    """

    sha256: str
    text_sha256: str
    size: int


def _hashed(pieces: Iterator[bytes]) -> tuple[str, int]:
    """Return the sha256 and the length of pieces, as far as they are sound."""
    digest, size = hashlib.sha256(), 0
    # What is lost to damage is said when the lines are read.
    with contextlib.suppress(Damaged):
        for piece in pieces:
            digest.update(piece)
            size += len(piece)
    return digest.hexdigest(), size


def survey(path: Path) -> Survey:
    """Read a file and return its identity.

    Raises:
        PredictionError: it cannot be read.
    """
    with reading(path, PredictionError):
        raw, size = _hashed(raw_blocks(path))
        if not is_packed(path):
            return Survey(raw, raw, size)
        text, size = _hashed(blocks(path))
        return Survey(raw, text, size)


def chunks_of(path: Path, size: int | None = None) -> Iterator[Chunk]:
    """Yield the lines of a file in order, about `size` bytes at once (half a megabyte).

    Raises:
        PredictionError: the file cannot be read.
    """
    with reading(path, PredictionError):
        yield from chunks(blocks(path), size)


def first_rows(path: Path) -> Iterator[Any]:
    """Yield what the first lines decode to, without those that are blank or not JSON.

    Raises:
        PredictionError: the file cannot be read.
    """
    looked = 0
    for chunk in chunks_of(path, size=1):
        for _, _, line in chunk.lines():
            with contextlib.suppress(ValueError, RecursionError):
                yield decoded(line)
            looked += 1
            if looked == _LOOKED_AT:
                return


def count_rows(path: Path) -> int:
    """Return the number of lines that are not blank.

    Raises:
        PredictionError: the file cannot be read.
    """
    return sum(1 for chunk in chunks_of(path) for _ in chunk.lines())
