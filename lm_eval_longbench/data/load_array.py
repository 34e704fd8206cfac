"""Open a dataset that is one JSON array in one file: pinned, a local copy, or the sample.

The file is converted once, in one pass, into the Arrow files of one folder.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from lm_eval_longbench.data import hub
from lm_eval_longbench.data.arrow import ArrowFiles, CachedFolder, cache_folder, schema_of
from lm_eval_longbench.data.documents import SAMPLE, Documents
from lm_eval_longbench.data.hashing import sha256_of
from lm_eval_longbench.data.json_array import array_items
from lm_eval_longbench.data.rows import checked_rows
from lm_eval_longbench.errors import DataError, few
from lm_eval_longbench.input_files import reading
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


def differences(counts: Counts, official: Counts) -> list[str]:
    """Return one phrase for each count that is not the official one; empty if all are."""
    here, expected = (sum(next(iter(own.values())).values()) for own in (counts, official))
    found = [f"{here} questions instead of {expected}"] if here != expected else []
    return found + [
        f"{dimension} {value!r} {counts[dimension][value]} instead of {number}"
        for dimension, values in official.items()
        for value, number in values.items()
        if counts[dimension][value] != number
    ]


def convert(benchmark: Benchmark, file: Path, folder: Path, *, official: bool) -> None:
    """Write counts.json and each Arrow file of a benchmark that has rows into an empty folder.

    Raises:
        DataError: the file is damaged, holds wrong rows or none, or (official) has other counts
            than the official ones.
    """
    counts = {name: dict.fromkeys(values, 0) for name, values in benchmark.counts.items()}
    number = 0
    # On a terminal only, and only if it takes longer than a second.
    bar = tqdm(
        total=file.stat().st_size,
        desc=escaped_line(f"converting {file.name}"),
        unit="B",
        unit_scale=True,
        disable=None,
        delay=1,
    )
    with bar, ArrowFiles(folder, schema_of(benchmark)) as files:
        for row in checked_rows(array_items(file, bar.update), str(file), benchmark):
            files.write(benchmark.arrow_file(row), row)
            for dimension, values in counts.items():
                values[row[dimension]] += 1
            number += 1
    found = differences(counts, benchmark.counts) if official else []
    if found:
        raise DataError(
            f"{file} is not the official set: {few(found, SHOWN, '; ')}. Nothing was kept."
        )
    if not number:
        raise DataError(f"{file} holds no questions: its JSON array is empty.")
    (folder / COUNTS_FILE).write_text(json.dumps(counts, indent=1), encoding="utf-8")


def load_array(
    benchmark: Benchmark, data_dir: str | None, name: str, only: Mapping[str, str]
) -> Documents:
    """Return the documents of one Arrow file, all or some, in the order of the array.

    The first call for a file converts it for all tasks; later ones only map its rows. A choice of
    the pinned file's questions is official, as the whole is.

    Args:
        benchmark: whose data it is.
        data_dir: None: the pinned official file; "sample": the embedded sample; else a folder with
            a file of the official name, or such a file by any name.
        name: of the Arrow file; see `Benchmark.arrow_file`.
        only: the value of a dimension that the questions must have; empty: all.

    Raises:
        DataError: the data is not there, damaged, or (pinned) is not what is pinned, or there are
            no such questions.
    """
    pinned, file, digest = benchmark.source, None, benchmark.source.sha256
    if data_dir == SAMPLE:
        file = benchmark.samples / pinned.file
    elif data_dir is not None:
        file = _local_file(Path(data_dir).expanduser(), pinned.file)
    if file is not None:
        with reading(file, DataError):
            digest = sha256_of(file)
    official = digest == pinned.sha256
    kind = SAMPLE if data_dir == SAMPLE else "local"
    label = pinned.label if official else f"{kind}-{digest[:12]}"

    def fill(folder: Path) -> None:
        source = hub.fetch(pinned) if file is None else file
        convert(benchmark, source, folder, official=official)
        # Read after it was hashed: the name of the folder must not lie.
        if sha256_of(source) != digest:
            raise DataError(f"{source} was changed while it was read. Run again.")

    folder = CachedFolder(cache_folder(benchmark.family, digest), digest, fill)
    # The counts of the pinned file were checked when it was converted.
    if file is not None and not official:
        counts = folder.open(COUNTS_FILE, lambda path: json.loads(path.read_bytes()))
        if kind != SAMPLE and first_time(f"data_dir {file}"):
            other = few(differences(counts, benchmark.counts), SHOWN, "; ")
            logger.warning(
                f"data_dir {file} is not the pinned official file: sha256 {digest} instead of "
                f"{pinned.sha256}; {other or 'all counts are the official ones'}. "
                f"Results are marked 'data: {label}'."
            )
        for dimension, value in only.items():
            if counts[dimension][value] == 0:
                raise DataError(f"{file} holds no questions of {value!r}.")
    documents = Documents.of_stored(folder.rows(name), label, digest, official=official)
    for dimension, value in only.items():
        own = documents.rows[dimension]  # this reads the one column, not the texts
        kept = [index for index, found in enumerate(own) if found == value]
        if len(kept) < len(own):
            documents = documents.select(kept)
    return documents


def _local_file(place: Path, name: str) -> Path:
    if not place.exists():
        raise DataError(f"data_dir {str(place)!r} does not exist. {hub.THREE_WAYS}")
    if not place.is_dir():
        return place
    file = place / name
    if not file.is_file():
        raise DataError(f"data_dir {str(place)!r} has no {name}. {hub.THREE_WAYS}")
    return file
