"""Load a LongBench v1 or LongBench-E dataset: pinned, from a local copy, or the sample."""

from __future__ import annotations

import logging
import os.path
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lm_eval_longbench.catalog import SPLITS, Split
from lm_eval_longbench.data import hub
from lm_eval_longbench.data.archive import file_lines, find_member, member_lines
from lm_eval_longbench.data.arrow import V1_FEATURES, cached
from lm_eval_longbench.data.documents import SAMPLE, Documents
from lm_eval_longbench.data.hashing import sha256_of
from lm_eval_longbench.data.rows import parse_rows
from lm_eval_longbench.data.sources import LONGBENCH_V1
from lm_eval_longbench.errors import DataError
from lm_eval_longbench.once import first_time, warn_once

logger = logging.getLogger(__name__)

_SAMPLE_FOLDER = Path(__file__).parent / "sample" / "longbench_v1"
_CACHE = "longbench_v1"
Rows = Callable[[], Iterator[dict[str, Any]]]


def load(split: Split, data_dir: str | None = None) -> Documents:
    """Return the documents of one dataset.

    Args:
        split: which dataset of which benchmark.
        data_dir: None: the pinned official archive; "sample": the embedded sample; else a folder
            with `<dataset>.jsonl` files, a folder with `data.zip`, or an archive.

    Raises:
        DataError: the data is not there, damaged, or (pinned) not what is pinned.
    """
    if data_dir is None:
        return _load_pinned(split)
    if data_dir == SAMPLE:
        file = _SAMPLE_FOLDER / f"{split.file_stem}.jsonl"
        return _from_file(split, file, SAMPLE)
    return _load_local(split, Path(os.path.expanduser(data_dir)))


def _load_pinned(split: Split) -> Documents:
    return _pinned(split, lambda: _member_rows(split, hub.fetch(LONGBENCH_V1)))


def _pinned(split: Split, rows: Rows) -> Documents:
    """Wrap rows of the pinned archive: its counts are part of what is pinned."""

    def counted() -> Iterator[dict[str, Any]]:
        number = 0
        for row in rows():
            number += 1
            yield row
        if number != split.rows:
            raise DataError(
                f"{LONGBENCH_V1.label}, {split.file_stem}: {number} rows instead of the official "
                f"{split.rows}. The data is not the official set."
            )

    sha256 = LONGBENCH_V1.sha256
    stored = cached(_CACHE, sha256, split.file_stem, V1_FEATURES, counted)
    return Documents.of_stored(stored, LONGBENCH_V1.label, sha256, official=True)


def _local(split: Split, kind: str, source: Path, digest: str, rows: Rows) -> Documents:
    """Wrap rows of a file or an archive of the user's, or of the sample."""

    def some() -> Iterator[dict[str, Any]]:
        number = 0
        for row in rows():
            number += 1
            yield row
        if number == 0:
            raise DataError(f"{source} holds no documents.")
        # Read after it was hashed: the label must not lie.
        if sha256_of(source) != digest:
            raise DataError(f"{source} was changed while it was read. Run again.")

    stored = cached(_CACHE, digest, split.file_stem, V1_FEATURES, some)
    return Documents.of_stored(stored, f"{kind}-{digest[:12]}", digest, official=False)


def _load_local(split: Split, place: Path) -> Documents:
    if place.is_dir() and (place / LONGBENCH_V1.file).is_file():
        place = place / LONGBENCH_V1.file
    if place.is_file():
        return _from_archive(split, place)
    if not place.is_dir():
        raise DataError(f"data_dir {str(place)!r} does not exist. {hub.THREE_WAYS}")
    file = _file_in(place, split)
    if file is None:
        raise DataError(
            f"data_dir {str(place)!r} has no {split.file_stem}.jsonl, neither directly nor under "
            f"data/. {hub.THREE_WAYS}"
        )
    _warn_about_folder(place)
    return _from_file(split, file, "local")


def _file_in(folder: Path, split: Split) -> Path | None:
    name = f"{split.file_stem}.jsonl"
    return next((path for path in (folder / name, folder / "data" / name) if path.is_file()), None)


def _from_file(split: Split, file: Path, kind: str) -> Documents:
    def rows() -> Iterator[dict[str, Any]]:
        return parse_rows(file_lines(file), file.name)

    return _local(split, kind, file, sha256_of(file), rows)


def _from_archive(split: Split, archive: Path) -> Documents:
    digest = sha256_of(archive)

    def rows() -> Iterator[dict[str, Any]]:
        return _member_rows(split, archive)

    if digest == LONGBENCH_V1.sha256:
        return _pinned(split, rows)
    warn_once(
        logger,
        f"data_dir {archive}",
        f"data_dir {archive} is not the pinned official archive: sha256 {digest} instead of "
        f"{LONGBENCH_V1.sha256}. Results are marked 'data: local-{digest[:12]}'.",
    )
    return _local(split, "local", archive, digest, rows)


def _member_rows(split: Split, archive: Path) -> Iterator[dict[str, Any]]:
    name = f"{split.file_stem}.jsonl"
    member = find_member(archive, (f"data/{name}", name))
    if member is None:
        raise DataError(f"{archive} has no member data/{name}. {hub.THREE_WAYS}")
    return parse_rows(member_lines(archive, member), f"{archive.name}, member {member}")


def _warn_about_folder(folder: Path) -> None:
    """Say once what tells this folder from the official set."""
    if not first_time(f"data_dir {folder}"):
        return
    counts = []
    for split in SPLITS:
        file = _file_in(folder, split)
        if file is not None:
            rows = sum(1 for line in file_lines(file) if line.strip())
            if rows != split.rows:
                counts.append(f"{split.file_stem} has {rows} rows instead of {split.rows}")
    differences = "; ".join(counts) if counts else "all row counts are the official ones"
    logger.warning(
        f"data_dir {folder} is a folder of files, which cannot be checked against the hash of the "
        f"pinned archive; {differences}. Results are marked 'data: local-<hash of the file>'.",
    )
