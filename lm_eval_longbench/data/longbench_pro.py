"""Load a secondary task of LongBench Pro: pinned, from a local copy, or the sample."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path

import datasets
import pyarrow

from lm_eval_longbench.catalog_pro import SecondaryTask
from lm_eval_longbench.data import hub
from lm_eval_longbench.data.convert_pro import COUNTS_FILE, converted
from lm_eval_longbench.data.counts_pro import Counts, differences
from lm_eval_longbench.data.documents import SAMPLE, Documents
from lm_eval_longbench.data.hashing import sha256_of
from lm_eval_longbench.data.sources import LONGBENCH_PRO
from lm_eval_longbench.errors import DataError
from lm_eval_longbench.once import first_time

logger = logging.getLogger(__name__)

_SAMPLE_FILE = Path(__file__).parent / "sample" / "longbench_pro" / LONGBENCH_PRO.file
# Differing counts that the warning about local data names.
_SHOWN = 8


def load(task: SecondaryTask, data_dir: str | None = None) -> Documents:
    """Return the questions of one secondary task, in the order of the file.

    The first call for a file converts it for all tasks; later ones only map one task's rows.

    Args:
        task: the secondary task.
        data_dir: None: the pinned official file; "sample": the embedded sample; else a folder with
            `longbench_pro.json`, or such a file.

    Raises:
        DataError: the data is not there, damaged, has no rows of the task, or (pinned) is not what
            is pinned.
    """
    if data_dir is None:
        return _pinned(task, lambda: hub.fetch(LONGBENCH_PRO))
    file = _SAMPLE_FILE if data_dir == SAMPLE else _local_file(Path(data_dir).expanduser())
    digest = _hash(file)
    if digest == LONGBENCH_PRO.sha256:
        return _pinned(task, lambda: file)
    folder = converted(digest, lambda: file, official=False)
    if data_dir == SAMPLE:
        kind = SAMPLE
    else:
        kind = "local"
        _warn_about(file, digest, folder)
    if _counts(folder)["secondary_task"][task.name] == 0:
        raise DataError(f"{file} holds no questions of {task.name!r}.")
    return Documents(_open(folder, task), f"{kind}-{digest[:12]}", digest, official=False)


def _pinned(task: SecondaryTask, source: Callable[[], Path]) -> Documents:
    """Open rows of the pinned file, which is hashed only when it is converted."""
    folder = converted(LONGBENCH_PRO.sha256, source, official=True)
    return Documents(_open(folder, task), LONGBENCH_PRO.label, LONGBENCH_PRO.sha256, official=True)


def _local_file(place: Path) -> Path:
    if not place.exists():
        raise DataError(f"data_dir {str(place)!r} does not exist. {hub.THREE_WAYS}")
    if not place.is_dir():
        return place
    file = place / LONGBENCH_PRO.file
    if not file.is_file():
        raise DataError(f"data_dir {str(place)!r} has no {LONGBENCH_PRO.file}. {hub.THREE_WAYS}")
    return file


def _hash(file: Path) -> str:
    try:
        return sha256_of(file)
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error}") from error


def _counts(folder: Path) -> Counts:
    try:
        return json.loads((folder / COUNTS_FILE).read_bytes())
    except (OSError, ValueError) as error:
        raise _damaged(folder, error) from error


def _open(folder: Path, task: SecondaryTask) -> datasets.Dataset:
    try:
        return datasets.Dataset.from_file(str(folder / f"{task.code}.arrow"))
    except (OSError, pyarrow.ArrowException) as error:
        raise _damaged(folder, error) from error


def _damaged(folder: Path, error: Exception) -> DataError:
    return DataError(
        f"The converted data in {folder} is damaged: {error}. Remove this folder and run again."
    )


def _warn_about(file: Path, digest: str, folder: Path) -> None:
    """Say once what tells this file from the official one."""
    if not first_time(f"data_dir {file}"):
        return
    found = differences(_counts(folder))
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    counts = "; ".join(found[:_SHOWN]) + more if found else "all counts are the official ones"
    logger.warning(
        f"data_dir {file} is not the pinned official file: sha256 {digest} instead of "
        f"{LONGBENCH_PRO.sha256}; {counts}. Results are marked 'data: local-{digest[:12]}'."
    )
