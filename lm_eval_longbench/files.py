"""Read what others made within bounds; and where this package's cache lies.

Whatever a command reads comes through here. docs/input.md states the bounds.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import json
import os
import stat
import sys
import threading
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, wait
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from lm_eval_longbench.errors import LongBenchError

# Bytes of one line, of one JSON document, of one element of a JSON array. The longest real ones are
# sample log rows that hold several whole prompts.
LONGEST = 128 << 20
# Bytes of a file that are read at once.
BLOCK = 512 << 10

_MAGIC = b"\x1f\x8b"
# What zlib needs to be told to read gzip.
_GZIP = 16 + zlib.MAX_WBITS
_Value = TypeVar("_Value")


class Unreadable(OSError):
    """A file that is not read, or not further; the message says why and needs the file's name."""


class Damaged(Unreadable):
    """Packed data that breaks off or is corrupt; what is before the damage was read."""


def size_text(number: int) -> str:
    """Return a number of bytes in words, such as "128 MiB"."""
    return f"{number >> 20} MiB" if number >= 1 << 20 else f"{number} bytes"


def user_path(given: str | Path) -> Path:
    """Return a path that a user wrote; where "~" is no user's home, it stays as it is."""
    return Path(os.path.expanduser(given))


# ---------------------------------------------------------------------- our cache


def datasets_cache() -> Path:
    """Return the folder that `datasets.config.HF_DATASETS_CACHE` names; it may not exist.

    To import the library for this alone would take a second. Source: datasets/config.py, the same
    in all versions from 3.0. A caller may have set the attribute, so that it holds where the
    library is imported already.
    """
    config = sys.modules.get("datasets.config")
    if config is not None:
        return Path(config.HF_DATASETS_CACHE)
    general = os.path.join(os.getenv("XDG_CACHE_HOME", "~/.cache"), "huggingface")
    own = user_path(os.getenv("HF_HOME", general)) / "datasets"
    return Path(os.getenv("HF_DATASETS_CACHE", own))


def our_cache() -> Path:
    """Return the folder in it that is this package's; it may not exist."""
    return datasets_cache() / "lm_eval_longbench"


# ---------------------------------------------------------------------- replies


def within(seconds: float, work: Callable[[], _Value]) -> _Value:
    """Return what a function returns, whatever it waits for.

    Raises:
        TimeoutError: it takes longer.
    """
    done: Future[_Value] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # raised again where it is waited for
            done.set_exception(error)

    # A daemon, for a name that is looked up cannot be stopped.
    threading.Thread(target=run, daemon=True).start()
    if not wait([done], max(seconds, 0.01)).done:
        raise TimeoutError(f"no answer within {seconds:.0f} seconds")
    return done.result()


# ---------------------------------------------------------------------- opening


def odd_kind(path: Path) -> str | None:
    """Return what a path is if it is no regular file, as "is a folder"; None: it is one.

    Raises:
        OSError: it is not there, or nobody may look.
    """
    if path.is_symlink() and not path.exists():
        return "is a link that leads to no file"
    mode = path.stat().st_mode
    if stat.S_ISREG(mode):
        return None
    return f"is {'a folder' if stat.S_ISDIR(mode) else 'a pipe or a device'}, not a regular file"


def open_input(path: Path) -> BinaryIO:
    """Open a regular file, or a link to one, for reading.

    Raises:
        Unreadable: it is something else, which could keep the reader waiting or never end.
        OSError: it is not there or may not be read.
    """
    odd = odd_kind(path)
    if odd:
        raise Unreadable(f"it {odd}")
    return path.open("rb")


@contextlib.contextmanager
def reading(path: Path, error: type[LongBenchError]) -> Iterator[None]:
    """Turn what goes wrong with a file inside the block into an error of ours that names it."""
    try:
        yield
    except OSError as problem:
        raise error(f"{path} cannot be read: {problem}") from problem


def is_packed(path: Path) -> bool:
    """Return whether a file begins like gzip data; OSError if it cannot be read."""
    with open_input(path) as handle:
        return handle.read(len(_MAGIC)) == _MAGIC


# ---------------------------------------------------------------------- bytes


def _unpacked(handle: BinaryIO) -> Iterator[bytes]:
    """Yield the text of a gzip file; Damaged where it ends."""
    member, raw = zlib.decompressobj(_GZIP), b""
    while raw := raw or handle.read(BLOCK):
        if member.eof:  # another one may follow, after zeros
            raw = raw.lstrip(b"\0")
            if not raw:
                continue
            member = zlib.decompressobj(_GZIP)
        before = member.copy()
        try:
            yield member.decompress(raw, BLOCK)
        except zlib.error as error:
            # With the damage its whole block is lost: that one once more, byte by byte.
            with contextlib.suppress(zlib.error):
                for place in range(len(raw)):
                    yield before.decompress(raw[place : place + 1])
            raise Damaged(f"its gzip data is damaged ({error}); what follows is lost") from error
        raw = member.unused_data or member.unconsumed_tail
    if not member.eof:
        yield member.flush()
        raise Damaged("it ends in the middle of its gzip data; what followed is lost")


def raw_blocks(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file as they are; OSError if it cannot be read."""
    with open_input(path) as handle:
        while block := handle.read(BLOCK):
            yield block


def blocks(path: Path) -> Generator[bytes, None, None]:
    """Yield the text of a file, unpacked if it begins like gzip data, whatever its name says.

    Raises:
        Damaged: the packed data breaks off or is corrupt.
        OSError: the file cannot be read.
    """
    if not is_packed(path):
        yield from raw_blocks(path)
        return
    with open_input(path) as handle:
        yield from _unpacked(handle)


# ---------------------------------------------------------------------- lines


@dataclass(frozen=True, slots=True)
class ByteChunk:
    """Some lines of a file.

    Attributes:
        data: the lines.
        line: number of the first, from 1.
        index: of the first line that is not blank: how many such lines are before it.
        problem: what is wrong with the file here; its lines are missing from `data`.
    """

    data: bytes
    line: int
    index: int
    problem: str | None = None

    def lines(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield number, index and bytes of each line that is not blank."""
        index = self.index
        for number, line in enumerate(self.data.split(b"\n"), start=self.line):
            if line and not line.isspace():
                yield number, index, line
                index += 1


def _each_line(pieces: Iterable[bytes]) -> Iterator[bytes | str]:
    """Yield every line with the line feed that ends it; in the place of damage what is wrong."""
    begun: list[bytes] = []
    size, damage = 0, ""
    too_long = f"the line is longer than {size_text(LONGEST)}"
    try:
        for piece in pieces:
            for part in io.BytesIO(piece):
                is_end = part.endswith(b"\n")
                size += len(part)
                begun.append(part)
                if size > LONGEST + is_end:
                    begun.clear()
                if is_end:
                    yield b"".join(begun) or too_long
                    begun.clear()
                    size = 0
    except Damaged as error:
        damage = str(error)
    if size:
        yield b"".join(begun) or too_long
    if damage:
        yield damage


def chunks(pieces: Iterable[bytes], size: int | None = None) -> Iterator[ByteChunk]:
    """Yield the lines of a text in order, about `size` bytes at once (half a megabyte).

    What is wrong with the text as a whole (damaged packing, a line beyond LONGEST) comes as a chunk
    of its own that holds no line; the lines around it are there. Raises OSError if the text cannot
    be read.
    """
    size = BLOCK if size is None else size
    line, index = 1, 0
    waiting: list[bytes] = []
    held = 0
    for one in chain(_each_line(pieces), [None]):
        if isinstance(one, bytes):
            waiting.append(one)
            held += len(one)
            if held < size:
                continue
        if waiting:
            chunk = ByteChunk(b"".join(waiting), line, index)
            line += sum(own.endswith(b"\n") for own in waiting)
            index += sum(not own.isspace() for own in waiting)
            waiting.clear()
            held = 0
            yield chunk
            del chunk  # before the next one is read: a line may be a tenth of a gigabyte
        if isinstance(one, str):
            yield ByteChunk(b"", line, index, one)
            line, index = line + 1, index + 1


def lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield every line of a text, without the line feed that ends it; nothing else ends a line.

    Raises:
        Unreadable: a line is longer than LONGEST, or packed data is damaged.
        OSError: the text cannot be read.
    """
    last, number = b"", 1
    for one in _each_line(pieces):
        if isinstance(one, str):
            raise Unreadable(f"{one}, at line {number}")
        if one.endswith(b"\n"):
            yield one[:-1]
            number += 1
        else:
            last = one
    if last:  # not where damage has cut it
        yield last


# ---------------------------------------------------------------------- JSON


def read_whole(path: Path, most: int = LONGEST) -> bytes:
    """Return the whole text of a file, packed or not.

    Raises:
        Unreadable: it is longer than `most` bytes, or packed data is damaged.
        OSError: the file cannot be read.
    """
    parts, size = [], 0
    for block in blocks(path):
        parts.append(block)
        size += len(block)
        if size > most:
            raise Unreadable(f"it is longer than {size_text(most)}")
    return b"".join(parts)


def read_json(path: Path, error: type[LongBenchError]) -> Any:
    """Return what a JSON file holds, packed or not.

    Raises:
        LongBenchError: of the type `error`: it cannot be read or is not JSON; names the file.
    """
    with reading(path, error):
        text = read_whole(path)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise error(f"{path} is not JSON: {problem}") from problem


def read_json_lines(path: Path, error: type[LongBenchError]) -> Iterator[tuple[int, Any]]:
    """Yield the number (from 1) and the value of each line of a file that is not blank.

    Raises:
        LongBenchError: of the type `error`: the file cannot be read to its end, or a line is not
            JSON; names file and line.
    """
    with reading(path, error):
        yield from decoded_lines(lines(blocks(path)), str(path), error)


def decoded_lines(
    texts: Iterable[bytes], where: str, error: type[LongBenchError]
) -> Iterator[tuple[int, Any]]:
    """Yield the same of lines; an error names `where` they are from."""
    for number, line in enumerate(texts, start=1):
        if line and not line.isspace():
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as problem:
                raise error(f"{where}, line {number}, is not JSON: {problem}") from problem
            yield number, value


def json_rows(path: Path, error: type[LongBenchError]) -> Iterator[tuple[bytes, Any]]:
    """Yield each line of a file, and its value; None: it is not JSON, such as a blank one.

    What stands before damage is read; the damage counts as a line that is not JSON.

    Raises:
        LongBenchError: of the type `error`: the file cannot be read; names it.
    """
    with reading(path, error):
        try:
            for line in lines(blocks(path)):
                try:
                    value = json.loads(line)
                except (ValueError, RecursionError):
                    value = None
                yield line, value
        except Unreadable as problem:
            yield str(problem).encode(), None


# ---------------------------------------------------------------------- sha256


def sha256_of(path: Path) -> str:
    """Return the sha256 of a regular file's bytes, computed once for each state of the file.

    Raises:
        OSError: it cannot be read, or is not a regular file.
    """
    found = path.stat()
    # The time when its entry was changed cannot be set back.
    return _hashed(path, (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns))


@functools.lru_cache(maxsize=256)
def _hashed(path: Path, state: tuple[int, ...]) -> str:
    digest = hashlib.sha256()
    for block in raw_blocks(path):
        digest.update(block)
    return digest.hexdigest()
