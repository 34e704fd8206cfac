"""Read members of a zip archive line by line, without ever extracting a file."""

from __future__ import annotations

import contextlib
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from lm_eval_longbench.errors import DataError
from lm_eval_longbench.input_files import (
    BLOCK,
    Unreadable,
    blocks,
    lines,
    open_input,
    reading,
    size_text,
    within_ratio,
)

# Bytes of an archive's list of its members, which is read whole: some ten thousands of them.
LONGEST_LIST = 4 << 20


class _Handle:
    """A file as zipfile sees it, without the reads that fill the memory."""

    def __init__(self, handle: BinaryIO) -> None:
        self._handle = handle

    def read(self, size: int = -1) -> bytes:
        most = LONGEST_LIST + 1
        data = self._handle.read(most if size < 0 else min(size, most))
        if len(data) == most:  # of all that zipfile reads at once only the list can be that long
            longest = size_text(LONGEST_LIST)
            raise zipfile.BadZipFile(f"its list of members is longer than {longest}")
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._handle, name)


@contextlib.contextmanager
def _opened(archive: Path) -> Iterator[zipfile.ZipFile]:
    with open_input(archive) as handle, zipfile.ZipFile(_Handle(handle)) as opened:  # type: ignore[arg-type]
        yield opened


def find_member(archive: Path, names: Sequence[str]) -> str | None:
    """Return the first of `names` that the archive has; names in it are only compared, never used.

    Raises:
        DataError: the file is not a zip archive.
    """
    try:
        with _opened(archive) as opened:
            members = set(opened.namelist())
    except (zipfile.BadZipFile, OSError) as error:
        raise DataError(f"{archive} cannot be read as a zip archive: {error}") from error
    return next((name for name in names if name in members), None)


def member_lines(archive: Path, member: str) -> Iterator[bytes]:
    """Yield the lines of one member, unpacked as they are read; only "\\n" ends a line.

    Raises:
        DataError: the member is damaged, encrypted or packed in a way Python does not know, it
            unpacks to far too much, or a line is too long.
    """

    def pieces() -> Iterator[bytes]:
        with _opened(archive) as opened, opened.open(member) as handle:
            # An archive may say that a member is larger than the whole of it.
            packed = min(opened.getinfo(member).compress_size, archive.stat().st_size)
            yield from within_ratio(iter(lambda: handle.read(BLOCK), b""), packed)

    try:
        yield from lines(pieces())
    except Unreadable as error:
        raise DataError(f"{archive}, member {member}, cannot be read: {error}") from error
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError) as error:
        raise DataError(f"{archive}, member {member}, is damaged: {error}") from error
    except RuntimeError as error:  # encrypted, or a compression that Python does not know
        raise DataError(f"{archive}, member {member}, cannot be unpacked: {error}") from error


def file_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file; only "\\n" ends a line.

    Raises:
        DataError: the file cannot be read, or a line is too long.
    """
    with reading(path, DataError):
        yield from lines(blocks(path))
