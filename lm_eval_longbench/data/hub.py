"""Fetch a pinned file from where it can be had, and make sure that it is the pinned one.

The sha256 decides, so that it does not matter who keeps the file.
"""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
import urllib.parse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lm_eval_longbench.benchmarks.base import Source
from lm_eval_longbench.data.download import NotDownloadedError, download, is_address
from lm_eval_longbench.data.hashing import sha256_of
from lm_eval_longbench.datasets_cache import our_cache
from lm_eval_longbench.errors import DataError
from lm_eval_longbench.input_files import reading
from lm_eval_longbench.secrets import masked_url

# ---------------------------------------------------------------------- where a file can be had

HUB, MODELSCOPE = "hub", "modelscope"
# ModelScope's own tests read files of datasets at such addresses.
MODELSCOPE_ENDPOINT = "https://modelscope.cn"


def downloads_folder() -> Path:
    """Return the folder for downloaded files; it may not exist."""
    return our_cache() / "downloads"


def downloaded_file(source: Source) -> Path:
    """Return where a pinned file lies once it is downloaded; it may not be there."""
    return downloads_folder() / source.sha256[:16] / source.file


def hub_address(source: Source) -> str:
    """Return the file's own address, or that on the hub, or on what HF_ENDPOINT says."""
    from huggingface_hub import constants

    if source.url:
        return source.url

    path = f"datasets/{source.repo}/resolve/{source.revision}/{source.file}"
    return f"{constants.ENDPOINT.rstrip('/')}/{path}"


def address_of(source: Source, origin: str) -> str:
    """Return the address of a pinned file.

    Args:
        source: the file.
        origin: "hub", "modelscope", or an address of the file or of a folder that has it.

    Raises:
        DataError: ModelScope has no copy of it that is known.
    """
    if origin == HUB:
        return hub_address(source)
    if origin == MODELSCOPE:
        if not source.modelscope:
            raise DataError(
                f"No copy of {source.repo} on ModelScope is known. Give --from an address or a "
                f"folder that has {source.file}, or leave it out for the hub."
            )
        path = f"datasets/{source.modelscope}/resolve/master/{source.file}"
        return f"{MODELSCOPE_ENDPOINT}/{path}"
    parts = urllib.parse.urlsplit(origin)
    ending = Path(source.file).suffix
    if parts.query or parts.path.endswith(ending):
        return origin
    return f"{origin.rstrip('/')}/{source.file}"


def _headers(source: Source, origin: str) -> Mapping[str, str]:
    """Return the user's key for the hub, where there is one; the data itself needs none."""
    if origin != HUB or source.url:
        return {}
    from huggingface_hub import get_token

    token = get_token()
    return {"Authorization": f"Bearer {token}"} if token else {}


def ways(source: Source, command: str) -> str:
    """Return the ways to get a pinned file, a line each, with commands and hash.

    Args:
        source: the file.
        command: that prepares it: "prepare v2"; "": there is none.
    """
    if not command:
        return (
            f"Wanted is {source.file} with sha256 {source.sha256}. By hand: curl -L -o "
            f"{Path(source.file).name} {hub_address(source)}, and name the file with data_dir."
        )
    prepare = f"lm-eval-longbench {command}"
    mirror = f"{prepare} --from modelscope" if source.modelscope else f"{prepare} --from URL"
    return (
        f"Wanted is {source.file} with sha256 {source.sha256}.\n"
        "Ways to get it; who sends it does not matter, the hash decides:\n"
        f"  1. from elsewhere: {mirror}, or HF_ENDPOINT=https://hf-mirror.com {prepare}\n"
        f"  2. by hand: curl -L -C - -o {source.file} {hub_address(source)}\n"
        f"     and then: {prepare} --from .\n"
        '  3. without it: the embedded sample, option data_dir "sample" '
        f"({prepare} --data-dir sample)"
    )


def provide(source: Source, origin: str, command: str) -> Path:
    """Put a pinned file where runs look for it, from any place; return its path.

    Args:
        source: the file.
        origin: see `address_of`; or a folder that has the file, or the file.
        command: for messages, see `ways`.

    Raises:
        DataError: it cannot be had there, or it is another file; of that nothing is kept.
    """
    target = downloaded_file(source)
    if target.is_file():
        if sha256_of(target) == source.sha256:
            return target
        target.unlink()
    if origin not in (HUB, MODELSCOPE) and not is_address(origin):
        _take(source, Path(origin).expanduser(), target)
        return target
    address = address_of(source, origin)
    try:
        download(address, target, source.sha256, source.size, _headers(source, origin))
    except NotDownloadedError as error:
        where = masked_url(address)
        raise DataError(
            f"{where} cannot be downloaded: {error}.\n{ways(source, command)}"
        ) from error
    return target


def _take(source: Source, place: Path, target: Path) -> None:
    """Put the file in a folder, or the file itself, where runs look for it."""
    file = place / source.file if place.is_dir() else place
    if not file.is_file():
        what = f"has no {source.file}" if place.is_dir() else "is neither an address nor there"
        raise DataError(f"--from {shlex.quote(str(place))} {what}.")
    with reading(file, DataError):
        found = sha256_of(file)
    if found != source.sha256:
        raise DataError(
            f"{file} is damaged or another file: sha256 {found}, pinned {source.sha256}. It was "
            f"not taken. The option --data-dir uses data that is not the pinned one, and marks "
            "every result with its hash."
        )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            copy = Path(folder, source.file)
            try:
                os.link(file, copy)  # no second half gigabyte, where the disk is the same
            except OSError:
                shutil.copyfile(file, copy)
            copy.replace(target)
    except OSError as error:
        raise DataError(f"{file} cannot be copied to {target}: {error}.") from error


# ---------------------------------------------------------------------- the pinned file

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
        origin: "hub", "modelscope", an address, or a folder or file.

    Raises:
        DataError: it cannot be had there, or it is another file.
    """
    from lm_eval_longbench.benchmarks.registry import families

    if stored(family).state not in (CONVERTED, DOWNLOADED):
        provide(families()[family][0].source, origin, f"prepare {family}")


def _name(source: Source) -> str:
    return f"{source.repo}/{source.file} at revision {source.revision}"


def _command(source: Source) -> str:
    from lm_eval_longbench.benchmarks.registry import carried, families

    own = (name for name, members in families().items() if members[0].source == source)
    name = next(own, "all")
    return "" if carried([name]) else f"prepare {name}"


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
