"""Where a pinned file can be had: the hub, ModelScope, any address, any folder.

The sha256 decides, so that it does not matter who keeps the file.
"""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
import urllib.parse
from collections.abc import Mapping
from pathlib import Path

from lm_eval_longbench.benchmarks.base import Source
from lm_eval_longbench.data.download import NotDownloadedError, download, is_address
from lm_eval_longbench.data.hashing import sha256_of
from lm_eval_longbench.datasets_cache import our_cache
from lm_eval_longbench.errors import DataError
from lm_eval_longbench.input_files import reading
from lm_eval_longbench.secrets import masked_url

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
    """Return the file's address on the hub, or on what HF_ENDPOINT says."""
    from huggingface_hub import constants

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


def _headers(origin: str) -> Mapping[str, str]:
    """Return the user's key for the hub, where there is one; the data itself needs none."""
    if origin != HUB:
        return {}
    from huggingface_hub import get_token

    token = get_token()
    return {"Authorization": f"Bearer {token}"} if token else {}


def ways(source: Source, command: str) -> str:
    """Return the ways to get a pinned file, a line each, with commands and hash.

    Args:
        source: the file.
        command: that prepares it: "prepare v2".
    """
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
        download(address, target, source.sha256, source.size, _headers(origin))
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
