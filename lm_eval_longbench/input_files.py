"""Read files that anybody may have made: regular files only, packed or not, and within bounds.

Whatever a command reads comes through here, so that no file can make it wait for ever or fill the
memory. docs/input.md states the bounds and how they were chosen.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import zlib
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from lm_eval_longbench.errors import LongBenchError

# Bytes of one line, of one JSON document, of one element of a JSON array. The longest real ones are
# sample log rows that hold several whole prompts.
LONGEST = 128 << 20
# Commas and opening brackets outside of its texts: each is a value, and an empty one takes some
# thirty times as much memory as its text.
MOST_MARKS = 1 << 20
TOO_MANY_MARKS = f"it has more than {MOST_MARKS:,} commas and brackets outside of its texts"
# Bytes that packed data may always unpack to, and beyond them how many times its own size.
UNPACKED, RATIO = 256 << 20, 100
# Bytes read at once; packed data less, for a block of it may hold thousands of tiny members.
BLOCK = 512 << 10
_PACKED_BLOCK = 64 << 10

_MAGIC = b"\x1f\x8b"
# zlib's code for a gzip header and trailer.
_GZIP = 31
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class Unreadable(OSError):
    """A file that is not read, or not further; the message says why and needs the file's name."""


class Damaged(Unreadable):
    """Packed data that breaks off, is corrupt or unpacks to far too much; the rest was read."""


def size_text(number: int) -> str:
    """Return a number of bytes in words, such as "128 MiB"."""
    return f"{number >> 20} MiB" if number >= 1 << 20 else f"{number} bytes"


# ---------------------------------------------------------------------- opening


def odd_kind(path: Path) -> str | None:
    """Return what a path is if it is no regular file, as "is a device"; None: it is one.

    Raises:
        OSError: it is not there, or nobody may look.
    """
    try:
        mode = path.stat().st_mode
    except PermissionError:
        raise
    except OSError:
        if path.is_symlink():
            return "is a link that leads to no file"
        raise
    if stat.S_ISREG(mode):
        return None
    what = next((name for test, name in _KINDS if test(mode)), "something else")
    return f"is {what}, not a regular file"


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


def within_ratio(pieces: Iterable[bytes], packed: int) -> Iterator[bytes]:
    """Yield unpacked data as long as there is not far too much of it.

    Raises:
        Damaged: there is more than UNPACKED, and more than RATIO times the `packed` bytes.
    """
    most, size = max(UNPACKED, RATIO * packed), 0
    for piece in pieces:
        size += len(piece)
        if size > most:
            raise Damaged(
                f"it unpacks to more than {size_text(most)}, over {RATIO} times its size, and "
                "what follows is not read. If it is sound, unpack it yourself"
            )
        yield piece


def _member(decoder: Any, block: bytes) -> Iterator[bytes]:
    """Yield the text of one block of a member's data, a piece at a time."""
    piece = b"more"
    # A full piece means that the decoder may hold back more, even without further data.
    while not decoder.eof and (block or len(piece) == BLOCK):
        before = decoder.copy()
        try:
            piece = decoder.decompress(block, BLOCK)
        except zlib.error:
            # The decoder forgets what it made of this block before the damage: once more, by bytes.
            with contextlib.suppress(zlib.error):
                for at in range(len(block)):
                    yield before.decompress(block[at : at + 1])
            raise
        yield piece
        block = decoder.unconsumed_tail


def _inflated(handle: BinaryIO) -> Iterator[bytes]:
    """Yield the text of a gzip file, which may have several members; Damaged where it ends."""
    decoder, begun = zlib.decompressobj(_GZIP), True
    try:
        while block := handle.read(_PACKED_BLOCK):
            while block:
                if decoder.eof:
                    # Some tools pad what follows the last member with zeros.
                    block = block.lstrip(b"\0")
                    decoder, begun = zlib.decompressobj(_GZIP), bool(block)
                yield from _member(decoder, block)
                block = decoder.unused_data
    except zlib.error as error:
        raise Damaged(f"its gzip data is damaged ({error}); what follows is lost") from error
    if begun and not decoder.eof:
        raise Damaged("it ends in the middle of its gzip data; what followed is lost")


def _plain(handle: BinaryIO) -> Iterator[bytes]:
    while block := handle.read(BLOCK):
        yield block


def raw_blocks(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file as they are; OSError if it cannot be read."""
    with open_input(path) as handle:
        yield from _plain(handle)


def blocks(path: Path) -> Generator[bytes, None, None]:
    """Yield the text of a file, unpacked if it begins like gzip data, whatever its name says.

    Raises:
        Damaged: the packed data breaks off, is corrupt or unpacks to far too much.
        OSError: the file cannot be read.
    """
    packed = is_packed(path)
    with open_input(path) as handle:
        if packed:
            yield from within_ratio(_inflated(handle), os.fstat(handle.fileno()).st_size)
        else:
            yield from _plain(handle)


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


def _rows(data: bytes) -> int:
    """Count the lines that are not blank."""
    return sum(1 for line in data.split(b"\n") if line and not line.isspace())


def chunks(pieces: Iterable[bytes], size: int | None = None) -> Iterator[ByteChunk]:
    """Yield the lines of a text in order, about `size` bytes at once (half a megabyte).

    What is wrong with the text as a whole (damaged packing, a line beyond LONGEST) comes as a chunk
    of its own that holds no line; the lines around it are there. No piece may be longer than
    LONGEST. Raises OSError if the text cannot be read.
    """
    size = BLOCK if size is None else size
    line, index = 1, 0
    # Whole lines; and the beginning of the next one. Too long: its rest is passed over.
    whole: list[bytes] = []
    begun: list[bytes] = []
    whole_size = begun_size = 0
    too_long, problem = False, None

    def cut() -> ByteChunk:
        nonlocal line, index, whole_size
        data = b"".join(whole)
        whole.clear()  # before the reader goes to work: a line may be a tenth of a gigabyte
        whole_size = 0
        chunk = ByteChunk(data, line, index)
        line += data.count(b"\n")
        index += _rows(data)
        return chunk

    source = iter(pieces)
    while True:
        try:
            block = next(source)
        except StopIteration:
            break
        except Damaged as error:
            problem = str(error)
            break
        end = block.find(b"\n")
        if not too_long and begun_size + (end if end >= 0 else len(block)) > LONGEST:
            if whole:
                yield cut()
            yield ByteChunk(b"", line, index, f"the line is longer than {size_text(LONGEST)}")
            begun, begun_size, too_long = [], 0, True
        if too_long:
            if end < 0:
                continue
            block = block[end + 1 :]
            line, index, too_long = line + 1, index + 1, False
        last = block.rfind(b"\n") + 1
        if last:
            whole += [*begun, block[:last]]
            whole_size += begun_size + last
            begun, begun_size = [], 0
            block = block[last:]
        begun.append(block)
        begun_size += len(block)
        if whole_size >= size:
            yield cut()
    if not too_long:
        whole += begun
        begun = []
        if any(whole):
            yield cut()
    if problem:
        yield ByteChunk(b"", line, index, problem)


def lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield every line of a text, without the line feed that ends it; nothing else ends a line.

    Raises:
        Unreadable: a line is longer than LONGEST, or packed data is damaged.
        OSError: the text cannot be read.
    """
    last = b""
    for chunk in chunks(pieces, size=1):  # what is before damage comes before its error
        if chunk.problem is not None:
            raise Unreadable(f"{chunk.problem}, at line {chunk.line}")
        *whole, last = chunk.data.split(b"\n")
        yield from whole
    if last:  # not where damage has cut it
        yield last


# ---------------------------------------------------------------------- JSON


def has_too_many_marks(text: Any) -> bool:
    """Whether JSON, text or bytes, whole or what follows a text's end, has too many marks."""

    def number(part: Any) -> int:
        return sum(part.count(mark) for mark in marks)

    def own(sign: str) -> Any:
        return sign if isinstance(text, str) else sign.encode()

    marks = [own(sign) for sign in ",[{"]
    if number(text) <= MOST_MARKS:
        return False
    # Those inside of texts do not count: leave out escapes, then what stands between two quotes.
    bare = text.replace(own("\\\\"), own("")).replace(own('\\"'), own(""))
    if bare.count(own('"')) > 4 * MOST_MARKS:
        return True
    return sum(map(number, bare.split(own('"'))[::2])) > MOST_MARKS


def decoded(text: bytes) -> Any:
    """Return what one JSON text holds.

    Raises:
        ValueError: it is not JSON, or has more than MOST_MARKS marks.
        RecursionError: it is nested too deeply.
    """
    if has_too_many_marks(text):
        raise ValueError(TOO_MANY_MARKS)
    return json.loads(text)


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
        return decoded(text)
    except (ValueError, RecursionError) as problem:
        raise error(f"{path} is not JSON: {problem}") from problem


def read_json_lines(path: Path, error: type[LongBenchError]) -> Iterator[tuple[int, Any]]:
    """Yield the number (from 1) and the value of each line of a file that is not blank.

    Raises:
        LongBenchError: of the type `error`: the file cannot be read to its end, or a line is not
            JSON; names file and line.
    """
    with reading(path, error):
        for number, line in enumerate(lines(blocks(path)), start=1):
            if line and not line.isspace():
                try:
                    value = decoded(line)
                except (ValueError, RecursionError) as problem:
                    where = f"{path}, line {number},"
                    raise error(f"{where} is not JSON: {problem}") from problem
                yield number, value
