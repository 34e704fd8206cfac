"""Open a dataset that is a JSON Lines file, alone or in an archive: pinned, local, the sample."""

from __future__ import annotations

import contextlib
import logging
import os.path
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from lm_eval_longbench.data import hub
from lm_eval_longbench.data.arrow import cached
from lm_eval_longbench.data.documents import SAMPLE, Documents
from lm_eval_longbench.data.hashing import sha256_of
from lm_eval_longbench.data.rows import parsed_rows
from lm_eval_longbench.errors import DataError
from lm_eval_longbench.input_files import (
    BLOCK,
    Unreadable,
    blocks,
    lines,
    open_input,
    reading,
    size_text,
)
from lm_eval_longbench.once import first_time, warn_once

if TYPE_CHECKING:
    from lm_eval_longbench.benchmarks.base import Benchmark, Task


# ---------------------------------------------------------------------- members of an archive

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
        DataError: the member is damaged, encrypted or packed in a way Python does not know, or
            a line is too long.
    """

    def pieces() -> Iterator[bytes]:
        with _opened(archive) as opened, opened.open(member) as handle:
            yield from iter(lambda: handle.read(BLOCK), b"")

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


# ---------------------------------------------------------------------- the dataset

logger = logging.getLogger(__name__)

# Reads a file's rows.
_Reader = Callable[[Path], Iterator[dict[str, Any]]]


def load_lines(benchmark: Benchmark, task: Task, data_dir: str | None) -> Documents:
    """Return the documents of one dataset.

    Args:
        benchmark: whose data it is.
        task: whose `dataset` is the name of the file, without its ending.
        data_dir: None: the pinned official archive; "sample": the embedded sample; else a folder
            with `<dataset>.jsonl` files, a folder with the archive, or an archive.

    Raises:
        DataError: the data is not there, damaged, or (pinned) not what is pinned.
    """
    name, archive = f"{task.dataset}.jsonl", benchmark.source.file
    of_file = partial(_file_rows, benchmark)
    of_archive = partial(_member_rows, benchmark, name)
    if archive.endswith(".jsonl"):  # no archive
        of_archive = of_file
    if data_dir is None:
        return _documents(benchmark, task, None, of_archive)
    if data_dir == SAMPLE:
        return _documents(benchmark, task, benchmark.samples / name, of_file, SAMPLE)
    place = Path(os.path.expanduser(data_dir))
    if place.is_dir() and (place / archive).is_file():
        place = place / archive
    if place.is_file():
        digest, pinned = sha256_of(place), benchmark.source.sha256
        if pinned and digest != pinned:
            warn_once(
                logger,
                f"data_dir {place}",
                f"data_dir {place} is not the pinned official archive: sha256 {digest} instead of "
                f"{pinned}. Results are marked 'data: local-{digest[:12]}'.",
            )
        return _documents(benchmark, task, place, of_archive)
    if not place.is_dir():
        raise DataError(f"data_dir {str(place)!r} does not exist. {hub.THREE_WAYS}")
    file = _file_in(place, name)
    if file is None:
        raise DataError(
            f"data_dir {str(place)!r} has no {name}, neither directly nor under data/. "
            f"{hub.THREE_WAYS}"
        )
    if benchmark.source.sha256:
        _warn_about_folder(place, benchmark)
    return _documents(benchmark, task, file, of_file)


def _file_rows(benchmark: Benchmark, file: Path) -> Iterator[dict[str, Any]]:
    return parsed_rows(file_lines(file), file.name, benchmark)


def _member_rows(benchmark: Benchmark, name: str, archive: Path) -> Iterator[dict[str, Any]]:
    member = find_member(archive, (f"data/{name}", name))
    if member is None:
        raise DataError(f"{archive} has no member data/{name}. {hub.THREE_WAYS}")
    where = f"{archive.name}, member {member}"
    return parsed_rows(member_lines(archive, member), where, benchmark)


def _documents(
    benchmark: Benchmark, task: Task, file: Path | None, read: _Reader, kind: str = "local"
) -> Documents:
    """Return the documents of a file or an archive that `read` reads; None: the pinned archive."""
    pinned = benchmark.source
    digest = pinned.sha256 if file is None else sha256_of(file)
    official = digest == pinned.sha256
    label = pinned.label if official else f"{kind}-{digest[:12]}"

    def rows() -> Iterator[dict[str, Any]]:
        number, source = 0, hub.fetch(pinned) if file is None else file
        for row in read(source):
            number += 1
            yield row
        # The number of rows is part of what is pinned.
        if official and task.questions and number != task.questions:
            raise DataError(
                f"{pinned.label}, {task.dataset}: {number} rows instead of the official "
                f"{task.questions}. The data is not the official set."
            )
        if not number:
            raise DataError(f"{source} holds no documents.")
        # Read after it was hashed: the label must not lie.
        if not official and sha256_of(source) != digest:
            raise DataError(f"{source} was changed while it was read. Run again.")

    stored = cached(benchmark, digest, task.dataset, rows)
    return Documents.of_stored(stored, label, digest, official=official)


def _file_in(folder: Path, name: str) -> Path | None:
    return next((path for path in (folder / name, folder / "data" / name) if path.is_file()), None)


def _warn_about_folder(folder: Path, benchmark: Benchmark) -> None:
    """Say once what tells this folder from the official set."""
    from lm_eval_longbench.benchmarks.registry import families

    if not first_time(f"data_dir {folder}"):
        return
    counts = []
    for one in families()[benchmark.prepared_as]:
        for task in one.tasks.values():
            file = _file_in(folder, f"{task.dataset}.jsonl")
            if file is not None:
                rows = sum(1 for line in file_lines(file) if line.strip())
                if rows != task.questions:
                    counts.append(f"{task.dataset} has {rows} rows instead of {task.questions}")
    differences = "; ".join(counts) if counts else "all row counts are the official ones"
    logger.warning(
        f"data_dir {folder} is a folder of files, which cannot be checked against the hash of the "
        f"pinned archive; {differences}. Results are marked 'data: local-<hash of the file>'.",
    )
