"""Look at all stored samples before anything is written: duplicates, repeats, missing questions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from lm_eval_longbench.offline.gather import Gathered
from lm_eval_longbench.offline.problems import entry
from lm_eval_longbench.offline.questions import questions
from lm_eval_longbench.offline.score_tables import TABLES
from lm_eval_longbench.offline.scored import Row, text_of
from lm_eval_longbench.offline.store import Store
from lm_eval_longbench.protocol import MOST_COPIES

# Tables in which the place of a question tells it from others, besides its id.
_PLACED = ("longbench_v1", "longbench_v1_e")


@dataclass(slots=True)
class Scan:
    """What must be known of all samples before the first is written.

    Attributes:
        repeats: highest number of an answer, by table, for every table that is written.
        questions: by task.
        duplicates: samples left out, by task.
        runs: numbers of the runs that a table's answers are from.
        copies: questions that are one that is there already, by task; None: not known.
    """

    repeats: dict[str, int] = field(default_factory=dict)
    questions: Counter[str] = field(default_factory=Counter)
    duplicates: Counter[str] = field(default_factory=Counter)
    runs: dict[str, set[int]] = field(default_factory=dict)
    copies: dict[str, int | None] = field(default_factory=dict)

    @property
    def tables(self) -> list[str]:
        """Names of the tables that are written, in order."""
        return [name for name in TABLES if name in self.repeats]


def _left_out(gathered: Gathered, scan: Scan, task: str, id: str, row: Row, first: Row) -> None:
    """Name a sample whose key another one has."""
    scan.duplicates[task] += 1
    place = f"{gathered.sources[first.source].name}, line {first.line}"
    gathered.problems.add(
        "duplicate",
        entry(
            gathered.sources[row.source].name,
            row.line,
            f"{task}, question {id!r}, answer {row.repeat} is on {place}, already",
        ),
    )


def _missing(gathered: Gathered, scan: Scan) -> None:
    """Name the tasks that lack official questions."""
    for name in scan.tables:
        if not gathered.labels.official(name):
            continue
        for task, info in TABLES[name].tasks.items():
            missing = info.questions - scan.questions[task]
            if missing > 0:
                gathered.problems.add(
                    "missing",
                    {
                        "table": name,
                        "task": task,
                        "questions": scan.questions[task],
                        "official_questions": info.questions,
                    },
                    number=missing,
                )


def _copied(store: Store, gathered: Gathered, scan: Scan) -> None:
    """Count the questions that are there twice, and name the tasks that official ones cannot be."""
    for name in scan.tables:
        tasks = tuple(TABLES[name].tasks)
        for number, copies in store.copies(TABLES[name].number).items():
            task = tasks[number]
            scan.copies[task] = copies
            if gathered.labels.official(name) and (copies or 0) > MOST_COPIES:
                gathered.problems.add(
                    "copied",
                    {
                        "table": name,
                        "task": task,
                        "questions": scan.questions[task],
                        "copies": copies,
                    },
                )


def scan_store(store: Store, gathered: Gathered) -> Scan:
    """Return what was found; duplicates, conflicts and missing questions become problems.

    Args:
        store: with all samples.
        gathered: gets the problems.
    """
    scan = Scan()
    for source in gathered.sources:
        if source.table is not None:
            scan.repeats[source.table] = 1
    for name in _PLACED:
        # Local data may use an id twice, and its place tells; official ids are distinct.
        if gathered.labels.official(name):
            for row, first in store.take_repeated_ids(TABLES[name].number):
                task = tuple(TABLES[name].tasks)[row.task]
                _left_out(gathered, scan, task, text_of(row.id), row, first)
    for question in questions(store.rows()):
        table = question.table.name
        scan.questions[question.task] += 1
        scan.repeats[table] = max(scan.repeats.get(table, 1), max(question.rows))
        scan.runs.setdefault(table, set()).update(row.run for row in question.rows.values())
        for row, first in question.duplicates:
            _left_out(gathered, scan, question.task, question.id, row, first)
        for row, first in question.conflicts:
            place = f"{gathered.sources[first.source].name}, line {first.line}"
            gathered.problems.add(
                "foreign",
                entry(
                    gathered.sources[row.source].name,
                    row.line,
                    f"has other gold answers or dimensions for {question.task}, question "
                    f"{question.id!r}, than {place}",
                ),
            )
    _missing(gathered, scan)
    _copied(store, gathered, scan)
    return scan
