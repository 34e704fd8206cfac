"""Scored samples on disk: sorted, and in memory only a few at a time; and question by question."""

from __future__ import annotations

import contextlib
import functools
import json
import math
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from lm_eval_longbench.answers.answer import is_capped
from lm_eval_longbench.benchmarks.base import Table
from lm_eval_longbench.benchmarks.registry import table_number, tables, task_number
from lm_eval_longbench.benchmarks.sample import Sample, Scored, failure_of, shown_of
from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.scoring.files import PredictionSource

_KEY = ("tab", "task", "place", "id", "run", "repeat", "source", "line")
_VALUES = (
    *("gold", "score", "failed", "truncated", "reasoned", "shown", "content"),
    *("capped", "failure", "official"),
)
_COLUMNS = (*_KEY, *_VALUES)
# A table sorted by its key: rows come mostly in that order, and are never sorted again.
_CREATE = f"""
CREATE TABLE samples (
  {", ".join(f"{name} INTEGER NOT NULL" for name in _KEY if name != "id")}, id BLOB NOT NULL,
  gold BLOB NOT NULL, score REAL, failed INTEGER NOT NULL, truncated INTEGER,
  reasoned INTEGER NOT NULL, shown TEXT NOT NULL, content BLOB,
  capped INTEGER, failure TEXT, official TEXT,
  PRIMARY KEY ({", ".join(_KEY)})
) WITHOUT ROWID;
CREATE TABLE summaries (
  {", ".join(f"{name} INTEGER NOT NULL" for name in _KEY if name != "id")}, id BLOB NOT NULL,
  other INTEGER NOT NULL, text BLOB NOT NULL, refs TEXT NOT NULL,
  PRIMARY KEY ({", ".join(_KEY)}, other)
) WITHOUT ROWID;
"""
# The file is thrown away whatever happens: nothing in it must survive a crash.
_SETTINGS = (
    "PRAGMA journal_mode=OFF",
    "PRAGMA synchronous=OFF",
    "PRAGMA locking_mode=EXCLUSIVE",
    "PRAGMA cache_size=-32768",
)
_INSERT = f"INSERT INTO samples ({', '.join(_COLUMNS)}) VALUES ({','.join('?' * len(_COLUMNS))})"
_INSERT_SUMMARY = (
    f"INSERT INTO summaries ({', '.join(_KEY)}, other, text, refs) VALUES ({','.join('?' * 11)})"
)
_UPDATE = "UPDATE samples SET score = ?, failed = ?, shown = ? WHERE " + " AND ".join(
    f"{name} = ?" for name in _KEY
)
_ORDERED = f"SELECT {', '.join(_COLUMNS)} FROM samples ORDER BY {', '.join(_KEY)}"
# CROSS JOIN: the summaries lead, for the samples change between two batches.
_SUMMARIES = f"""
SELECT {", ".join(f"s.{name}" for name in _COLUMNS)}, other, text, refs
FROM summaries CROSS JOIN samples s USING ({", ".join(_KEY)})
ORDER BY {", ".join(f"summaries.{name}" for name in _KEY)}, other
"""
# Where else a question's id is, of ids that are at several places of a task.
_AGAIN = f"""
SELECT {", ".join(f"s.{name}" for name in _COLUMNS)}, f.place
FROM samples s JOIN (
  SELECT tab, task, id, MIN(place) AS place FROM samples WHERE tab = ?
  GROUP BY tab, task, id HAVING MIN(place) < MAX(place)
) f USING (tab, task, id)
WHERE s.place > f.place ORDER BY {", ".join(f"s.{name}" for name in _KEY)}
"""
_FIRST = f"""
SELECT {", ".join(_COLUMNS)} FROM samples
WHERE tab = ? AND task = ? AND place = ? AND id = ? ORDER BY {", ".join(_KEY)} LIMIT 1
"""
_DELETE = "DELETE FROM samples WHERE " + " AND ".join(f"{name} = ?" for name in _KEY)
# Questions of each task, those with content, and distinct contents.
_CONTENTS = """
SELECT task, COUNT(*), COUNT(content), COUNT(DISTINCT content) FROM (
  SELECT tab, task, place, id, MIN(content) AS content FROM samples WHERE tab = ?
  GROUP BY tab, task, place, id
) GROUP BY task ORDER BY task
"""
# Rows fetched at once.
_FETCH = 1000


class Row(NamedTuple):
    """A sample in the store. The first eight fields are its key, which sorts it.

    Attributes:
        table, task: their numbers in the registry.
        place: see `Sample.order`.
        id: of the question, UTF-8; half surrogate pairs, which JSON can spell, pass.
        run, repeat: the run's number and the answer's number in it.
        source, line: where it was read.
        gold: hash of the gold data and the dimensions: equal for all answers to one question.
        reasoned: whether the answer holds reasoning; then `shown` has what it is worth otherwise.
        score, failed, truncated, capped: as in the output, truth values as 0 and 1.
        shown: JSON of the other output fields.
        content: see `Sample.content`.
        failure: why it failed, or may still turn out to have failed; None: not known.
        official: JSON of its row in an official file; None: none is wanted, or there is none.
    """

    table: int
    task: int
    place: int
    id: bytes
    run: int
    repeat: int
    source: int
    line: int
    gold: bytes
    score: float | None
    failed: int
    truncated: int | None
    reasoned: int
    shown: str
    content: bytes | None = None
    capped: int | None = None
    failure: str | None = None
    official: str | None = None


def text_bytes(text: str) -> bytes:
    """Return a text as UTF-8; half surrogate pairs pass."""
    return text.encode("utf-8", "surrogatepass")


def text_of(data: bytes) -> str:
    """Return the text that `text_bytes` encoded."""
    return data.decode("utf-8", "surrogatepass")


# A row, whether it is about what the row is worth under the other policy for reasoning, the text to
# compare, and its references.
Summary = tuple[Row, bool, str, list[str]]


def gold_hash(sample: Sample) -> bytes:
    """Return eight bytes that differ where gold data or dimensions do."""
    parts = (*sample.golds, *(sample.classes or ()), *map(str, sample.shown.values()))
    return blake2b(text_bytes("\0".join(parts)), digest_size=8).digest()


def store_row(sample: Sample, scored: Scored, source: PredictionSource, line: int) -> Row:
    """Return a scored sample as it is stored; ValueError for NaN, which SQLite stores as none."""
    if scored.score is not None and math.isnan(scored.score):
        raise ValueError(f"{source.name}, line {line}: the score of {sample.task} is NaN.")
    capped = is_capped(sample.reply)
    return Row(
        table_number(sample.table),
        task_number(sample.table, sample.task),
        sample.order,
        text_bytes(sample.id),
        source.run,
        sample.repeat,
        source.number,
        line,
        gold_hash(sample),
        scored.score,
        int(scored.failed),
        None if sample.truncated is None else int(sample.truncated),
        int(scored.other is not None),
        # Not in the hash above: some logs of a question know its document, others do not.
        json.dumps(shown_of(sample, scored, source.reasoning)),
        sample.content,
        None if capped is None else int(capped),
        failure_of(sample, scored),
    )


class Store:
    """Rows under unique keys, in the order of the keys. Open it with `open_store`."""

    def __init__(self, connection: sqlite3.Connection, where: str) -> None:
        self._connection = connection
        self._where = where
        with self._failing():
            for setting in _SETTINGS:
                connection.execute(setting)
            connection.executescript(_CREATE)
            connection.execute("BEGIN")

    @contextlib.contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise LongBenchError(
                f"{self._where}, where scored samples are sorted, cannot be used: {error}. Free "
                "some space on that disk (a million samples take about half a gigabyte), or choose "
                "another output folder."
            ) from error

    def add(self, rows: Iterable[Row], summaries: Iterable[Summary] = ()) -> None:
        """Add rows, and of those that wait for their semantic similarity the texts to compare.

        Raises:
            LongBenchError: the disk is full or fails.
        """
        with self._failing():
            self._connection.executemany(_INSERT, rows)
            self._connection.executemany(
                _INSERT_SUMMARY,
                (
                    (
                        *row[: len(_KEY)],
                        other,
                        text.encode("utf-8", "surrogatepass"),
                        json.dumps(golds),
                    )
                    for row, other, text, golds in summaries
                ),
            )

    def rows(self) -> Iterator[Row]:
        """Yield all rows in the order of their keys."""
        with self._failing():
            cursor = self._connection.execute(_ORDERED)
            while found := cursor.fetchmany(_FETCH):
                yield from map(Row._make, found)

    def summaries(self, number: int) -> Iterator[list[Summary]]:
        """Yield the rows that wait for their similarity, `number` at a time, in order."""
        with self._failing():
            cursor = self._connection.execute(_SUMMARIES)
            while found := cursor.fetchmany(number):
                yield [
                    (
                        Row._make(line[: len(_COLUMNS)]),
                        bool(line[-3]),
                        line[-2].decode("utf-8", "surrogatepass"),
                        json.loads(line[-1]),
                    )
                    for line in found
                ]

    def change(self, rows: Sequence[Row]) -> None:
        """Give rows that are in the store another score, failure and output fields."""
        with self._failing():
            self._connection.executemany(
                _UPDATE, ((row.score, row.failed, row.shown, *row[: len(_KEY)]) for row in rows)
            )

    def take_repeated_ids(self, table: int) -> list[tuple[Row, Row]]:
        """Remove the rows whose question's id stands at an earlier place of its task already.

        Returns:
            Each of them with the first row of that id.
        """
        with self._failing():
            found = self._connection.execute(_AGAIN, (table,)).fetchall()
            pairs = []
            for line in found:
                row = Row._make(line[:-1])
                key = (row.table, row.task, line[-1], row.id)
                first = self._connection.execute(_FIRST, key).fetchone()
                pairs.append((row, Row._make(first)))
            self._connection.executemany(_DELETE, (row[: len(_KEY)] for row, _ in pairs))
        return pairs

    def copies(self, table: int) -> dict[int, int | None]:
        """Return how many questions of each task are one that is there already.

        None of a task with a question of which it is not known.
        """
        with self._failing():
            found = self._connection.execute(_CONTENTS, (table,)).fetchall()
        return {
            task: known - distinct if known == questions else None
            for task, questions, known, distinct in found
        }


@contextlib.contextmanager
def open_store(folder: Path | None) -> Iterator[Store]:
    """Yield an empty store, in a temporary file of a folder that is made; None: in memory.

    Raises:
        LongBenchError: the folder cannot be written to.
    """
    if folder is None:
        with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
            yield Store(connection, "memory")
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Beside the output: whoever has space for the one has it for the other.
        place = tempfile.TemporaryDirectory(dir=folder, prefix=".scoring-")
    except OSError as error:
        raise LongBenchError(f"{folder} cannot be written: {error}") from error
    with place as name:
        file = Path(name, "samples.sqlite")
        with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as connection:
            yield Store(connection, str(folder))


@dataclass(slots=True)
class Question:
    """All answers to one question.

    Attributes:
        table: its table.
        task: name of its task.
        id: its id.
        rows: by repeat, ascending.
        duplicates: rows of a repeat that is there already, with the row that counts.
        conflicts: rows of other gold data or dimensions than the first, with that one.
    """

    table: Table
    task: str
    id: str
    rows: dict[int, Row] = field(default_factory=dict)
    duplicates: list[tuple[Row, Row]] = field(default_factory=list)
    conflicts: list[tuple[Row, Row]] = field(default_factory=list)


def _runs(question: Question, rows: Sequence[Row]) -> Iterator[dict[int, Row]]:
    """Yield the rows of each run by their number in it; the others go into the question's lists."""
    for _, own in groupby(rows, key=attrgetter("run")):
        run: dict[int, Row] = {}
        for row in own:
            if row.gold != rows[0].gold:
                question.conflicts.append((row, rows[0]))
            elif row.repeat in run:
                question.duplicates.append((row, run[row.repeat]))
            else:
                run[row.repeat] = row
        if run:
            yield run


@functools.cache
def _of_numbers(table: int, task: int) -> tuple[Table, str]:
    """Return the table and the name of the task that have these numbers."""
    own = tuple(tables().values())[table]
    return own, tuple(own.tasks)[task]


def _question(rows: Sequence[Row]) -> Question:
    """Return the question that rows, all of one, are answers to."""
    first = rows[0]
    own = Question(*_of_numbers(first.table, first.task), text_of(first.id))
    if len(rows) == 1:
        own.rows[first.repeat] = first
        return own
    for run in _runs(own, rows):
        # Shards of one inference, and what was asked again, fill the gaps of a run; a further run
        # of the same question goes on behind it.
        after = 0 if own.rows.keys().isdisjoint(run) else max(own.rows)
        own.rows |= {after + repeat: row for repeat, row in run.items()}
    own.rows = dict(sorted(own.rows.items()))
    return own


def questions(rows: Iterable[Row]) -> Iterator[Question]:
    """Yield each question with its answers.

    Within a run an answer has its number there. Of several runs of a question, the first in
    canonical order keeps its numbers; a later one does too where they are free, else its answers
    are numbered on from the highest so far.

    Args:
        rows: in the order of their keys.
    """
    key: tuple[object, ...] = ()
    own: list[Row] = []
    for row in rows:
        if row[:4] != key:
            if own:
                yield _question(own)
            key, own = row[:4], []
        own.append(row)
    if own:
        yield _question(own)
