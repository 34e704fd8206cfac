"""Cut files into pieces of whole lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lm_eval_longbench.offline.open_text import BLOCK, Damaged, blocks

# No question with its document is near this long: a longer line is damage.
LONGEST_LINE = 1 << 28


@dataclass(frozen=True, slots=True)
class Chunk:
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


def chunks(path: Path, size: int | None = None) -> Iterator[Chunk]:
    """Yield the lines of a file in order, about `size` bytes at once (half a megabyte).

    What is wrong with the file as a whole (damaged compression, a line without end) comes as a
    chunk of its own that holds no line.

    Raises:
        PredictionError: the file cannot be read.
    """
    size = BLOCK if size is None else size
    line, index = 1, 0
    parts: list[bytes] = []
    length, has_end, too_long = 0, False, False
    problem = None

    def cut(data: bytes) -> Chunk:
        nonlocal line, index
        chunk = Chunk(data, line, index)
        line += data.count(b"\n")
        index += _rows(data)
        return chunk

    pieces = blocks(path)
    while True:
        try:
            block = next(pieces)
        except StopIteration:
            break
        except Damaged as error:
            problem = str(error)
            break
        if too_long:
            # Pass over the rest of the line; it counts as one.
            _, end, block = block.partition(b"\n")
            if not end:
                continue
            line, index, too_long = line + 1, index + 1, False
        parts.append(block)
        length += len(block)
        has_end = has_end or b"\n" in block
        if has_end and length >= size:
            whole, _, rest = b"".join(parts).rpartition(b"\n")
            yield cut(whole + b"\n")
            parts, length, has_end = [rest], len(rest), False
        elif length > LONGEST_LINE:
            yield Chunk(b"", line, index, f"the line is longer than {LONGEST_LINE} bytes")
            parts, length, too_long = [], 0, True
    if length:
        yield cut(b"".join(parts))
    if problem:
        yield Chunk(b"", line, index, problem)
