"""Read files that may be compressed with gzip, whatever their name says."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from lm_eval_longbench.errors import PredictionError

_MAGIC = b"\x1f\x8b"
# Bytes read at once.
BLOCK = 1 << 19
# zlib's code for a gzip header and trailer.
_GZIP = 31


class Damaged(Exception):
    """A compressed file that breaks off or is corrupt; says how, once its sound part is read."""


def _member(decoder: Any, block: bytes) -> Iterator[bytes]:
    """Yield the text of one block of a member's data, a piece at a time."""
    piece = b"more"
    # A full piece means that the decoder may hold back more, even without further data.
    while not decoder.eof and (block or len(piece) == BLOCK):
        piece = decoder.decompress(block, BLOCK)
        yield piece
        block = decoder.unconsumed_tail


def _inflated(handle: BinaryIO) -> Iterator[bytes]:
    """Yield the text of a gzip file, which may have several members; Damaged where it ends."""
    decoder, begun = zlib.decompressobj(_GZIP), True
    try:
        while block := handle.read(BLOCK):
            while block:
                if decoder.eof:
                    # Some tools pad what follows the last member with zeros.
                    block = block.lstrip(b"\0")
                    decoder, begun = zlib.decompressobj(_GZIP), bool(block)
                yield from _member(decoder, block)
                block = decoder.unused_data
    except zlib.error as error:
        raise Damaged(f"its gzip data is damaged ({error}); what follows is lost") from error
    if begun and not decoder.eof:
        raise Damaged("it ends in the middle of its gzip data; what followed is lost")


def _plain(handle: BinaryIO) -> Iterator[bytes]:
    while block := handle.read(BLOCK):
        yield block


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        with path.open("rb") as handle:
            yield handle
    except OSError as error:
        raise PredictionError(f"{path} cannot be read: {error}") from error


def is_packed(path: Path) -> bool:
    """Return whether a file begins like gzip data; PredictionError if it cannot be read."""
    with _opened(path) as handle:
        return handle.read(len(_MAGIC)) == _MAGIC


def raw_blocks(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file as they are; PredictionError if it cannot be read."""
    with _opened(path) as handle:
        yield from _plain(handle)


def blocks(path: Path) -> Iterator[bytes]:
    """Yield the text of a file, decompressed if it begins like gzip data.

    Raises:
        Damaged: the compressed data breaks off or is corrupt.
        PredictionError: the file cannot be read.
    """
    packed = is_packed(path)
    with _opened(path) as handle:
        yield from _inflated(handle) if packed else _plain(handle)
