"""Open a benchmark's JSON array: the pinned file, a local copy, or the sample."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lm_eval_longbench.data import hub
from lm_eval_longbench.data.array_benchmark import ArrayBenchmark
from lm_eval_longbench.data.arrow import CachedFolder
from lm_eval_longbench.data.convert_array import COUNTS_FILE, converted
from lm_eval_longbench.data.counts import Counts, differences, listed
from lm_eval_longbench.data.documents import SAMPLE, Documents
from lm_eval_longbench.data.hashing import sha256_of
from lm_eval_longbench.errors import DataError
from lm_eval_longbench.once import first_time

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Converted:
    """A benchmark's file after its conversion, which the first look into it starts.

    Attributes:
        folder: its Arrow files and counts.json.
        file: where it was read from; None: the pinned file, whose counts were checked.
        label: names the data in results.
        sha256: of the file.
    """

    folder: CachedFolder
    file: Path | None
    label: str
    sha256: str

    def counts(self) -> Counts:
        """Return the number of questions by dimension and value; DataError as `documents`."""
        return self.folder.open(COUNTS_FILE, lambda path: json.loads(path.read_bytes()))

    def require(self, dimension: str, value: str) -> None:
        """Make sure that there are questions with a value of a dimension.

        Raises:
            DataError: there are none.
        """
        if self.file is not None and self.counts()[dimension][value] == 0:
            raise DataError(f"{self.file} holds no questions of {value!r}.")

    def documents(self, name: str) -> Documents:
        """Open the Arrow file of this name, which must have rows; see `require`.

        Raises:
            DataError: the file cannot be converted; see `convert_array.converted`.
        """
        rows = self.folder.rows(name)
        return Documents.of_stored(rows, self.label, self.sha256, official=self.file is None)


def open_array(benchmark: ArrayBenchmark, data_dir: str | None) -> Converted:
    """Return a benchmark's file, converted on its first use.

    Args:
        benchmark: whose file.
        data_dir: None: the pinned official file; "sample": the embedded sample; else a folder with
            a file of the official name, or such a file by any name.

    Raises:
        DataError: the data is not there, damaged, or (pinned) is not what is pinned.
    """
    pinned = benchmark.source
    if data_dir is None:
        return _pinned(benchmark, lambda: hub.fetch(pinned))
    file = (
        benchmark.sample
        if data_dir == SAMPLE
        else _local_file(Path(data_dir).expanduser(), pinned.file)
    )
    digest = _hash(file)
    if digest == pinned.sha256:
        return _pinned(benchmark, lambda: file)
    folder = converted(benchmark, digest, lambda: file, official=False)
    kind = SAMPLE if data_dir == SAMPLE else "local"
    found = Converted(folder, file, f"{kind}-{digest[:12]}", digest)
    if kind != SAMPLE:
        _warn_about(found, benchmark)
    return found


def _pinned(benchmark: ArrayBenchmark, source: Callable[[], Path]) -> Converted:
    """Open the pinned file, which is hashed only when it is converted."""
    pinned = benchmark.source
    folder = converted(benchmark, pinned.sha256, source, official=True)
    return Converted(folder, None, pinned.label, pinned.sha256)


def _local_file(place: Path, name: str) -> Path:
    if not place.exists():
        raise DataError(f"data_dir {str(place)!r} does not exist. {hub.THREE_WAYS}")
    if not place.is_dir():
        return place
    file = place / name
    if not file.is_file():
        raise DataError(f"data_dir {str(place)!r} has no {name}. {hub.THREE_WAYS}")
    return file


def _hash(file: Path) -> str:
    try:
        return sha256_of(file)
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error}") from error


def _warn_about(data: Converted, benchmark: ArrayBenchmark) -> None:
    """Say once what tells a local file from the official one."""
    if not first_time(f"data_dir {data.file}"):
        return
    found = differences(data.counts(), benchmark.counts)
    logger.warning(
        f"data_dir {data.file} is not the pinned official file: sha256 {data.sha256} instead of "
        f"{benchmark.source.sha256}; {listed(found) or 'all counts are the official ones'}. "
        f"Results are marked 'data: {data.label}'."
    )
