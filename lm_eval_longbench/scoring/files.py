"""Find the files under the paths that a user names, and what must be known of each to read it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from lm_eval_longbench.benchmarks.registry import layouts, tables
from lm_eval_longbench.benchmarks.results import Recorded
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.files import (
    ByteChunk,
    Damaged,
    blocks,
    chunks,
    is_packed,
    raw_blocks,
    reading,
)
from lm_eval_longbench.metrics.reasoning import DROP
from lm_eval_longbench.records.layouts import LINES, pieces_of
from lm_eval_longbench.records.results import logs_of
from lm_eval_longbench.records.sample import KnownDocuments, Unusable

_ENDINGS = (".jsonl", ".jsonl.gz")
# Lines that are looked at to find out what a file is.
_LOOKED_AT = 20
LOG = "harness_log"


@dataclass(slots=True)
class InputFile:
    """A file that is read, or the rows of a task in memory.

    Attributes:
        name: relative to the parent of the path that was named, with "/".
        path: where it is; None: in memory.
        named: whether the user named the file itself, not a folder above it.
        kind: LOG, or the `file_kind` of a benchmark; "": not recognised yet.
        table: of all its rows; None: each row says it, or the other files beside it tell.
        task: of all its rows, or of logs whose rows do not say it; before the table is known the
            name of the file; None: unknown.
        filter: LOG: the harness filter of the first row, whose rows count; None: rows name none.
        layout: of `registry.layouts`, for the file of another program; "": none.
        sha256: of the file as it is; None: in memory.
        text_sha256: of its text: equal for a file and its compressed copy.
        size: of its text in bytes.
        recorded: what the results file beside it says; of the file of another program, whose
            answers they are; nothing for other files than logs.
        number: its place in the canonical order of files, from 0.
        run: the place of its run in the canonical order of runs, from 0.
        benchmark: rows of another one are foreign; None: any.
        reasoning: policy for the reasoning in its answers, see `metrics.reasoning`.
        rouge_google: whether Google's ROUGE-L is computed too, for the datasets that have it.
        official: whether answers are written as the official scripts do, too.
        documents: of the questions, where rows do not have them and the data is here.
    """

    name: str
    path: Path | None = None
    named: bool = False
    kind: str = ""
    table: str | None = None
    task: str | None = None
    filter: str | None = None
    layout: str = ""
    sha256: str | None = None
    text_sha256: str = ""
    size: int = 0
    recorded: Recorded = field(default_factory=Recorded)
    number: int = 0
    run: int = 0
    benchmark: str | None = None
    reasoning: str = DROP
    rouge_google: bool = False
    official: bool = False
    documents: KnownDocuments = field(default_factory=dict)

    @property
    def place(self) -> Path:
        """Where it is, of a file."""
        assert self.path is not None
        return self.path


def stem_of(path: Path) -> str:
    """Return a file's name without its ending."""
    name = path.name
    for ending in (*_ENDINGS[::-1], ".gz"):
        if name.endswith(ending):
            return name.removesuffix(ending)
    return path.stem


def _under(folder: Path) -> list[Path]:
    """Return the JSON Lines files, and those that other programs write, at any depth.

    Links are followed, each folder is seen once.
    """
    found, seen = [], set()
    # Kept by `run` between two passes; the log has it all.
    first_passes = (tables()[one.first_pass] for one in tables().values() if one.first_pass)
    passed_over = tuple(f"reasoning_{task}_" for table in first_passes for task in table.tasks)

    def stop(error: OSError) -> None:
        raise PredictionError(f"{error.filename} cannot be read: {error.strerror}.") from error

    for place, folders, files in os.walk(folder, onerror=stop, followlinks=True):
        seen.add(os.path.realpath(place))
        folders[:] = sorted(
            name for name in folders if os.path.realpath(os.path.join(place, name)) not in seen
        )
        found += [
            Path(place, name)
            for name in files
            if (
                name.endswith(_ENDINGS)
                or any(own.may_be(Path(place, name), named=False) for own in layouts().values())
            )
            and not name.startswith(passed_over)
        ]
    return found


def find_files(paths: Iterable[Path]) -> list[InputFile]:
    """Return the files named, and all JSON Lines files in the folders named, sorted by name.

    A results file of the harness stands for the sample logs beside it.

    Raises:
        PredictionError: a path does not exist, or there is no path.
    """
    found: dict[Path, InputFile] = {}
    for given in paths:
        # Not resolved: a link keeps the name it was given under.
        path = Path(os.path.abspath(given.expanduser()))
        named = path.is_file()
        if not named and not path.is_dir():
            raise PredictionError(f"{given} is not a folder or a file with predictions.")
        for file in (logs_of(path) or [path]) if named else _under(path):
            name = file.relative_to(path.parent).as_posix()
            one = found.setdefault(file, InputFile(name, file))  # under two of the paths it is one
            one.name, one.named = min(one.name, name), one.named or named
    return sorted(found.values(), key=lambda one: (one.name, str(one.path)))


def _hashed(pieces: Iterator[bytes]) -> tuple[str, int]:
    """Return the sha256 and the length of pieces, as far as they are sound."""
    digest, size = hashlib.sha256(), 0
    # What is lost to damage is said when the lines are read.
    with contextlib.suppress(Damaged):
        for piece in pieces:
            digest.update(piece)
            size += len(piece)
    return digest.hexdigest(), size


def identify(file: InputFile) -> None:
    """Read a file, and note its hashes and size; PredictionError if it cannot be read."""
    path = file.place
    with reading(path, PredictionError):
        file.sha256, file.size = _hashed(raw_blocks(path))
        file.text_sha256 = file.sha256
        if is_packed(path):
            file.text_sha256, file.size = _hashed(blocks(path))


def chunks_of(path: Path, size: int | None = None, layout: str = "") -> Iterator[ByteChunk]:
    """Yield the lines of a file in order, about `size` bytes at once (half a megabyte).

    The rows of a file of another program, of one of `layouts`, come as JSON Lines.

    Raises:
        PredictionError: the file cannot be read.
    """
    with reading(path, PredictionError):
        form = layouts()[layout].form if layout else LINES
        yield from chunks(pieces_of(form, path), size)


def decoded(line: bytes) -> Any:
    """Return what a line decodes to; Unusable if it is no JSON."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        return Unusable(f"not JSON ({error})")


def rows_of(path: Path, layout: str = "", size: int | None = None) -> Iterator[tuple[int, Any]]:
    """Yield place, from 0, and decoded row of each line; arguments and errors as `chunks_of`."""
    for chunk in chunks_of(path, size, layout):
        for _, index, line in chunk.lines():
            yield index, decoded(line)


def first_rows(path: Path, layout: str = "") -> Iterator[Any]:
    """Yield what the first lines decode to, without those that are blank or not JSON.

    Raises:
        PredictionError: the file cannot be read.
    """
    for _, row in islice(rows_of(path, layout, size=1), _LOOKED_AT):
        if not isinstance(row, Unusable):
            yield row


def count_rows(path: Path) -> int:
    """Return the number of lines that are not blank; PredictionError if it cannot be read."""
    return sum(1 for chunk in chunks_of(path) for _ in chunk.lines())
