"""Put the stored samples of each question together, and number its answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter

from lm_eval_longbench.offline.score_tables import TABLES, TableInfo
from lm_eval_longbench.offline.scored import Row, text_of

_TABLES = tuple(TABLES.values())
_TASKS = {table.name: tuple(table.tasks) for table in _TABLES}


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

    table: TableInfo
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


def _question(rows: Sequence[Row]) -> Question:
    """Return the question that rows, all of one, are answers to."""
    first = rows[0]
    table = _TABLES[first.table]
    own = Question(table, _TASKS[table.name][first.task], text_of(first.id))
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
