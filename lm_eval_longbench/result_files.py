"""Write result files so that a crash or a full disk never leaves half of one."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from lm_eval_longbench.errors import LongBenchError

# Made once: `json.dumps` would make one for every line.
_LINE = json.JSONEncoder(ensure_ascii=False)
_DOCUMENT = json.JSONEncoder(ensure_ascii=False, indent=1, allow_nan=False)
_WITH_NAN = json.JSONEncoder(ensure_ascii=False, indent=1)


def _encoded(value: Any, encoder: json.JSONEncoder) -> bytes:
    """Return JSON in UTF-8; half surrogate pairs, which UTF-8 cannot hold, are escaped."""
    text = encoder.encode(value)
    try:
        return text.encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        return json.dumps(value, indent=encoder.indent).encode("ascii") + b"\n"


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise LongBenchError(
            f"{path} cannot be written: {error}. Give another place, or make room there."
        ) from error


class ResultFile:
    """A file that takes its name only when all of it is written; see `written_together`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._partial = path.with_name(f"{path.name}.partial")
        self._handle: BinaryIO | None = None

    def begin(self) -> None:
        """Open the file under another name; LongBenchError if that cannot be."""
        with _naming(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self.path.is_dir():
                raise IsADirectoryError(f"there is a folder {self.path.name!r}")
            self._handle = self._partial.open("wb")

    def write(self, data: bytes) -> None:
        """Write bytes; LongBenchError if the disk is full."""
        with _naming(self.path):
            assert self._handle is not None
            self._handle.write(data)

    def add(self, row: Mapping[str, Any]) -> None:
        """Write one object as a line."""
        self.write(_encoded(row, _LINE))

    def document(self, value: Any, *, nan: bool = False) -> None:
        """Write one JSON document, indented; ValueError for NaN, unless `nan` allows it."""
        self.write(_encoded(value, _WITH_NAN if nan else _DOCUMENT))

    def end(self) -> None:
        """Put all of it on the disk; LongBenchError if the disk is full."""
        if self._handle is not None:
            with _naming(self.path):
                self._handle.close()

    def appear(self) -> None:
        """Take the name, in place of an earlier file."""
        with _naming(self.path):
            self._partial.replace(self.path)

    def discard(self) -> None:
        """Leave nothing behind but what has taken its name."""
        with contextlib.suppress(OSError):
            if self._handle is not None:
                self._handle.close()
        with contextlib.suppress(OSError):
            self._partial.unlink(missing_ok=True)


@contextlib.contextmanager
def written_together(paths: Sequence[Path]) -> Iterator[list[ResultFile]]:
    """Yield files to write to; when the block has ended and all are written, they get their names.

    Raises:
        LongBenchError: a file cannot be written; earlier files of those names are untouched.
    """
    files = [ResultFile(path) for path in paths]
    try:
        for file in files:
            file.begin()
        yield files
        for file in files:
            file.end()
        for file in files:
            file.appear()
    finally:
        for file in files:
            file.discard()


@contextlib.contextmanager
def json_lines(path: Path) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Yield a function that adds one object a line; the file appears when the block has ended.

    Raises:
        LongBenchError: the file cannot be written; an earlier file of that name is untouched.
    """
    with written_together([path]) as (file,):
        yield file.add


def output_folder(output_path: str | Path) -> Path:
    """Return the folder that a run's results go to; --output_path may name a file in it."""
    path = Path(output_path)
    return path.parent if path.suffix == ".json" else path
