"""The documents that a result was made from, where this machine has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.provenance.data_label import read_label

if TYPE_CHECKING:
    from lm_eval_longbench.data.documents import Documents


class Absent(Exception):
    """What a check needs is not on this machine; says why."""


def _source(benchmark: str) -> Any:
    from lm_eval_longbench.data import sources

    return {
        "longbench_v1": sources.LONGBENCH_V1,
        "longbench_v1_e": sources.LONGBENCH_V1,
        "longbench_v2": sources.LONGBENCH_V2,
        "longbench_pro": sources.LONGBENCH_PRO,
    }[benchmark]


def _is_cached(benchmark: str, task: str) -> bool:
    """Whether a task's pinned data can be opened without a download."""
    from huggingface_hub import try_to_load_from_cache

    from lm_eval_longbench.catalog import split_of_task
    from lm_eval_longbench.data.arrow import cache_folder, is_sound

    source = _source(benchmark)
    folder = cache_folder(benchmark.removesuffix("_e"), source.sha256)
    if benchmark.startswith("longbench_v1"):
        folder /= split_of_task(task).file_stem
    if is_sound(folder, source.sha256):
        return True
    found = try_to_load_from_cache(
        source.repo, source.file, repo_type="dataset", revision=source.revision
    )
    return isinstance(found, str)


def _load(benchmark: str, task: str, data_dir: str | None) -> Documents:
    """Open a task's documents, all domains of LongBench v2 together."""
    from lm_eval_longbench.catalog import split_of_task
    from lm_eval_longbench.catalog_pro import BY_CODE
    from lm_eval_longbench.data import longbench_pro, longbench_v1, longbench_v2

    if benchmark == "longbench_v2":
        return longbench_v2.load(None, data_dir)
    if benchmark == "longbench_pro":
        code = task.removeprefix("longbench_pro_").removeprefix("thinking_")
        return longbench_pro.load(BY_CODE[code], data_dir)
    return longbench_v1.load(split_of_task(task), data_dir)


def open_documents(signature: Mapping[str, Any], data_dir: str | None) -> Documents:
    """Return the documents of the task that a signature is of, from this machine.

    Args:
        signature: its benchmark, task and data label are used.
        data_dir: where local data is; None: nobody says.

    Raises:
        Absent: the data is not here; nothing is downloaded.
    """
    label = read_label(signature.get("data"))
    benchmark, task = str(signature.get("benchmark")), str(signature.get("task"))
    try:
        if label.is_sample:
            return _load(benchmark, task, "sample")
        if label.is_local and data_dir is None:
            raise Absent("It is a file of the user's own: name it with --data-dir.")
        if label.is_local:
            return _load(benchmark, task, data_dir)
        if _is_cached(benchmark, task):
            return _load(benchmark, task, None)
        if data_dir is not None:
            return _load(benchmark, task, data_dir)
    except (LongBenchError, KeyError, OSError) as error:
        raise Absent(f"The data cannot be opened: {error}") from error
    raise Absent(
        f"{label.base} is not on this machine: `lm-eval-longbench prepare` downloads it, or name a "
        "copy with --data-dir."
    )
