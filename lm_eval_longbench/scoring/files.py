"""Find the files under the paths that a user names, and find out what each of them holds.

By its content first, by its name second.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from lm_eval_longbench.benchmarks.base import Benchmark
from lm_eval_longbench.benchmarks.registry import (
    benchmark_of_table,
    benchmarks,
    layouts,
    short_names,
    table_of,
    tables,
)
from lm_eval_longbench.benchmarks.results import Recorded, read_results_file
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.files import (
    ByteChunk,
    Damaged,
    blocks,
    chunks,
    is_packed,
    odd_kind,
    raw_blocks,
    reading,
    user_path,
)
from lm_eval_longbench.metrics.reasoning import DROP
from lm_eval_longbench.records.layouts import LINES, pieces_of
from lm_eval_longbench.records.log import is_log_row, task_in_name
from lm_eval_longbench.records.results import logs_of, results_beside
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
            if name.endswith(_ENDINGS)
            or any(own.may_be(Path(place, name), named=False) for own in layouts().values())
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
        path = Path(os.path.abspath(user_path(given)))
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


# ---------------------------------------------------------------------- what a file holds


_OWN_OUTPUT = frozenset({"table", "task", "id", "repeat", "score", "failed"})
_OWN = "own"
# Files of answers, requests of a batch that are out, and the log.
_OF_RUN = re.compile(
    r"answers_.+\.sqlite(\.lock|-wal|-shm)?|requests_answers_.+\.jsonl"
    r"|run_\d{4}-\d\d-\d\dT[\d.-]+\.log"
)


@dataclass(frozen=True, slots=True)
class Foreign:
    """A file that is none of ours.

    Attributes:
        reason: why it is not scored, to be read after its name.
        quiet: whether it is expected beside predictions, and passed over without a word.
    """

    reason: str
    quiet: bool = False


def of_kind(kind: str) -> list[Benchmark]:
    """Return the benchmarks whose official files are of a kind."""
    return [one for one in benchmarks().values() if one.file_kind == kind]


def _kind_of(row: Any, stem: str) -> str | None:
    """Return the kind of file that a decoded row is of, or None."""
    if is_log_row(row):
        return LOG
    if not isinstance(row, dict):
        return None
    # Later benchmarks have more fields that tell them.
    found = (
        one for one in reversed(tuple(benchmarks().values())) if one.is_official_row(row, stem)
    )
    return next((one.file_kind for one in found), None)


def _kind_by_name(stem: str) -> str | None:
    """Return the kind of file that a name is usual for, or None."""
    for one in benchmarks().values():
        if one.is_official_name(stem):
            return one.file_kind
    return LOG if table_of(task_in_name(stem)) else None


def recognise_log(file: InputFile, row: Any, benchmark: str | None = None) -> Foreign | None:
    """Note what a sample log holds, from its first row; or say why it is none of ours."""
    task = task_in_name(stem_of(file.path)) if file.path else file.name
    told = row["doc"].get("task", task) if is_log_row(row) else task
    table = table_of(told)
    if table is None and file.path is not None:  # its benchmark may stand in the results beside it
        for path in results_beside(file.path):
            with contextlib.suppress(PredictionError):
                read_results_file(path)
        table = table_of(told)
    if table is None:
        whose = f"of the task {told!r}" if told else "that does not say its task"
        known = ", ".join(tables())
        return Foreign(f"is a sample log {whose}; the tasks of {known} are known")
    if benchmark is not None and table.benchmark != short_names()[benchmark].name:
        return Foreign(f"is a sample log of the task {told!r}, which is not of {benchmark}")
    name = row.get("filter") if isinstance(row, dict) else None
    file.kind, file.task = LOG, task if table_of(task) else None
    file.filter = name if isinstance(name, str) else None
    return None


def _chosen(kind: str | None, file: InputFile, stem: str, short: str) -> str | Foreign | None:
    """Return the kind of a file that the user said the benchmark of."""
    own = short_names()[short]
    if kind == LOG:
        return LOG
    if own.file_names == "all" and not own.is_official_name(stem):
        return Foreign(f"is no dataset of {short}")
    known = file.named or kind == own.file_kind or own.is_official_name(stem)
    return own.file_kind if known or own.file_names == "none" else None


def _looked_up(file: InputFile, stem: str) -> tuple[str | None, Any]:
    """Return the kind of a file by its content, with the row that tells; else by its name."""
    is_readable = False
    for row in first_rows(file.place):
        kind = _OWN if isinstance(row, dict) and row.keys() >= _OWN_OUTPUT else _kind_of(row, stem)
        if kind is not None:
            return kind, row
        is_readable = is_readable or isinstance(row, dict)
    return None if is_readable else _kind_by_name(stem), None


def _by_layout(file: InputFile, short: str | None) -> Foreign | None:
    """Note what the file of another program holds, or say why it is not scored."""
    path = file.place
    fitting = [name for name, own in layouts().items() if own.may_be(path, named=file.named)]
    for name in fitting:
        try:
            row = next((own for own in first_rows(path, name) if isinstance(own, dict)), None)
        except PredictionError:  # of another form
            continue
        found = None if row is None else layouts()[name].find(row, path)
        if isinstance(found, str):
            return Foreign(found)
        if found is None:
            continue
        own = benchmark_of_table(found.table)
        if short is not None and own.short != short:
            return Foreign(f"is {layouts()[name].title}, which is not of {short}")
        file.kind, file.layout = own.file_kind, name
        file.table, file.task = found.table, found.task or found.table
        return None
    if file.named or path.suffix not in (".csv", ".json"):
        return None
    # Looked at for its name alone.
    return Foreign("is not recognised as predictions", quiet=path.suffix == ".json")


def recognise(file: InputFile, benchmark: str | None) -> Foreign | None:
    """Note what a file holds, of the benchmark with this short name; None: of any.

    Returns:
        Why it is none of ours; None: it is.

    Raises:
        PredictionError: the file cannot be read.
    """
    path = file.place
    if _OF_RUN.fullmatch(path.name):  # named or not: a shell writes all names of a folder
        return Foreign("is what `run` keeps beside its results, not predictions", quiet=True)
    stem = stem_of(path)
    with reading(path, PredictionError):
        odd = odd_kind(path)
    if odd:
        return Foreign(odd)
    other = _by_layout(file, benchmark)
    if other is not None or file.layout:
        return other
    kind, row = _looked_up(file, stem)
    if kind == _OWN:
        return Foreign("is what this command writes, not predictions", quiet=not file.named)
    official = kind not in (None, LOG) and row and not file.named
    if official and of_kind(str(kind))[0].is_scored_elsewhere(row, stem):
        return Foreign("holds scores of the official evaluation, not answers")
    if benchmark is not None:
        chosen = _chosen(kind, file, stem, benchmark)
        if isinstance(chosen, Foreign):
            return chosen
        kind = chosen
    if kind == LOG:
        return recognise_log(file, row, benchmark)
    if kind is None:
        return Foreign("is not recognised as predictions")
    one = of_kind(kind)[0]
    file.kind = kind
    if one.file_names == "all":
        if not one.is_official_name(stem):
            return Foreign(f"is no dataset of {one.short}")
        file.table, file.task = short_names()[benchmark].name if benchmark else None, stem
        return None
    file.table = one.official_table(row, stem)
    file.task = file.table if file.table in tables()[file.table].tasks else None
    return None


def table_of_folder(kind: str, folder: Path, files: Mapping[str, Path]) -> str:
    """Return the table that a folder's files belong to, of benchmarks whose rows look alike.

    A folder of the official scripts on the way to them decides, the nearest one; then a dataset
    that one benchmark alone has; then the numbers of rows, if all are the official ones of one.

    Args:
        kind: of the files.
        folder: where they are.
        files: by dataset.

    Raises:
        PredictionError: nothing tells.
    """
    known = of_kind(kind)
    for part in reversed(folder.parts):
        for one in known:
            if part == one.official_folder:
                return one.name
    labels = {one.name: {task.label for task in one.tasks.values()} for one in known}
    fitting = [name for name, own in labels.items() if files.keys() <= own]
    if len(fitting) == 1:
        return fitting[0]
    found = {dataset: count_rows(path) for dataset, path in files.items()}
    rows = {one.name: {task.label: task.questions for task in one.tasks.values()} for one in known}
    same = [
        name for name in fitting if all(rows[name][own] == number for own, number in found.items())
    ]
    if len(same) == 1:
        return same[0]
    counts = ", ".join(f"{dataset} {number}" for dataset, number in sorted(found.items()))
    titles = " or of ".join(one.title for one in known)
    raise PredictionError(
        f"{folder} may hold predictions of {titles}: both have these "
        f"datasets, and the numbers of rows ({counts}) do not tell. Say which "
        f"benchmark it is: {' or '.join(one.short for one in known)}."
    )
