"""Fetch a pinned file from the hub and make sure that it is the pinned one."""

from __future__ import annotations

from pathlib import Path

from lm_eval_longbench.benchmarks.base import Source
from lm_eval_longbench.data.hashing import sha256_of
from lm_eval_longbench.errors import DataError

THREE_WAYS = (
    "There are three ways to provide data: (1) let it download: unset HF_HUB_OFFLINE and run once "
    "with network; (2) point to a copy: the option data_dir with a folder of the official files "
    "(v1: <dataset>.jsonl or data.zip; v2: data.json; Pro: longbench_pro.json), or with the "
    'archive or JSON file itself; (3) try the embedded sample: data_dir "sample".'
)


def fetch(source: Source) -> Path:
    """Return the path of the pinned file in the hub's cache, downloaded if need be.

    Raises:
        DataError: it is not in the cache and cannot be downloaded, or its hash is wrong; a file
            with a wrong hash is removed from the cache, so that the next run fetches it again.
    """
    from huggingface_hub import hf_hub_download

    name = f"{source.repo}/{source.file} at revision {source.revision}"
    try:
        path = Path(
            hf_hub_download(source.repo, source.file, repo_type="dataset", revision=source.revision)
        )
    except Exception as error:  # the hub's own, and whatever its HTTP library raises
        raise DataError(
            f"{name} is not in the cache and cannot be downloaded "
            f"({type(error).__name__}: {error}). {THREE_WAYS}"
        ) from error
    found = sha256_of(path)
    if found != source.sha256:
        path.resolve().unlink(missing_ok=True)
        path.unlink(missing_ok=True)
        raise DataError(
            f"{name} is damaged: sha256 {found}, pinned {source.sha256}. The file was removed from "
            "the cache; run again to download it anew."
        )
    return path
