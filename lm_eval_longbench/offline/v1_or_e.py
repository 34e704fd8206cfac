"""Tell LongBench v1 prediction files from LongBench-E ones: their rows look alike."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lm_eval_longbench.catalog import E_SPLITS, V1_SPLITS, E
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.offline.survey import count_rows

_V1, _E = "longbench_v1", "longbench_v1_e"
# Folders in which the official scripts put their predictions.
_FOLDERS = {"pred": _V1, "pred_e": _E}
_ROWS = {
    table: {split.info.name: split.rows for split in splits}
    for table, splits in ((_V1, V1_SPLITS), (_E, E_SPLITS))
}


def table_of_folder(folder: Path, files: Mapping[str, Path]) -> str:
    """Return the table that a folder's prediction files belong to.

    A folder `pred_e` or `pred` on the way to them decides, the nearest one; then a dataset that
    LongBench-E does not have; then the numbers of rows, if all are the official ones of one table.

    Args:
        folder: where the files are.
        files: by dataset.

    Raises:
        PredictionError: nothing tells.
    """
    for part in reversed(folder.parts):
        if part in _FOLDERS:
            return _FOLDERS[part]
    if not files.keys() <= E.keys():
        return _V1
    found = {dataset: count_rows(path) for dataset, path in files.items()}
    fitting = [
        table
        for table, rows in _ROWS.items()
        if all(rows[dataset] == number for dataset, number in found.items())
    ]
    if len(fitting) == 1:
        return fitting[0]
    counts = ", ".join(f"{dataset} {number}" for dataset, number in sorted(found.items()))
    raise PredictionError(
        f"{folder} may hold predictions of LongBench v1 or of LongBench-E: both have these "
        f"datasets, and the numbers of rows ({counts}) do not tell. Say which with --benchmark v1 "
        "or --benchmark v1_e."
    )
