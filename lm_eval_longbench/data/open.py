"""Open the documents of a task: the pinned file's, those of a user's own files, or the sample's."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tqdm import tqdm

from lm_eval_longbench.catalog.model import Task
from lm_eval_longbench.console import escaped_line, first_time
from lm_eval_longbench.data.convert import (
    CONTEXT_SHA256,
    ROWS,
    MappedRows,
    cache_folder,
    counts_in,
    is_whole,
    rows_of,
    write,
)
from lm_eval_longbench.data.fetch import THREE_WAYS, fetch, found_file
from lm_eval_longbench.data.rows import (
    HasData,
    array_items,
    checked_rows,
    find_member,
    member_lines,
)
from lm_eval_longbench.errors import DataError, few
from lm_eval_longbench.files import (
    blocks,
    decoded_lines,
    lines,
    read_json_lines,
    reading,
    sha256_of,
    user_path,
)

logger = logging.getLogger(__name__)
# The value of the option data_dir that stands for the embedded sample.
SAMPLE = "sample"
# The converted file of an array that is not split.
_ALL = "questions"
# Differing counts that a message names.
_SHOWN = 8


# ---------------------------------------------------------------------- documents


@dataclass(frozen=True)
class Documents:
    """The documents of one dataset and where they come from.

    Attributes:
        rows: one row a document, official fields, memory-mapped.
        label: names the data in results: the pinned repository and revision, "local-<hash>" or
            "sample-<hash>".
        sha256: of the file or archive the rows were read from.
        official: whether this is the pinned official set.
        context_sha256: of each row's `context`, in hexadecimal digits; None where that is empty.
            Questions that share a document share it.
        given: row numbers of the questions that are asked; None: all.
        whole: of those that all shards together ask; None: all.
        shard: which this is, and how many questions they have together; None: there are none.
    """

    rows: MappedRows
    label: str
    sha256: str
    official: bool
    context_sha256: Sequence[str | None]
    given: Sequence[int] | None = None
    whole: Sequence[int] | None = None
    shard: str | None = None

    @property
    def asked(self) -> Sequence[int]:
        """The row numbers of the questions that are asked, in order."""
        return range(len(self.rows)) if self.given is None else self.given

    @cached_property
    def ids(self) -> list[str]:
        """The id of each row's question."""
        name = "_id" if "_id" in self.rows.schema.names else "id"
        return [str(own) for own in self.rows[name][:]]

    def ids_of_all(self) -> list[str]:
        """Return the ids of the questions that all shards together ask, in order."""
        return [self.ids[index] for index in (self.whole or self.asked)]

    @property
    def shared(self) -> float:
        """The share of all text, from 0 to 1, that stands in documents of earlier questions."""
        lengths = self.rows.lengths("context")
        once = dict(zip(self.context_sha256, lengths, strict=True))
        return 1 - sum(once.values()) / sum(lengths) if any(lengths) else 0.0


# ---------------------------------------------------------------------- opening


def load(benchmark: HasData, task: Task, data_dir: str | None) -> Documents:
    """Return the documents of a task, in the order of their file.

    The first call for a file converts it, an array for all tasks; later ones only map its rows. A
    choice of the pinned file's questions is official, as the whole is.

    Args:
        benchmark: whose data it is.
        task: one of its tasks.
        data_dir: None: the pinned official file; "sample": the embedded sample; else a folder with
            a file of the official name, or with `<dataset>.jsonl` files where officially those are
            in an archive; or a file laid out as the official one, by any name.

    Raises:
        DataError: the data is not there, damaged, or (pinned) is not what is pinned, or there are
            no such questions.
    """
    pinned, file = benchmark.source, _file(benchmark, task, data_dir)
    digest = pinned.sha256
    if file is not None:
        with reading(file, DataError):
            digest = sha256_of(file)
    official = digest == pinned.sha256
    is_array, parts = pinned.file.endswith(".json"), _parts(benchmark)
    name = task.dataset if parts or not is_array else _ALL
    # An array is converted for all of its tasks, a dataset by itself.
    folder = cache_folder(benchmark, digest, "" if is_array else task.dataset)

    def fill(partial: Path) -> None:
        source = file or fetch(pinned, benchmark.prepared_as if benchmark.is_prepared else "")
        rows = _array(benchmark, source) if is_array else _lines(benchmark, task, source)
        counts = write(partial, benchmark, parts.values() or [name], rows)
        expected = benchmark.counts if is_array else {ROWS: {name: task.questions}}
        is_counted = is_array or task.questions
        found = differences(counts, expected) if official and is_counted else []
        if found:
            several = few(found, _SHOWN, "; ")
            raise DataError(f"{source} is not the official set: {several}. Nothing was kept.")
        if not any(counts[ROWS].values()):
            raise DataError(f"{source} holds no questions.")
        # Read after it was hashed: the label must not lie.
        if sha256_of(source) != digest:
            raise DataError(f"{source} was changed while it was read. Run again.")

    own = None if data_dir == SAMPLE or official or not pinned.sha256 else file
    rows = rows_of(folder, name, fill)
    if own is not None:  # an array's values are counted when it is converted
        _warn(benchmark, task, own, digest, counts_in(folder))
    kind = SAMPLE if data_dir == SAMPLE else "local"
    label = pinned.label if official else f"{kind}-{digest[:12]}"
    if task.where and not parts:
        rows = rows.select([n for n, value in enumerate(rows[task.where]) if value == task.label])
    if not rows:
        raise DataError(f"{file or pinned.file} holds no questions of {task.label!r}.")
    texts = rows.without(CONTEXT_SHA256)
    return Documents(texts, label, digest, official, rows[CONTEXT_SHA256])


def _file(benchmark: HasData, task: Task, data_dir: str | None) -> Path | None:
    """Return the file of a task in what `data_dir` names; None: the pinned one, wherever it is."""
    if data_dir is None:
        return None
    place = benchmark.samples if data_dir == SAMPLE else user_path(data_dir)
    if place.exists() and not place.is_dir():
        return place
    official, own = benchmark.source.file, f"{task.dataset}.jsonl"
    names = (official,) if official.endswith(".json") else (official, own, f"data/{own}")
    for name in names:
        if (place / name).is_file():
            return place / name
    problem = f"has no {' and no '.join(names)}" if place.exists() else "does not exist"
    raise DataError(f"data_dir {str(place)!r} {problem}. {THREE_WAYS}")


def _parts(benchmark: HasData) -> dict[str, str]:
    """Return the files that an array is split into, by the value that their rows have."""
    split, tasks = benchmark.split_by, benchmark.tasks.values()
    return {task.label: task.dataset for task in tasks if split and task.where == split}


def _array(benchmark: HasData, source: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of an array, each with the name of its converted file."""
    parts, name = _parts(benchmark), escaped_line(f"converting {source.name}")
    size = source.stat().st_size
    # On a terminal only, and only if it takes longer than a second.
    with tqdm(total=size, desc=name, unit="B", unit_scale=True, disable=None, delay=1) as bar:
        found = enumerate(array_items(source, bar.update), start=1)
        for row in checked_rows(found, f"{source}, element", benchmark):
            yield parts[row[benchmark.split_by]] if parts else _ALL, row


def _lines(benchmark: HasData, task: Task, source: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of a dataset with its name: a file's own, or those of a member."""
    name, where = f"{task.dataset}.jsonl", str(source)
    if name == source.name or benchmark.source.file.endswith(".jsonl"):
        found = read_json_lines(source, DataError)
    else:
        member = find_member(source, (f"data/{name}", name))
        if member is None:
            raise DataError(f"{source} has no member data/{name}. {THREE_WAYS}")
        where = f"{where}, member {member}"
        found = decoded_lines(member_lines(source, member), where, DataError)
    for row in checked_rows(found, f"{where}, line", benchmark):
        yield task.dataset, row


Counts = Mapping[str, Mapping[str, int]]


def differences(counts: Counts, official: Counts) -> list[str]:
    """Return one phrase for each count that is not the official one; empty if all are."""
    here, expected = (sum(next(iter(own.values())).values()) for own in (counts, official))
    found = [f"{here} questions instead of {expected}"] if here != expected else []
    return found + [
        f"{dimension} {value!r} {counts[dimension][value]} instead of {number}"
        for dimension, values in official.items()
        for value, number in values.items()
        if counts[dimension][value] != number
    ]


def _warn(benchmark: HasData, task: Task, file: Path, digest: str, counts: Counts) -> None:
    """Say once of a user's own file, or folder of files, what tells it from the official set."""
    of_folder = file.name == f"{task.dataset}.jsonl"
    place = file.parent if of_folder else file
    if not first_time(f"data_dir {place} {benchmark.name if of_folder else ''}"):
        return
    label = "local-<hash of the file>" if of_folder else f"local-{digest[:12]}"
    what = f"is not the pinned official file: sha256 {digest} instead of {benchmark.source.sha256}"
    expected = benchmark.counts
    if of_folder:
        what = "is a folder of files, which have no pinned hash"
        files = {one: place / f"{one.dataset}.jsonl" for one in benchmark.tasks.values()}
        there = {one.dataset: (one, own) for one, own in files.items() if own.is_file()}
        expected = {ROWS: {name: one.questions for name, (one, _) in there.items()}}
        counts = {ROWS: {name: _number(own) for name, (_, own) in there.items()}}
    if expected:
        found = few(differences(counts, expected), _SHOWN, "; ")
        what += f"; {found or 'all counts are the official ones'}"
    logger.warning(f"data_dir {place} {what}. Results are marked 'data: {label}'.")


def _number(file: Path) -> int:
    with reading(file, DataError):
        return sum(1 for line in lines(blocks(file)) if line.strip())


# ---------------------------------------------------------------------- what is here

CONVERTED, DOWNLOADED = "converted", "downloaded"
DAMAGED, MISSING = "damaged", "missing"


@dataclass(frozen=True)
class Stored:
    """How a benchmark's pinned file is kept here.

    Attributes:
        state: CONVERTED, DOWNLOADED (converted by the first run), DAMAGED or MISSING.
        place: its folder or file; None if it is missing.
        sha256: of a damaged file; else the pinned one.
    """

    state: str
    place: Path | None
    sha256: str


def stored(members: Sequence[HasData], names: Sequence[str] | None = None) -> Stored:
    """Find the pinned file that some benchmarks share, without a download.

    `names` are datasets, where each is converted by itself; None: all of them.
    """
    source, folder = members[0].source, cache_folder(members[0], members[0].source.sha256)
    parts = [folder]
    if not source.file.endswith(".json"):
        known = (task.dataset for one in members for task in one.tasks.values())
        parts = [folder / name for name in (known if names is None else names)]
    if all(map(is_whole, parts)):
        return Stored(CONVERTED, folder, source.sha256)
    file = found_file(source)
    if file is None:
        return Stored(MISSING, None, source.sha256)
    found = sha256_of(file)
    return Stored(DOWNLOADED if found == source.sha256 else DAMAGED, file, found)
