"""Fetch a pinned file from the hub and make sure that it is the pinned one; say what is here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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


CONVERTED = "converted"
DOWNLOADED = "downloaded"
DAMAGED = "damaged"
MISSING = "missing"


@dataclass(frozen=True)
class Stored:
    """How a family's pinned file is kept here.

    Attributes:
        state: CONVERTED, DOWNLOADED (converted by the first run), DAMAGED or MISSING.
        place: its folder or file; None if it is missing.
        sha256: of a damaged file; else the pinned one.
    """

    state: str
    place: Path | None
    sha256: str


def stored(family: str, names: Sequence[str] | None = None) -> Stored:
    """Find the pinned file of a family of benchmarks, as `prepare` calls it.

    `names` are datasets, where each is converted by itself; None: all of them.
    """
    from huggingface_hub import try_to_load_from_cache

    from lm_eval_longbench.benchmarks.registry import families
    from lm_eval_longbench.data.arrow import cache_folder, is_sound  # slow to import

    members = families()[family]
    source = members[0].source
    folder = cache_folder(members[0].family, source.sha256)
    parts = [folder]
    if not members[0].counts:
        known = (task.dataset for one in members for task in one.tasks.values())
        parts = [folder / name for name in (known if names is None else names)]
    if all(is_sound(part, source.sha256) for part in parts):
        return Stored(CONVERTED, folder, source.sha256)
    place = try_to_load_from_cache(
        source.repo, source.file, repo_type="dataset", revision=source.revision
    )
    if not isinstance(place, str):
        return Stored(MISSING, None, source.sha256)
    file = Path(place)
    found = sha256_of(file)
    return Stored(DOWNLOADED if found == source.sha256 else DAMAGED, file, found)
