"""Look at all stored samples before anything is written: their data, duplicates, repeats, gaps."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from lm_eval_longbench.benchmarks.base import MOST_REPEATS
from lm_eval_longbench.benchmarks.registry import benchmark_of_table, table_number, tables
from lm_eval_longbench.benchmarks.sample import MALFORMED
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.metrics.reasoning import DROP, KEEP
from lm_eval_longbench.protocol import MOST_COPIES
from lm_eval_longbench.scoring.files import LOG, PredictionSource
from lm_eval_longbench.scoring.problems import KINDS, Problems, entry
from lm_eval_longbench.scoring.score_chunk import Outcome
from lm_eval_longbench.scoring.store import Row, Store, questions, text_of

# Repository and revision.
_OFFICIAL = re.compile(r"[\w.-]+/[\w.-]+@[0-9a-f]{7,40}")
# Where each dataset is a file, each has a hash of its own.
_HASH = re.compile(r"^(sample|local)-[0-9a-f]+")
# What follows says which questions were asked, of the same data.
_SELECTION = " (only "

# A file by each label that it gives its data; None: it does not say.
_Files = dict[str | None, str]


def _data(label: str | None) -> str | None:
    """Return a label without what it says about a selection of questions."""
    return None if label is None else label.partition(_SELECTION)[0]


def _kind(label: str | None) -> str | None:
    data = _data(label)
    return None if data is None else _HASH.sub(r"\1", data)


def is_official(label: str | None) -> bool:
    """Whether a label stands for the pinned official data, or for some of its questions."""
    data = _data(label)
    return data is not None and _OFFICIAL.fullmatch(data) is not None


class Labels:
    """The data that questions are of, with a file that says so."""

    def __init__(self) -> None:
        # By table, then by task; and the official files by table.
        self._logs: dict[str, dict[str, _Files]] = defaultdict(lambda: defaultdict(dict))
        self._files: dict[str, str] = {}

    def add(self, table: int, task: int, label: str | None, source: PredictionSource) -> None:
        """Note that a file has questions of a task.

        Args:
            table, task: their numbers.
            label: of the data; None: the file does not say.
            source: the file.
        """
        own = tuple(tables().values())[table]
        name = own.name
        if source.kind == LOG:
            self._logs[name][tuple(own.tasks)[task]].setdefault(label, source.name)
        else:
            self._files.setdefault(name, source.name)

    def _all(self, table: str) -> set[str | None]:
        return {label for files in self._logs.get(table, {}).values() for label in files}

    def of(self, table: str) -> list[str]:
        """Return the labels of a table's data, sorted; official files have none."""
        return sorted(label for label in self._all(table) if label is not None)

    def official(self, table: str) -> bool:
        """Whether a table's questions are known to be official ones: prediction files' are."""
        return all(map(is_official, self._all(table)))

    def check(self) -> None:
        """Refuse what must not be merged.

        Raises:
            PredictionError: the inputs of a task are of different data, those of a table of
                different kinds of data, or they number their questions in different ways. Names
                both.
        """
        for table in tables():
            logs = sorted(self._logs.get(table, {}).items())
            for task, files in logs:
                _check(task, _first_by(_data, files.items()))
            kinds = _first_by(_kind, (own for _, files in logs for own in files.items()))
            _check(table, kinds, self._files.get(table))
            if benchmark_of_table(table).ids_may_be_lines and kinds and table in self._files:
                raise PredictionError(
                    f"{table}: prediction files name a question by its line "
                    f"({self._files[table]}), sample logs by its id "
                    f"({min(kinds.values())}), so they cannot be merged. Score them apart."
                )


def _first_by(
    what: Callable[[str | None], str | None], files: Iterable[tuple[str | None, str]]
) -> _Files:
    """Return the first label, with its file, of each thing that labels stand for."""
    found: dict[str | None, tuple[str | None, str]] = {}
    for label, file in files:
        found.setdefault(what(label), (label, file))
    return dict(found.values())


def _check(name: str, files: _Files, official: str | None = None) -> None:
    """Refuse different labels, and other ones than official beside an official file."""
    named = [
        f"{label!r} ({file})" if label else f"data that {file} does not name"
        for label, file in sorted(files.items(), key=lambda own: (own[0] or "", own[1]))
    ]
    if official is not None and not all(map(is_official, files)):
        named.append(f"the official data, as of all prediction files ({official})")
    if len(named) > 1:
        raise PredictionError(
            f"{name}: the inputs are of different data and cannot be merged: "
            f"{'; '.join(named)}. Score them apart."
        )


class Gathered:
    """What was read, besides the samples themselves.

    Attributes:
        sources: the files, by number.
        lines: lines of each file that are not blank, by its number.
        malformed: lines of each file that are malformed, by its number.
        labels: of the data.
        problems: in the order of files and lines.
    """

    def __init__(self, sources: Sequence[PredictionSource], problems: Problems) -> None:
        self.sources = sources
        self.lines: Counter[int] = Counter()
        self.malformed: Counter[int] = Counter()
        self.labels = Labels()
        self.problems = problems

    def add(self, outcome: Outcome, store: Store) -> None:
        """Add an outcome; those of one file must come in the order of its lines."""
        source = self.sources[outcome.source]
        self.lines[source.number] += outcome.lines
        self.malformed[source.number] += outcome.problems.number([MALFORMED])
        for kind in KINDS:
            own = outcome.problems
            self.problems.add(kind, *own.first(kind), number=own.number([kind]))
        for table, task, label in sorted(outcome.labels, key=str):
            self.labels.add(table, task, label, source)
        store.add(
            outcome.rows,
            (
                (outcome.rows[position], other, text, golds)
                for (position, other), (text, golds) in outcome.summaries.items()
            ),
        )


@dataclass(slots=True)
class Scan:
    """What must be known of all samples before the first is written.

    Attributes:
        repeats: highest number of an answer, by table, for every table that is written.
        questions: by task.
        duplicates: samples left out, by task.
        runs: numbers of the runs that a table's answers are from.
        reasoning: policies by which those of a table's answers were scored that hold reasoning.
        policies: by which all of a table's answers were.
        copies: questions that are one that is there already, by task; None: not known.
    """

    repeats: dict[str, int] = field(default_factory=dict)
    questions: Counter[str] = field(default_factory=Counter)
    duplicates: Counter[str] = field(default_factory=Counter)
    runs: dict[str, set[int]] = field(default_factory=dict)
    reasoning: dict[str, set[str]] = field(default_factory=dict)
    policies: dict[str, set[str]] = field(default_factory=dict)
    copies: dict[str, int | None] = field(default_factory=dict)

    def policy(self, table: str) -> str:
        """Return the policy by which a table's reasoning was scored; KEEP if there is no one such.

        Raises:
            PredictionError: there are several, which give figures of no protocol.
        """
        found = self.reasoning.get(table) or self.policies.get(table) or {KEEP}
        if len(found) > 1 and table in self.reasoning:
            raise PredictionError(
                f"{table}: some answers were generated by a run that drops reasoning from answers, "
                "some are of files whose official evaluation keeps it, and both hold reasoning. "
                f"Say with reasoning, {DROP} or {KEEP}, how to score them, or score them apart."
            )
        return next(iter(found)) if len(found) == 1 else KEEP

    @property
    def tables(self) -> list[str]:
        """Names of the tables that are written, in order."""
        return [name for name in tables() if name in self.repeats]


def _place(gathered: Gathered, row: Row) -> str:
    return f"{gathered.sources[row.source].name}, line {row.line}"


def _left_out(gathered: Gathered, scan: Scan, task: str, id: str, row: Row, first: Row) -> None:
    """Name a sample whose key another one has."""
    scan.duplicates[task] += 1
    gathered.problems.add(
        "duplicate",
        entry(
            gathered.sources[row.source].name,
            row.line,
            f"{task}, question {id!r}, answer {row.repeat} is on "
            f"{_place(gathered, first)}, already",
        ),
    )


def _missing(gathered: Gathered, scan: Scan) -> None:
    """Name the tasks that lack official questions."""
    for name in scan.tables:
        if not gathered.labels.official(name):
            continue
        for task, info in tables()[name].tasks.items():
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
        tasks = tuple(tables()[name].tasks)
        for number, copies in store.copies(table_number(name)).items():
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

    Raises:
        PredictionError: runs were merged to more than MOST_REPEATS answers to a question.
    """
    scan = Scan()
    for source in gathered.sources:
        if source.table is not None:
            scan.repeats[source.table] = 1
    for name in tables():
        # Local data may use an id twice, and its place tells; official ids are distinct.
        placed = benchmark_of_table(name).ids_may_be_lines
        if placed and gathered.labels.official(name):
            for row, first in store.take_repeated_ids(table_number(name)):
                task = tuple(tables()[name].tasks)[row.task]
                _left_out(gathered, scan, task, text_of(row.id), row, first)
    for question in questions(store.rows()):
        table = question.table.name
        if max(question.rows) > MOST_REPEATS:
            raise PredictionError(
                f"The runs together have {max(question.rows)} answers to {question.task}, question "
                f"{question.id!r}; at most {MOST_REPEATS} are scored together. Score fewer runs at "
                "a time."
            )
        scan.questions[question.task] += 1
        scan.repeats[table] = max(scan.repeats.get(table, 1), max(question.rows))
        scan.runs.setdefault(table, set()).update(row.run for row in question.rows.values())
        for row in question.rows.values():
            policy = gathered.sources[row.source].reasoning
            scan.policies.setdefault(table, set()).add(policy)
            if row.reasoned:
                scan.reasoning.setdefault(table, set()).add(policy)
        for row, first in question.duplicates:
            _left_out(gathered, scan, question.task, question.id, row, first)
        for row, first in question.conflicts:
            gathered.problems.add(
                "foreign",
                entry(
                    gathered.sources[row.source].name,
                    row.line,
                    f"has other gold answers or dimensions for {question.task}, question "
                    f"{question.id!r}, than {_place(gathered, first)}",
                ),
            )
    _missing(gathered, scan)
    _copied(store, gathered, scan)
    return scan
