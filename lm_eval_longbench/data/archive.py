"""Read members of a zip archive line by line, without ever extracting a file."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from lm_eval_longbench.errors import DataError


def find_member(archive: Path, names: Sequence[str]) -> str | None:
    """Return the first of `names` that the archive has; names in it are only compared, never used.

    Raises:
        DataError: the file is not a zip archive.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            members = set(opened.namelist())
    except (zipfile.BadZipFile, OSError) as error:
        raise DataError(f"{archive} cannot be read as a zip archive: {error}") from error
    return next((name for name in names if name in members), None)


def member_lines(archive: Path, member: str) -> Iterator[bytes]:
    """Yield the lines of one member, decompressed as they are read; only "\\n" ends a line.

    Raises:
        DataError: the member is damaged, encrypted or packed in a way Python does not know.
    """
    try:
        with zipfile.ZipFile(archive) as opened, opened.open(member) as handle:
            yield from handle
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError) as error:
        raise DataError(f"{archive}, member {member}, is damaged: {error}") from error
    except RuntimeError as error:  # encrypted, or a compression that Python does not know
        raise DataError(f"{archive}, member {member}, cannot be unpacked: {error}") from error


def file_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file; only "\\n" ends a line.

    Raises:
        DataError: the file cannot be read.
    """
    try:
        with path.open("rb") as handle:
            yield from handle
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error}") from error
