"""Download one file over HTTP: go on where a partial file ends, and give up soon.

The caller knows the file's hash, so that nothing here depends on who sends it.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from filelock import FileLock
from tqdm import tqdm

from lm_eval_longbench.bounded import within
from lm_eval_longbench.data.hashing import sha256_of
from lm_eval_longbench.errors import DataError
from lm_eval_longbench.input_files import BLOCK
from lm_eval_longbench.terminal import escaped_line
from lm_eval_longbench.version import __version__

# Seconds: for an answer or a block; for all tries together while next to nothing arrives; between
# two tries. A download that fails ends within 15.
TIMEOUT, PATIENCE, PAUSE = 5.0, 10.0, 1.0
# Bytes that are more than next to nothing.
PROGRESS = 64 << 10
# A server that sends another file may send one without end: bytes beyond twice what is expected.
_SPARE = 64 << 20
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


class NotDownloadedError(DataError):
    """A file could not be downloaded; the message is why, in half a sentence."""


class _PassingError(Exception):
    """What may be gone at the next try."""


def is_address(text: str) -> bool:
    """Return whether a text is an HTTP address."""
    return text.lower().startswith(("http://", "https://"))


def _opened(address: str, start: int, headers: Mapping[str, str], seconds: float) -> Any:
    try:
        request = urllib.request.Request(address)
        request.add_header("User-Agent", f"lm-eval-longbench/{__version__}")
        request.add_header("Accept-Encoding", "identity")
        if start:
            request.add_header("Range", f"bytes={start}-")
        for name, value in headers.items():  # not sent to whom the server sends us on
            request.add_unredirected_header(name, value)
        return within(seconds, lambda: urllib.request.urlopen(request, timeout=seconds))
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416 and start:
            return None
        if error.code in _PASSING:
            raise _PassingError(f"HTTP {error.code} {error.reason}") from error
        raise NotDownloadedError(f"HTTP {error.code} {error.reason}") from error
    except urllib.error.URLError as error:
        raise _PassingError(f"{error.reason}") from error
    except (ValueError, http.client.InvalidURL) as error:  # such as a port that is no number
        raise NotDownloadedError(f"{error}") from error
    except TimeoutError as error:
        raise _PassingError(f"{error}") from error
    except (OSError, http.client.HTTPException) as error:
        raise _PassingError(f"{type(error).__name__}: {error}") from error


def _place(reply: Any, start: int) -> tuple[int, int | None]:
    """Return where a reply begins in the file, and how long the file is; None: it does not say."""
    if reply.status == 206:
        told = _RANGE.match(reply.headers.get("Content-Range", ""))
        if told is None or int(told[1]) != start:
            raise NotDownloadedError("the server sends another part of the file than was asked for")
        return start, None if told[2] == "*" else int(told[2])
    length = reply.headers.get("Content-Length", "")
    return 0, int(length) if length.isdecimal() else None


class Download:
    """One file on its way; `partial` keeps what has arrived, for this try and later runs.

    Args:
        address: of the file.
        partial: where what arrives is written.
        size: of the file in bytes, about; 0: unknown.
        headers: for this server alone, such as a key.
    """

    def __init__(
        self, address: str, partial: Path, size: int, headers: Mapping[str, str] | None = None
    ) -> None:
        self._address, self._partial, self._size = address, partial, size
        self._headers = headers or {}
        self._progress = time.monotonic()
        self._counted = 0

    def _left(self) -> float:
        return PATIENCE - (time.monotonic() - self._progress)

    def _arrived(self, number: int) -> None:
        self._counted += number
        if self._counted >= PROGRESS:
            self._counted, self._progress = 0, time.monotonic()
        if self._left() <= 0:
            raise NotDownloadedError(f"next to nothing arrived for {PATIENCE:.0f} seconds")

    def _try(self, bar: tqdm) -> None:
        start = self._partial.stat().st_size if self._partial.exists() else 0
        reply = _opened(self._address, start, self._headers, min(TIMEOUT, self._left()))
        if reply is None:  # nothing is left to send: the hash says whether it is the file
            return
        with contextlib.closing(reply):
            start, whole = _place(reply, start)
            most = 2 * self._size + _SPARE if self._size else None
            bar.total, bar.n = whole, start
            with self._partial.open("r+b" if start else "wb") as file:
                file.seek(start)
                here = start
                try:
                    while block := reply.read1(BLOCK):
                        file.write(block)
                        here += len(block)
                        bar.update(len(block))
                        if most is not None and here > most:
                            raise NotDownloadedError("the server sends far more than the file")
                        self._arrived(len(block))
                except (TimeoutError, ConnectionError, http.client.HTTPException) as error:
                    reason = str(error) or type(error).__name__
                    raise _PassingError(f"it broke off: {reason}") from error
        if whole is not None and here < whole:
            raise _PassingError(f"it broke off after {here:,} of {whole:,} bytes")

    def run(self) -> None:
        """Download what is missing.

        Raises:
            NotDownloadedError: it cannot be had; what arrived is kept.
        """
        name = escaped_line(f"downloading {self._address.rpartition('/')[2]}")
        # On a terminal only, and only if it takes longer than a second.
        with tqdm(desc=name, unit="B", unit_scale=True, disable=None, delay=1) as bar:
            while True:
                try:
                    return self._try(bar)
                except _PassingError as error:
                    if self._left() <= PAUSE + 0.5:
                        raise NotDownloadedError(f"{error}") from error
                    time.sleep(PAUSE)
                except OSError as error:
                    raise NotDownloadedError(f"{self._partial}: {error}") from error


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
        headers: for this server alone.

    Raises:
        NotDownloadedError: it cannot be downloaded, and what arrived is kept beside `target` as
            `<name>.partial`; or it is another file, of which nothing is kept.
    """
    partial = target.with_name(f"{target.name}.partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{target}.lock"):
            while not target.exists():  # it may have come while another process had the lock
                resumed = partial.exists()
                Download(address, partial, size, headers).run()
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
        raise NotDownloadedError(f"{error}") from error
