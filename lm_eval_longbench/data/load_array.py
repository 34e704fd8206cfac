"""Open a dataset that is one JSON array in one file: pinned, a local copy, or the sample.

The file is converted once, in one pass, into the Arrow files of one folder.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from lm_eval_longbench.data import hub
from lm_eval_longbench.data.arrow import ArrowFiles, CachedFolder, cache_folder, features_of
from lm_eval_longbench.data.documents import SAMPLE, Documents
from lm_eval_longbench.data.hashing import sha256_of
from lm_eval_longbench.data.json_array import array_items
from lm_eval_longbench.data.rows import checked_rows
from lm_eval_longbench.errors import DataError
from lm_eval_longbench.once import first_time
from lm_eval_longbench.terminal import escaped_line

if TYPE_CHECKING:
    from lm_eval_longbench.benchmarks.base import Benchmark

logger = logging.getLogger(__name__)

COUNTS_FILE = "counts.json"
# Questions that have each value, by dimension. Every question has one value of each dimension.
Counts = Mapping[str, Mapping[str, int]]
# Differing counts that a message names.
SHOWN = 8


def no_counts(official: Counts) -> dict[str, dict[str, int]]:
    """Return counts of nothing: 0 for every value of every dimension of the official counts."""
    return {dimension: dict.fromkeys(values, 0) for dimension, values in official.items()}


def add_row(counts: dict[str, dict[str, int]], row: Mapping[str, str]) -> None:
    """Count one checked row."""
    for dimension, values in counts.items():
        values[row[dimension]] += 1


def total(counts: Counts) -> int:
    """Return the number of questions counted, which is the sum over any dimension."""
    return sum(next(iter(counts.values())).values())


def differences(counts: Counts, official: Counts) -> list[str]:
    """Return one phrase for each count that is not the official one; empty if all are."""
    found = []
    if total(counts) != total(official):
        found.append(f"{total(counts)} questions instead of {total(official)}")
    for dimension, values in official.items():
        for value, expected in values.items():
            number = counts[dimension][value]
            if number != expected:
                found.append(f"{dimension} {value!r} {number} instead of {expected}")
    return found


def listed(found: Sequence[str]) -> str:
    """Return phrases as one, the first `SHOWN` of them and the number of the others."""
    more = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return "; ".join(found[:SHOWN]) + more


def _converted(
    benchmark: Benchmark, sha256: str, source: Callable[[], Path], official: bool
) -> CachedFolder:
    """Return the folder with counts.json and each Arrow file of the benchmark that has rows.

    Nothing is read before a file of the folder is opened; only then is it converted if need be.

    Args:
        benchmark: whose file it is.
        sha256: of the file, as hexadecimal digits; names the folder.
        source: called for the file's path if there is no sound folder.
        official: whether the counts must be the official ones.

    Opening a file raises DataError if the source is damaged, holds wrong rows or none, changes
    while it is read or (official) has other counts; or if the cache cannot be written. Nothing is
    left of a new folder then.
    """

    def fill(folder: Path) -> None:
        file = source()
        _convert(benchmark, file, folder, official)
        # Read after it was hashed: the name of the folder must not lie.
        if sha256_of(file) != sha256:
            raise DataError(f"{file} was changed while it was read. Run again.")

    return CachedFolder(cache_folder(benchmark.family, sha256), sha256, fill)


def _convert(benchmark: Benchmark, file: Path, folder: Path, official: bool) -> None:
    counts = no_counts(benchmark.counts)
    # On a terminal only, and only if it takes longer than a second.
    bar = tqdm(
        total=file.stat().st_size,
        desc=escaped_line(f"converting {file.name}"),
        unit="B",
        unit_scale=True,
        disable=None,
        delay=1,
    )
    with bar, ArrowFiles(folder, features_of(benchmark)) as files:
        items = array_items(file, bar.update)
        for row in checked_rows(items, str(file), benchmark):
            files.write(benchmark.arrow_file(row), row)
            add_row(counts, row)
    found = differences(counts, benchmark.counts) if official else []
    if found:
        raise DataError(f"{file} is not the official set: {listed(found)}. Nothing was kept.")
    if total(counts) == 0:
        raise DataError(f"{file} holds no questions: its JSON array is empty.")
    (folder / COUNTS_FILE).write_text(json.dumps(counts, indent=1), encoding="utf-8")


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
            DataError: the file cannot be converted; see `_converted`.
        """
        rows = self.folder.rows(name)
        return Documents.of_stored(rows, self.label, self.sha256, official=self.file is None)


def load_array(
    benchmark: Benchmark, data_dir: str | None, name: str, only: Mapping[str, str]
) -> Documents:
    """Return the documents of one Arrow file, all or some, in the order of the array.

    The first call for a file converts it for all tasks; later ones only map its rows. A choice of
    the pinned file's questions is official, as the whole is.

    Args:
        benchmark: whose data it is.
        data_dir: see `open_array`.
        name: of the Arrow file; see `Benchmark.arrow_file`.
        only: the value of a dimension that the questions must have; empty: all.

    Raises:
        DataError: as `open_array`, or there are no such questions.
    """
    data = open_array(benchmark, data_dir)
    for dimension, value in only.items():
        data.require(dimension, value)
    documents = data.documents(name)
    for dimension, value in only.items():
        own = documents.rows[dimension]  # this reads the one column, not the texts
        kept = [index for index, found in enumerate(own) if found == value]
        if len(kept) < len(own):
            documents = documents.select(kept)
    return documents


def open_array(benchmark: Benchmark, data_dir: str | None) -> Converted:
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
        benchmark.samples / pinned.file
        if data_dir == SAMPLE
        else _local_file(Path(data_dir).expanduser(), pinned.file)
    )
    digest = _hash(file)
    if digest == pinned.sha256:
        return _pinned(benchmark, lambda: file)
    folder = _converted(benchmark, digest, lambda: file, official=False)
    kind = SAMPLE if data_dir == SAMPLE else "local"
    found = Converted(folder, file, f"{kind}-{digest[:12]}", digest)
    if kind != SAMPLE:
        _warn_about(found, benchmark)
    return found


def _pinned(benchmark: Benchmark, source: Callable[[], Path]) -> Converted:
    """Open the pinned file, which is hashed only when it is converted."""
    pinned = benchmark.source
    folder = _converted(benchmark, pinned.sha256, source, official=True)
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


def _warn_about(data: Converted, benchmark: Benchmark) -> None:
    """Say once what tells a local file from the official one."""
    if not first_time(f"data_dir {data.file}"):
        return
    found = differences(data.counts(), benchmark.counts)
    logger.warning(
        f"data_dir {data.file} is not the pinned official file: sha256 {data.sha256} instead of "
        f"{benchmark.source.sha256}; {listed(found) or 'all counts are the official ones'}. "
        f"Results are marked 'data: {data.label}'."
    )
