"""Fetch a pinned file: from the hub or its cache, ModelScope, any address or folder.

Its sha256 decides, so that it does not matter who sends it.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import shlex
import shutil
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from filelock import FileLock
from tqdm import tqdm

from lm_eval_longbench.catalog.model import Source
from lm_eval_longbench.console import escaped_line
from lm_eval_longbench.errors import DataError
from lm_eval_longbench.files import BLOCK, our_cache, reading, sha256_of, user_path, within
from lm_eval_longbench.secrets import masked_url
from lm_eval_longbench.version import __version__

# ---------------------------------------------------------------------- one file over HTTP

# Seconds: for an answer or a block; for all tries together while next to nothing arrives; between
# two tries. A download that fails ends within 15.
TIMEOUT, PATIENCE, PAUSE = 5.0, 10.0, 1.0
# Bytes that are more than next to nothing.
PROGRESS = 64 << 10
# A server that sends another file may send one without end: bytes beyond twice what is expected.
_SPARE = 64 << 20
_BROKEN = (urllib.error.URLError, TimeoutError, ConnectionError, http.client.HTTPException)
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


class NotDownloadedError(DataError):
    """A file could not be downloaded; the message is why, in half a sentence."""


def download(
    address: str,
    target: Path,
    sha256: str,
    size: int = 0,
    headers: Mapping[str, str] | None = None,
) -> None:
    """Download a file; it takes its name only when its hash is right.

    What an earlier call left is gone on with; should it turn out to be of another file, all is
    downloaded anew.

    Args:
        address: HTTP address of the file.
        target: its name here; its folder is made.
        sha256: of the file, as hexadecimal digits.
        size: in bytes, about; 0: unknown.
        headers: for this server alone, such as a key.

    Raises:
        NotDownloadedError: it cannot be downloaded, and what arrived is kept beside `target` as
            `<name>.partial`; or it is another file, of which nothing is kept.
    """
    partial = target.with_name(f"{target.name}.partial")
    name = escaped_line(f"downloading {address.rpartition('/')[2]}")
    # On a terminal only, and only if it takes longer than a second.
    bar = tqdm(desc=name, unit="B", unit_scale=True, disable=None, delay=1)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with bar, FileLock(f"{target}.lock"):
            while not target.exists():  # it may have come while another process had the lock
                resumed = partial.exists()
                _complete(address, partial, size, headers or {}, bar)
                found = sha256_of(partial)
                if found == sha256:
                    os.replace(partial, target)
                    return
                partial.unlink()
                if not resumed:
                    raise NotDownloadedError(
                        f"what is there is damaged or another file: sha256 {found}, pinned "
                        f"{sha256}; it was not kept"
                    )
    except OSError as error:
        raise NotDownloadedError(f"{partial}: {error}") from error


def _complete(
    address: str, partial: Path, size: int, headers: Mapping[str, str], bar: tqdm
) -> None:
    """Add what is missing to `partial`; try again as long as more than next to nothing arrives."""
    counted, deadline = 0, time.monotonic() + PATIENCE
    while True:
        start = partial.stat().st_size if partial.exists() else 0
        try:
            patience = min(TIMEOUT, deadline - time.monotonic())
            with contextlib.closing(_opened(address, start, headers, patience)) as reply:
                start, whole = _place(reply, start)
                bar.total, bar.n = whole, start
                with partial.open("ab" if start else "wb") as file:
                    while block := reply.read1(BLOCK):
                        here = start = start + file.write(block)
                        bar.update(len(block))
                        counted += len(block)
                        if counted >= PROGRESS:
                            counted, deadline = 0, time.monotonic() + PATIENCE
                        if time.monotonic() > deadline:
                            raise NotDownloadedError(
                                f"next to nothing arrived for {PATIENCE:.0f} seconds"
                            )
                        if size and here > 2 * size + _SPARE:
                            raise NotDownloadedError("the server sends far more than the file")
            if whole is None or start >= whole:
                return
            problem = f"it broke off after {start:,} of {whole:,} bytes"
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == 416 and start:  # nothing is left: the hash says whether it is the file
                return
            problem = f"HTTP {error.code} {error.reason}"
            if error.code not in _PASSING:
                raise NotDownloadedError(problem) from error
        except (ValueError, http.client.InvalidURL) as error:  # such as a port that is no number
            raise NotDownloadedError(f"{error}") from error
        except _BROKEN as error:
            problem = str(getattr(error, "reason", error)) or type(error).__name__
        if deadline - time.monotonic() <= PAUSE + 0.5:
            raise NotDownloadedError(problem)
        time.sleep(PAUSE)


def _opened(address: str, start: int, headers: Mapping[str, str], seconds: float) -> Any:
    own = {"User-Agent": f"lm-eval-longbench/{__version__}", "Accept-Encoding": "identity"}
    part = {"Range": f"bytes={start}-"} if start else {}
    request = urllib.request.Request(address, headers={**own, **part})
    for name, value in headers.items():  # not sent to whom the server sends us on
        request.add_unredirected_header(name, value)
    return within(seconds, lambda: urllib.request.urlopen(request, timeout=seconds))


def _place(reply: Any, start: int) -> tuple[int, int | None]:
    """Return where a reply begins in the file, and how long the file is; None: it does not say."""
    if reply.status == 206:
        told = _RANGE.match(reply.headers.get("Content-Range", ""))
        if told is None or int(told[1]) != start:
            raise NotDownloadedError("the server sends another part of the file than was asked for")
        return start, None if told[2] == "*" else int(told[2])
    length = reply.headers.get("Content-Length", "")
    return 0, int(length) if length.isdecimal() else None


# ---------------------------------------------------------------------- where a file can be had

HUB, MODELSCOPE = "hub", "modelscope"
# ModelScope's own tests read files of datasets at such addresses.
MODELSCOPE_ENDPOINT = "https://modelscope.cn"
THREE_WAYS = (
    "There are three ways to provide data: (1) let it download: unset HF_HUB_OFFLINE and run once "
    "with network; (2) point to a copy: the option data_dir with a folder of the official files "
    "(v1: <dataset>.jsonl or data.zip; v2: data.json; Pro: longbench_pro.json), or with the "
    'archive or JSON file itself; (3) try the embedded sample: data_dir "sample".'
)


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
    if parts.query or parts.path.endswith(Path(source.file).suffix):
        return origin
    return f"{origin.rstrip('/')}/{source.file}"


def _headers(source: Source, origin: str) -> Mapping[str, str]:
    """Return the user's key for the hub, where there is one; the data itself needs none."""
    if origin != HUB or source.url:
        return {}
    from huggingface_hub import get_token

    token = get_token()
    return {"Authorization": f"Bearer {token}"} if token else {}


def ways(source: Source, family: str) -> str:
    """Return the ways to get a pinned file, a line each, with commands and hash.

    Args:
        source: the file.
        family: what `prepare` calls it: "v2"; "": it does not know it.
    """
    if not family:
        return (
            f"Wanted is {source.file} with sha256 {source.sha256}. By hand: curl -L -o "
            f"{Path(source.file).name} {hub_address(source)}, and name the file with data_dir."
        )
    prepare = f"lm-eval-longbench prepare {family}"
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


# ---------------------------------------------------------------------- the pinned file


def provide(source: Source, origin: str, family: str) -> Path:
    """Put a pinned file where runs look for it, from any place; return its path.

    Args:
        source: the file.
        origin: see `address_of`; or a folder that has the file, or the file.
        family: for messages, see `ways`.

    Raises:
        DataError: it cannot be had there, or it is another file; of that nothing is kept.
    """
    target = downloaded_file(source)
    if target.is_file():
        if sha256_of(target) == source.sha256:
            return target
        target.unlink()
    if origin not in (HUB, MODELSCOPE) and not origin.lower().startswith(("http://", "https://")):
        _take(source, user_path(origin), target)
        return target
    address = address_of(source, origin)
    try:
        download(address, target, source.sha256, source.size, _headers(source, origin))
    except NotDownloadedError as error:
        where = masked_url(address)
        raise DataError(
            f"{where} cannot be downloaded: {error}.\n{ways(source, family)}"
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


def found_file(source: Source) -> Path | None:
    """Return the pinned file as this package or the hub's downloaded it, sound or not."""
    from huggingface_hub import try_to_load_from_cache

    file = downloaded_file(source)
    if file.is_file():
        return file
    place = try_to_load_from_cache(
        source.repo, source.file, repo_type="dataset", revision=source.revision
    )
    return Path(place) if isinstance(place, str) else None


def fetch(source: Source, family: str) -> Path:
    """Return the path of the pinned file: downloaded before, in the hub's cache, or fetched now.

    Raises:
        DataError: it is not here and cannot be downloaded, or its hash is wrong; a file with a
            wrong hash is removed, so that the next run fetches it again.
    """
    from huggingface_hub import constants

    name = f"{source.repo}/{source.file} at revision {source.revision}"
    file = found_file(source)
    if file is not None:
        found = sha256_of(file)
        if found == source.sha256:
            return file
        file.resolve().unlink(missing_ok=True)
        file.unlink(missing_ok=True)
        raise DataError(
            f"{name} is damaged: sha256 {found}, pinned {source.sha256}. The file was removed from "
            "the cache; run again to download it anew."
        )
    if constants.HF_HUB_OFFLINE:
        raise DataError(
            f"{name} is not in the cache and cannot be downloaded: HF_HUB_OFFLINE is set.\n"
            f"{ways(source, family)}"
        )
    return provide(source, HUB, family)
