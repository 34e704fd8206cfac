"""Fetch a pinned file from the hub and make sure that it is the pinned one; say what is here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lm_eval_longbench.benchmarks.base import Source
from lm_eval_longbench.data.hashing import sha256_of
from lm_eval_longbench.data.origins import HUB, downloaded_file, provide, ways
from lm_eval_longbench.errors import DataError

THREE_WAYS = (
    "There are three ways to provide data: (1) let it download: unset HF_HUB_OFFLINE and run once "
    "with network; (2) point to a copy: the option data_dir with a folder of the official files "
    "(v1: <dataset>.jsonl or data.zip; v2: data.json; Pro: longbench_pro.json), or with the "
    'archive or JSON file itself; (3) try the embedded sample: data_dir "sample".'
)


def fetch(source: Source) -> Path:
    """Return the path of the pinned file: downloaded before, in the hub's cache, or fetched now.

    Raises:
        DataError: it is not here and cannot be downloaded, or its hash is wrong; a file with a
            wrong hash is removed, so that the next run fetches it again.
    """
    from huggingface_hub import constants

    file = _found(source)
    if file is not None:
        found = sha256_of(file)
        if found == source.sha256:
            return file
        file.resolve().unlink(missing_ok=True)
        file.unlink(missing_ok=True)
        raise DataError(
            f"{_name(source)} is damaged: sha256 {found}, pinned {source.sha256}. The file was "
            "removed from the cache; run again to download it anew."
        )
    command = _command(source)
    if constants.HF_HUB_OFFLINE:
        raise DataError(
            f"{_name(source)} is not in the cache and cannot be downloaded: HF_HUB_OFFLINE is "
            f"set.\n{ways(source, command)}"
        )
    return provide(source, HUB, command)


def provide_from(family: str, origin: str) -> None:
    """Have the pinned file of a family of benchmarks here, from a place that the user names.

    Nothing is fetched where it is converted already, or here and sound.

    Args:
        family: as `prepare` calls it.
        origin: "hub", "modelscope", an address, or a folder or file; see `data.origins`.

    Raises:
        DataError: it cannot be had there, or it is another file.
    """
    from lm_eval_longbench.benchmarks.registry import families

    if stored(family).state not in (CONVERTED, DOWNLOADED):
        provide(families()[family][0].source, origin, f"prepare {family}")


def _name(source: Source) -> str:
    return f"{source.repo}/{source.file} at revision {source.revision}"


def _command(source: Source) -> str:
    from lm_eval_longbench.benchmarks.registry import families

    own = (name for name, members in families().items() if members[0].source == source)
    return f"prepare {next(own, 'all')}"


def _found(source: Source) -> Path | None:
    """Return the pinned file as it was downloaded by this package or by the hub's."""
    from huggingface_hub import try_to_load_from_cache

    file = downloaded_file(source)
    if file.is_file():
        return file
    place = try_to_load_from_cache(
        source.repo, source.file, repo_type="dataset", revision=source.revision
    )
    return Path(place) if isinstance(place, str) else None


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
    file = _found(source)
    if file is None:
        return Stored(MISSING, None, source.sha256)
    found = sha256_of(file)
    return Stored(DOWNLOADED if found == source.sha256 else DAMAGED, file, found)
