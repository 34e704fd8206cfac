"""Convert the LongBench Pro file once, in one pass, into one Arrow file a secondary task."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import datasets
from tqdm import tqdm

from lm_eval_longbench.catalog_pro import SECONDARY_TASKS
from lm_eval_longbench.data.arrow_files import ArrowFiles
from lm_eval_longbench.data.cached_folder import cached_folder
from lm_eval_longbench.data.counts_pro import add_row, differences, no_counts
from lm_eval_longbench.data.hashing import sha256_of
from lm_eval_longbench.data.json_array import array_items
from lm_eval_longbench.data.rows_pro import FIELDS, checked_rows
from lm_eval_longbench.errors import DataError

COUNTS_FILE = "counts.json"
PRO_FEATURES = datasets.Features(
    {
        name: datasets.Sequence(datasets.Value("string"))
        if name == "answer"
        else datasets.Value("string")
        for name in FIELDS
    }
)
_CACHE = "longbench_pro"
# Differing counts that an error names.
_SHOWN = 8


def converted(sha256: str, source: Callable[[], Path], official: bool) -> Path:
    """Return the folder with `<task code>.arrow` for each task that has rows, and counts.json.

    Args:
        sha256: of the file, as hexadecimal digits; names the folder.
        source: called for the file's path if there is no finished folder yet.
        official: whether the counts must be the official ones.

    Raises:
        DataError: the file is damaged, holds wrong rows, changes while it is read or (official) has
            other counts; or the cache cannot be written. Nothing is left of the folder then.
    """

    def fill(folder: Path) -> None:
        file = source()
        _convert(file, folder, official)
        # Read after it was hashed: the name of the folder must not lie.
        if sha256_of(file) != sha256:
            raise DataError(f"{file} was changed while it was read. Run again.")

    return cached_folder(_CACHE, sha256, fill)


def _convert(file: Path, folder: Path, official: bool) -> None:
    counts = no_counts()
    # On a terminal only, and only if it takes longer than a second.
    bar = tqdm(
        total=file.stat().st_size,
        desc=f"converting {file.name}",
        unit="B",
        unit_scale=True,
        disable=None,
        delay=1,
    )
    with bar, ArrowFiles(folder, PRO_FEATURES) as files:
        for row in checked_rows(array_items(file, bar.update), str(file)):
            files.write(SECONDARY_TASKS[row["secondary_task"]].code, row)
            add_row(counts, row)
    found = differences(counts) if official else []
    if found:
        more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise DataError(
            f"{file} is not the official set: {'; '.join(found[:_SHOWN])}{more}. Nothing was kept."
        )
    (folder / COUNTS_FILE).write_text(json.dumps(counts, indent=1), encoding="utf-8")
