"""Which data a run of our tasks reads: where it is from, and the hash of each file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.catalog import split_of_file
from lm_eval_longbench.catalog_pro import BY_CODE
from lm_eval_longbench.data.sources import LONGBENCH_PRO, LONGBENCH_V1, LONGBENCH_V2, Source
from lm_eval_longbench.options import Options
from lm_eval_longbench.provenance.lock_tasks import LockTask

if TYPE_CHECKING:
    from lm_eval_longbench.data.documents import Documents

_PINNED: dict[str, Source] = {
    "longbench_v1": LONGBENCH_V1,
    "longbench_v1_e": LONGBENCH_V1,
    "longbench_v2": LONGBENCH_V2,
    "longbench_pro": LONGBENCH_PRO,
}
# Benchmarks of which a folder holds one file a dataset.
_FILE_A_DATASET = ("longbench_v1", "longbench_v1_e")


def _load(task: LockTask, data_dir: str) -> Documents:
    """Open a task's documents as a run does; slow to import."""
    if task.benchmark == "longbench_v2":
        from lm_eval_longbench.data import longbench_v2

        return longbench_v2.load(None if task.dataset == "all" else task.dataset, data_dir)
    if task.benchmark == "longbench_pro":
        from lm_eval_longbench.data import longbench_pro

        return longbench_pro.load(BY_CODE[task.dataset], data_dir)
    from lm_eval_longbench.data import longbench_v1

    return longbench_v1.load(split_of_file(task.dataset), data_dir)


def _entry(task: LockTask, data_dir: str | None) -> dict[str, Any]:
    """Return a task's part of its benchmark's entry."""
    pinned = _PINNED[task.benchmark]
    if data_dir is not None:
        documents = _load(task, data_dir)
        if not documents.official:
            sha256 = documents.sha256
            return {
                "source": documents.label.removesuffix(f"-{sha256[:12]}"),
                "sha256": {task.dataset: sha256} if task.benchmark in _FILE_A_DATASET else sha256,
            }
    return {"source": f"{pinned.repo}@{pinned.revision}", "sha256": pinned.sha256}


def data_of(tasks: Iterable[LockTask], options: Options) -> dict[str, dict[str, Any]]:
    """Return the data of each benchmark that tasks are of.

    The pinned data is known without having it. Other data is opened, and on its first use
    converted, as a run would do.

    Args:
        tasks: ours.
        options: with `data_dir`, and `retrieved_context` for `longbench_v2_rag`.

    Returns:
        By benchmark: `source`, the repository and revision, "local" or "sample"; and `sha256`, of
        the file, or of each dataset's own by dataset. Under "retrieved_context", where a task
        reads it, the `sha256` of the file with the chunks.

    Raises:
        DataError: data is not there or damaged.
    """
    found: dict[str, dict[str, Any]] = {}
    for task in tasks:
        entry = _entry(task, options.data_dir)
        known = found.setdefault(task.benchmark, entry)
        if isinstance(entry["sha256"], dict):
            known["sha256"].update(entry["sha256"])
        if task.name == "longbench_v2_rag" and options.retrieved_context is not None:
            from lm_eval_longbench.retrieval.context_file import contexts_sha256

            chunks = contexts_sha256(options.retrieved_context)
            found["retrieved_context"] = {"source": "local", "sha256": chunks}
    return found
