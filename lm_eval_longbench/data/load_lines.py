"""Open a dataset that is a JSON Lines file, alone or in an archive: pinned, local, the sample."""

from __future__ import annotations

import logging
import os.path
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.data import hub
from lm_eval_longbench.data.archive import file_lines, find_member, member_lines
from lm_eval_longbench.data.arrow import cached
from lm_eval_longbench.data.documents import SAMPLE, Documents
from lm_eval_longbench.data.hashing import sha256_of
from lm_eval_longbench.data.rows import parsed_rows
from lm_eval_longbench.errors import DataError
from lm_eval_longbench.once import first_time, warn_once

if TYPE_CHECKING:
    from lm_eval_longbench.benchmarks.base import Benchmark, Task

logger = logging.getLogger(__name__)

Rows = Callable[[], Iterator[dict[str, Any]]]


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
    own = _Dataset(benchmark, task)
    if data_dir is None:
        return own.pinned(lambda: own.member_rows(hub.fetch(benchmark.source)))
    if data_dir == SAMPLE:
        return own.from_file(benchmark.samples / own.file, SAMPLE)
    return own.from_place(Path(os.path.expanduser(data_dir)))


@dataclass(frozen=True)
class _Dataset:
    """One dataset of a benchmark."""

    benchmark: Benchmark
    task: Task

    @property
    def file(self) -> str:
        return f"{self.task.dataset}.jsonl"

    def pinned(self, rows: Rows) -> Documents:
        """Wrap rows of the pinned archive: its counts are part of what is pinned."""
        source, official = self.benchmark.source, self.task.questions

        def counted() -> Iterator[dict[str, Any]]:
            number = 0
            for row in rows():
                number += 1
                yield row
            if number != official:
                raise DataError(
                    f"{source.label}, {self.task.dataset}: {number} rows instead of the official "
                    f"{official}. The data is not the official set."
                )

        stored = cached(self.benchmark, source.sha256, self.task.dataset, counted)
        return Documents.of_stored(stored, source.label, source.sha256, official=True)

    def _local(self, kind: str, source: Path, digest: str, rows: Rows) -> Documents:
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

        stored = cached(self.benchmark, digest, self.task.dataset, some)
        return Documents.of_stored(stored, f"{kind}-{digest[:12]}", digest, official=False)

    def from_place(self, place: Path) -> Documents:
        archive = self.benchmark.source.file
        if place.is_dir() and (place / archive).is_file():
            place = place / archive
        if place.is_file():
            return self._from_archive(place)
        if not place.is_dir():
            raise DataError(f"data_dir {str(place)!r} does not exist. {hub.THREE_WAYS}")
        file = _file_in(place, self.file)
        if file is None:
            raise DataError(
                f"data_dir {str(place)!r} has no {self.file}, neither directly nor under data/. "
                f"{hub.THREE_WAYS}"
            )
        _warn_about_folder(place, self.benchmark)
        return self.from_file(file, "local")

    def from_file(self, file: Path, kind: str) -> Documents:
        def rows() -> Iterator[dict[str, Any]]:
            return parsed_rows(file_lines(file), file.name, self.benchmark)

        return self._local(kind, file, sha256_of(file), rows)

    def _from_archive(self, archive: Path) -> Documents:
        digest, pinned = sha256_of(archive), self.benchmark.source.sha256

        def rows() -> Iterator[dict[str, Any]]:
            return self.member_rows(archive)

        if digest == pinned:
            return self.pinned(rows)
        warn_once(
            logger,
            f"data_dir {archive}",
            f"data_dir {archive} is not the pinned official archive: sha256 {digest} instead of "
            f"{pinned}. Results are marked 'data: local-{digest[:12]}'.",
        )
        return self._local("local", archive, digest, rows)

    def member_rows(self, archive: Path) -> Iterator[dict[str, Any]]:
        member = find_member(archive, (f"data/{self.file}", self.file))
        if member is None:
            raise DataError(f"{archive} has no member data/{self.file}. {hub.THREE_WAYS}")
        lines = member_lines(archive, member)
        return parsed_rows(lines, f"{archive.name}, member {member}", self.benchmark)


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
