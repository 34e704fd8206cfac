"""Merge the answers of all files: which are repeats, which are left out, what is missing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from lm_eval_longbench.benchmarks.base import MOST_REPEATS, Table
from lm_eval_longbench.benchmarks.registry import benchmark_of_table, tables
from lm_eval_longbench.benchmarks.sample import MALFORMED
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.metrics.reasoning import DROP, KEEP, OTHERWISE
from lm_eval_longbench.protocol import MOST_COPIES
from lm_eval_longbench.scoring.files import LOG, PredictionSource
from lm_eval_longbench.scoring.problems import KINDS, Problems, entry
from lm_eval_longbench.scoring.score_chunk import Outcome, ScoredSample

# ---------------------------------------------------------------------- the data of answers

# Repository and revision.
_OFFICIAL = re.compile(r"[\w.-]+/[\w.-]+@[0-9a-f]{7,40}")
# Where each dataset is a file, each has a hash of its own.
_HASH = re.compile(r"^(sample|local)-[0-9a-f]+")
# What follows says which questions were asked, of the same data.
_SELECTION = " (only "


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
    """The data that questions are of, with the first file that says so."""

    def __init__(self) -> None:
        # By table, task and label (None: the log does not say); and official files by table.
        self._logs: dict[tuple[str, str, str | None], str] = {}
        self._files: dict[str, str] = {}

    def add(self, table: str, task: str, label: str | None, source: PredictionSource) -> None:
        """Note that a file has questions of a task, and how it labels their data."""
        if source.kind == LOG:
            self._logs.setdefault((table, task, label), source.name)
        else:
            self._files.setdefault(table, source.name)

    def _of(self, table: str) -> set[str | None]:
        return {label for own, _, label in self._logs if own == table}

    def of(self, table: str) -> list[str]:
        """Return the labels of a table's data, sorted; official files have none."""
        return sorted(label for label in self._of(table) if label is not None)

    def official(self, table: str) -> bool:
        """Whether a table's questions are known to be official ones: prediction files' are."""
        return all(map(is_official, self._of(table)))

    def check(self) -> None:
        """Refuse what must not be merged.

        Raises:
            PredictionError: the inputs of a task are of different data, those of a table of
                different kinds of data, or they number their questions in different ways. Names
                both.
        """
        for table in tables():
            # By task, since the first one names the kinds of a table; labels as they came.
            logs = sorted((own for own in self._logs.items() if own[0][0] == table), key=_task_of)
            for task, own in groupby(logs, key=_task_of):
                _check(task, _data, list(own))
            kinds = _check(table, _kind, logs, self._files.get(table))
            if benchmark_of_table(table).ids_may_be_lines and kinds and table in self._files:
                raise PredictionError(
                    f"{table}: prediction files name a question by its line "
                    f"({self._files[table]}), sample logs by its id "
                    f"({min(kinds.values())}), so they cannot be merged. Score them apart."
                )


_Log = tuple[tuple[str, str, str | None], str]


def _task_of(log: _Log) -> str:
    return log[0][1]


def _check(
    name: str,
    what: Callable[[str | None], str | None],
    logs: Sequence[_Log],
    official: str | None = None,
) -> dict[str | None, str]:
    """Return the label, with its file, of the one thing that labels stand for.

    Raises PredictionError for several things, or another one than official data beside an official
    file.
    """
    found: dict[str | None, tuple[str | None, str]] = {}
    for (_, _, label), file in logs:
        found.setdefault(what(label), (label, file))
    named = [
        f"{label!r} ({file})" if label else f"data that {file} does not name"
        for label, file in sorted(found.values(), key=lambda own: (own[0] or "", own[1]))
    ]
    files = dict(found.values())
    if official is not None and not all(map(is_official, files)):
        named.append(f"the official data, as of all prediction files ({official})")
    if len(named) > 1:
        raise PredictionError(
            f"{name}: the inputs are of different data and cannot be merged: "
            f"{'; '.join(named)}. Score them apart."
        )
    return files


# ---------------------------------------------------------------------- what was read


class Gathered:
    """What was read.

    Attributes:
        sources: the files, by number.
        samples: of all files; to be merged in the order of their keys.
        lines: lines of each file that are not blank, by its number.
        malformed: lines of each file that are malformed, by its number.
        labels: of the data.
        problems: in the order of files and lines.
    """

    def __init__(self, sources: Sequence[PredictionSource], problems: Problems) -> None:
        self.sources = sources
        self.samples: list[ScoredSample] = []
        self.lines: Counter[int] = Counter()
        self.malformed: Counter[int] = Counter()
        self.labels = Labels()
        self.problems = problems

    def add(self, outcome: Outcome) -> None:
        """Add an outcome; those of one file must come in the order of its lines."""
        source, problems = self.sources[outcome.source], outcome.problems
        self.samples += outcome.samples
        self.lines[source.number] += outcome.lines
        self.malformed[source.number] += problems.number([MALFORMED])
        for kind in KINDS:
            self.problems.add(kind, *problems.first(kind), number=problems.number([kind]))
        for label in outcome.labels:
            self.labels.add(*label, source)

    def place(self, sample: ScoredSample) -> str:
        """Return where a sample was read, in words."""
        return f"{self.sources[sample.key.source].name}, line {sample.key.line}"

    def name(self, kind: str, sample: ScoredSample, reason: str) -> None:
        """Name a sample that is left out."""
        file = self.sources[sample.key.source].name
        self.problems.add(kind, entry(file, sample.key.line, reason))


# ---------------------------------------------------------------------- questions


@dataclass(slots=True)
class Question:
    """All answers to one question.

    Attributes:
        table, task: names of its table and task.
        id: its id.
        content: see `Sample.content`; None: no answer tells.
        samples: by repeat, ascending.
        duplicates: samples of a repeat that is there already, with the one that counts.
        conflicts: samples of other gold data or dimensions than the first, with that one.
    """

    table: str
    task: str
    id: str
    content: bytes | None
    samples: dict[int, ScoredSample] = field(default_factory=dict)
    duplicates: list[tuple[ScoredSample, ScoredSample]] = field(default_factory=list)
    conflicts: list[tuple[ScoredSample, ScoredSample]] = field(default_factory=list)


def _runs(question: Question, samples: Sequence[ScoredSample]) -> Iterator[dict[int, ScoredSample]]:
    """Yield the samples of each run by their number in it; others go into the question's lists."""
    for _, own in groupby(samples, key=lambda sample: sample.key.run):
        run: dict[int, ScoredSample] = {}
        for sample in own:
            if sample.gold != samples[0].gold:
                question.conflicts.append((sample, samples[0]))
            elif sample.key.repeat in run:
                question.duplicates.append((sample, run[sample.key.repeat]))
            else:
                run[sample.key.repeat] = sample
        if run:
            yield run


def _question(samples: Sequence[ScoredSample]) -> Question:
    """Return the question that samples, all of one, are answers to."""
    line = samples[0].line
    known = (sample.content for sample in samples if sample.content is not None)
    own = Question(line["table"], line["task"], line["id"], min(known, default=None))
    for run in _runs(own, samples):
        # Shards of one inference, and what was asked again, fill the gaps of a run; a further run
        # of the same question goes on behind it.
        after = 0 if own.samples.keys().isdisjoint(run) else max(own.samples)
        own.samples |= {after + repeat: sample for repeat, sample in run.items()}
    own.samples = dict(sorted(own.samples.items()))
    for repeat, sample in own.samples.items():
        sample.line["repeat"] = repeat
    return own


def questions(samples: Iterable[ScoredSample]) -> Iterator[Question]:
    """Yield each question with its answers, which get the numbers of repeats.

    Within a run an answer has its number there. Of several runs of a question, the first in
    canonical order keeps its numbers; a later one does too where they are free, else its answers
    are numbered on from the highest so far.

    Args:
        samples: in the order of their keys.
    """
    for _, own in groupby(samples, key=lambda sample: sample.key[:4]):
        yield _question(list(own))


# ---------------------------------------------------------------------- merging


@dataclass(slots=True)
class MergedTable:
    """The questions of a table.

    Attributes:
        table: the table.
        questions: in order.
        repeats: highest number of an answer.
        runs: numbers of the runs that its answers are from.
        policies: for reasoning, by which its answers were scored.
        reasoned: by which those were that hold reasoning.
        duplicates: samples left out, by task.
        copies: questions that are one that is there already, by task; None: not known.
    """

    table: Table
    questions: list[Question] = field(default_factory=list)
    repeats: int = 1
    runs: set[int] = field(default_factory=set)
    policies: set[str] = field(default_factory=set)
    reasoned: set[str] = field(default_factory=set)
    duplicates: Counter[str] = field(default_factory=Counter)
    copies: dict[str, int | None] = field(default_factory=dict)

    def policy(self) -> str:
        """Return the policy by which reasoning was scored; KEEP if there is no one such.

        Raises:
            PredictionError: there are several, which give figures of no protocol.
        """
        if len(self.reasoned) > 1:
            raise PredictionError(
                f"{self.table.name}: some answers were generated by a run that drops reasoning "
                "from answers, some are of files whose official evaluation keeps it, and both hold "
                f"reasoning. Say with reasoning, {DROP} or {KEEP}, how to score them, or score "
                "them apart."
            )
        found = self.reasoned or self.policies
        return next(iter(found)) if len(found) == 1 else KEEP


def _without_repeated_ids(
    gathered: Gathered, merged: dict[str, MergedTable]
) -> Iterator[ScoredSample]:
    """Yield all samples but those whose question's id is at an earlier place of its task already.

    Local data may use an id twice, and its place tells; official ids are distinct.
    """
    distinct = {
        name
        for name in merged
        if benchmark_of_table(name).ids_may_be_lines and gathered.labels.official(name)
    }
    first: dict[tuple[int, int, str], ScoredSample] = {}
    for sample in gathered.samples:
        table, task, place, id, *_ = sample.key
        if sample.line["table"] in distinct:
            other = first.setdefault((table, task, id), sample)
            if other.key.place < place:
                _leave_out(gathered, merged[sample.line["table"]], sample, other)
                continue
        yield sample


def _leave_out(
    gathered: Gathered, table: MergedTable, sample: ScoredSample, first: ScoredSample
) -> None:
    """Name a sample whose key another one has."""
    task = sample.line["task"]
    table.duplicates[task] += 1
    gathered.name(
        "duplicate",
        sample,
        f"{task}, question {sample.key.id!r}, answer {sample.key.repeat} is on "
        f"{gathered.place(first)}, already",
    )


def _add(table: MergedTable, question: Question, gathered: Gathered) -> None:
    """Add a question to its table."""
    highest = max(question.samples)
    if highest > MOST_REPEATS:
        raise PredictionError(
            f"The runs together have {highest} answers to {question.task}, question "
            f"{question.id!r}; at most {MOST_REPEATS} are scored together. Score fewer runs at "
            "a time."
        )
    table.questions.append(question)
    table.repeats = max(table.repeats, highest)
    for sample in question.samples.values():
        table.runs.add(sample.key.run)
        policy = gathered.sources[sample.key.source].reasoning
        table.policies.add(policy)
        if OTHERWISE[policy] in sample.line:
            table.reasoned.add(policy)
    for sample, first in question.duplicates:
        _leave_out(gathered, table, sample, first)
    for sample, first in question.conflicts:
        gathered.name(
            "foreign",
            sample,
            f"has other gold answers or dimensions for {question.task}, question "
            f"{question.id!r}, than {gathered.place(first)}",
        )


def _count_task(merged: MergedTable, task: str, gathered: Gathered) -> None:
    """Count a task's copied and missing questions, and name it where there are such."""
    name, info = merged.table.name, merged.table.tasks[task]
    own = [question for question in merged.questions if question.task == task]
    contents = [question.content for question in own]
    official = gathered.labels.official(name)
    if own:
        copies = None if None in contents else len(own) - len(set(contents))
        merged.copies[task] = copies
        if official and (copies or 0) > MOST_COPIES:
            told = {"table": name, "task": task, "questions": len(own), "copies": copies}
            gathered.problems.add("copied", told)
    missing = info.questions - len(own)
    if official and missing > 0:
        told = {"table": name, "task": task, "questions": len(own)}
        told["official_questions"] = info.questions
        gathered.problems.add("missing", told, number=missing)


def merge(gathered: Gathered) -> dict[str, MergedTable]:
    """Return the tables that there are, by name; what is left out or missing becomes problems.

    Raises:
        PredictionError: runs together have more than MOST_REPEATS answers to a question.
    """
    named = {source.table for source in gathered.sources}
    named |= {sample.line["table"] for sample in gathered.samples}
    merged = {name: MergedTable(table) for name, table in tables().items() if name in named}
    kept = list(_without_repeated_ids(gathered, merged))
    for question in questions(kept):
        _add(merged[question.table], question, gathered)
    for table in merged.values():
        for task in table.table.tasks:
            _count_task(table, task, gathered)
    return merged
