"""Convert a benchmark's JSON array once, in one pass, into the Arrow files of one folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tqdm import tqdm

from lm_eval_longbench.data.array_benchmark import ArrayBenchmark
from lm_eval_longbench.data.arrow import ArrowFiles, CachedFolder, cache_folder
from lm_eval_longbench.data.checked_rows import checked_rows
from lm_eval_longbench.data.counts import add_row, differences, listed, no_counts, total
from lm_eval_longbench.data.hashing import sha256_of
from lm_eval_longbench.data.json_array import array_items
from lm_eval_longbench.errors import DataError
from lm_eval_longbench.terminal import escaped_line

COUNTS_FILE = "counts.json"


def converted(
    benchmark: ArrayBenchmark, sha256: str, source: Callable[[], Path], official: bool
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

    return CachedFolder(cache_folder(benchmark.name, sha256), sha256, fill)


def _convert(benchmark: ArrayBenchmark, file: Path, folder: Path, official: bool) -> None:
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
    with bar, ArrowFiles(folder, benchmark.features) as files:
        items = array_items(file, bar.update)
        for row in checked_rows(items, str(file), benchmark.fields, benchmark.problem_of):
            files.write(benchmark.arrow_file(row), row)
            add_row(counts, row)
    found = differences(counts, benchmark.counts) if official else []
    if found:
        raise DataError(f"{file} is not the official set: {listed(found)}. Nothing was kept.")
    if total(counts) == 0:
        raise DataError(f"{file} holds no questions: its JSON array is empty.")
    (folder / COUNTS_FILE).write_text(json.dumps(counts, indent=1), encoding="utf-8")
