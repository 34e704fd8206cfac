"""Merge the answers of all files: which are repeats, which are left out, what is missing."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from lm_eval_longbench.benchmarks.registry import (
    benchmark_of_table,
    position,
    tables,
)
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.metrics.reasoning import DROP, KEEP
from lm_eval_longbench.options import MOST_REPEATS
from lm_eval_longbench.records.sample import MALFORMED, Sample, line_of
from lm_eval_longbench.scoring.files import LOG, InputFile
from lm_eval_longbench.scoring.problems import KINDS, Problems, entry
from lm_eval_longbench.scoring.score_chunk import Outcome
from lm_eval_longbench.signature.protocol import MOST_COPIES
from lm_eval_longbench.signature.signature import data_of

# ---------------------------------------------------------------------- the data of answers

# Repository and revision.
_OFFICIAL = re.compile(r"[\w.-]+/[\w.-]+@[0-9a-f]{7,40}")
# Where each dataset is a file, each has a hash of its own.
_HASH = re.compile(r"^(sample|local)-[0-9a-f]+")


def is_official(label: str | None) -> bool:
    """Whether a label stands for the pinned official data, or for some of its questions."""
    return label is not None and _OFFICIAL.fullmatch(data_of(label)) is not None


class Labels:
    """The data that questions are of, with the first file that says so."""

    def __init__(self) -> None:
        # By table, task and label (None: the log does not say); and official files by table.
        self._logs: dict[tuple[str, str, str | None], str] = {}
        self._files: dict[str, str] = {}

    def add(self, table: str, task: str, label: str | None, source: InputFile) -> None:
        """Note that a file has questions of a task, and how it labels their data."""
        if source.kind == LOG:
            self._logs.setdefault((table, task, label), source.name)
        else:
            self._files.setdefault(table, source.name)

    def of(self, table: str) -> list[str]:
        """Return the labels of a table's data, sorted; official files have none."""
        return sorted({label for own, _, label in self._logs if own == table and label is not None})

    def official(self, table: str) -> bool:
        """Whether a table's questions are known to be official ones: prediction files' are."""
        return all(is_official(label) for own, _, label in self._logs if own == table)

    def check(self) -> None:
        """Refuse what must not be merged.

        Raises:
            PredictionError: the inputs of a task are of different data, those of a table of
                different kinds of data, or they number their questions in different ways. Names
                both.
        """
        for table in tables():
            by_task: dict[str, dict[str | None, str]] = defaultdict(dict)
            kinds: dict[str | None, str] = {}
            for (own, task, label), file in self._logs.items():
                if own == table:
                    data = None if label is None else data_of(label)
                    named = f"{label!r} ({file})" if label else f"data that {file} does not name"
                    by_task[task].setdefault(data, named)
                    kinds.setdefault(None if data is None else _HASH.sub(r"\1", data), named)
            official = self._files.get(table)
            if official is not None and not self.official(table):
                kinds[official] = f"the official data, as of all prediction files ({official})"
            for name, found in (*sorted(by_task.items()), (table, kinds)):
                if len(found) > 1:
                    raise PredictionError(
                        f"{name}: the inputs are of different data and cannot be merged: "
                        f"{'; '.join(sorted(found.values()))}. Score them apart."
                    )
            if official and kinds and benchmark_of_table(table).ids_may_be_lines:
                log = min(file for (own, *_), file in self._logs.items() if own == table)
                raise PredictionError(
                    f"{table}: prediction files name a question by its line ({official}), sample "
                    f"logs by its id ({log}), so they cannot be merged. Score them apart."
                )


# ---------------------------------------------------------------------- what was read


class Gathered:
    """What was read.

    Attributes:
        sources: the files, by number.
        samples: of all files; to be merged in their canonical order.
        lines: lines of each file that are not blank, by its number.
        malformed: lines of each file that are malformed, by its number.
        labels: of the data.
        problems: in the order of files and lines.
    """

    def __init__(self, sources: list[InputFile], problems: Problems) -> None:
        self.sources = sources
        self.samples: list[Sample] = []
        self.lines: Counter[int] = Counter()
        self.malformed: Counter[int] = Counter()
        self.labels = Labels()
        self.problems = problems

    def add(self, outcome: Outcome) -> None:
        """Add an outcome; those of one file must come in the order of its lines."""
        source, problems = self.sources[outcome.source], outcome.problems
        self.samples += outcome.samples
        self.lines[source.number] += outcome.lines
        self.malformed[source.number] += problems.number(MALFORMED)
        for kind in KINDS:
            self.problems.add(kind, *problems.first(kind), number=problems.number(kind))
        for label in outcome.labels:
            self.labels.add(*label, source)

    def place(self, sample: Sample) -> str:
        """Return where a sample was read, in words."""
        return f"{self.sources[sample.source].name}, line {sample.line}"

    def leave_out(self, kind: str, sample: Sample, reason: str) -> None:
        """Name a sample that is left out."""
        self.problems.add(kind, entry(self.sources[sample.source].name, sample.line, reason))


# ---------------------------------------------------------------------- merging


@dataclass
class TableAnswers:
    """The scored answers of one table, and what is known of them.

    Attributes:
        name: of the table.
        lines: as of samples.jsonl.
        repeats: answers that each question should have: the highest number of an answer.
        official: whether its questions are official ones, so that it is known which are missing.
        reasoning: policy by which reasoning was scored.
        data: labels of the questions' data.
        embedding_model: that gave the similarities; None: none.
        runs: names of the runs that the answers are from.
        expected: tasks that have figures even without an answer.
        malformed: lines by task; None: of files that do not tell their task.
        duplicates: samples left out, by task.
        copies: questions that are there already, by task; None: not known.
        samples: what the lines are made of, in the order of questions and repeats.
    """

    name: str
    lines: Sequence[Mapping[str, Any]] = ()
    repeats: int = 1
    official: bool = True
    reasoning: str = KEEP
    data: Sequence[str] = ()
    embedding_model: str | None = None
    runs: Sequence[str] = ()
    expected: Iterable[str] = ()
    malformed: Counter[str | None] = field(default_factory=Counter)
    duplicates: Counter[str] = field(default_factory=Counter)
    copies: dict[str, int | None] = field(default_factory=dict)
    samples: list[Sample] = field(default_factory=list)


def _policy(name: str, samples: Sequence[Sample]) -> str:
    """Return the policy by which reasoning was scored; KEEP if there is no one such.

    Raises:
        PredictionError: there are several, which give figures of no protocol.
    """
    reasoned = {sample.policy for sample in samples if sample.other is not None}
    if len(reasoned) > 1:
        raise PredictionError(
            f"{name}: some answers were generated by a run that drops reasoning "
            "from answers, some are of files whose official evaluation keeps it, and both hold "
            f"reasoning. Say with reasoning, {DROP} or {KEEP}, how to score them, or score "
            "them apart."
        )
    found = reasoned or {sample.policy for sample in samples}
    return found.pop() if len(found) == 1 else KEEP


def _question(sample: Sample) -> tuple[int, int, int, str]:
    """Return what answers to one question share, in the order of tables and tasks."""
    return (*position(sample.table, sample.task), sample.order, sample.id)


def canonical(sample: Sample) -> tuple[Any, ...]:
    """Return what sorts answers, whatever the order of the files."""
    return (*_question(sample), sample.run, sample.repeat, sample.source, sample.line)


def _leave_out_copy(gathered: Gathered, table: TableAnswers, sample: Sample, first: Sample) -> None:
    """Name a sample whose question and repeat another one has."""
    table.duplicates[sample.task] += 1
    what = f"{sample.task}, question {sample.id!r}, answer {sample.repeat}"
    gathered.leave_out("duplicate", sample, f"{what} is on {gathered.place(first)}, already")


def _without_repeated_ids(
    gathered: Gathered, merged: Mapping[str, TableAnswers]
) -> Iterator[Sample]:
    """Yield all samples but those whose question's id is at an earlier place of its task already.

    Local data may use an id twice, and its place tells; official ids are distinct.
    """
    distinct = {
        name
        for name, table in merged.items()
        if benchmark_of_table(name).ids_may_be_lines and table.official
    }
    first: dict[tuple[str, str], Sample] = {}
    for sample in gathered.samples:
        if sample.table in distinct:
            other = first.setdefault((sample.task, sample.id), sample)
            if other.order < sample.order:
                _leave_out_copy(gathered, merged[sample.table], sample, other)
                continue
        yield sample


def _add_question(table: TableAnswers, samples: Sequence[Sample], gathered: Gathered) -> None:
    """Add all answers to one question, which get the numbers of repeats.

    Within a run an answer has its number there. Of several runs of a question, the first in
    canonical order keeps its numbers; a later one does too where they are free, as of shards of one
    inference and what was asked again; else its answers are numbered on from the highest so far.

    Raises:
        PredictionError: there are more than MOST_REPEATS.
    """
    task, question = samples[0].task, samples[0].id
    answers: dict[int, Sample] = {}
    for _, of_run in groupby(samples, key=lambda sample: sample.run):
        run: dict[int, Sample] = {}
        for sample in of_run:
            if sample.gold != samples[0].gold:
                what = f"has other gold answers or dimensions for {task}, question {question!r}"
                where = gathered.place(samples[0])
                gathered.leave_out("foreign", sample, f"{what}, than {where}")
            elif (first := run.setdefault(sample.repeat, sample)) is not sample:
                _leave_out_copy(gathered, table, sample, first)
        after = 0 if answers.keys().isdisjoint(run) else max(answers)
        answers |= {after + repeat: sample for repeat, sample in run.items()}
    highest = max(answers)
    if highest > MOST_REPEATS:
        raise PredictionError(
            f"The runs together have {highest} answers to {task}, question {question!r}; at most "
            f"{MOST_REPEATS} are scored together. Score fewer runs at a time."
        )
    table.repeats = max(table.repeats, highest)
    for repeat, sample in sorted(answers.items()):
        sample.repeat = repeat
        table.samples.append(sample)


def _count_tasks(table: TableAnswers, gathered: Gathered) -> None:
    """Count the copied and missing questions of each task, and name it where there are such."""
    contents: dict[str, list[bytes | None]] = defaultdict(list)
    for _, own in groupby(table.samples, key=_question):
        samples = list(own)
        known = (sample.content for sample in samples if sample.content is not None)
        contents[samples[0].task].append(min(known, default=None))
    for name, task in tables()[table.name].tasks.items():
        asked = contents[name]
        told = {"table": table.name, "task": name, "questions": len(asked)}
        copies = None if None in asked else len(asked) - len(set(asked))
        table.copies[name] = copies
        if table.official and (copies or 0) > MOST_COPIES:
            gathered.problems.add("copied", {**told, "copies": copies})
        missing = task.questions - len(asked)
        if table.official and missing > 0:
            told["official_questions"] = task.questions
            gathered.problems.add("missing", told, number=missing)


def merge(
    gathered: Gathered, runs: Sequence[str], embedding_model: str | None = None
) -> dict[str, TableAnswers]:
    """Return the tables that there are, by name; what is left out or missing becomes problems.

    Args:
        gathered: what was read, its samples in canonical order.
        runs: names of the runs, by number.
        embedding_model: that gave the similarities; None: none.

    Raises:
        PredictionError: runs together have more than MOST_REPEATS answers to a question, or answers
            of a table were scored by two policies for reasoning.
    """
    named = {source.table for source in gathered.sources}
    named |= {sample.table for sample in gathered.samples}
    merged = {
        name: TableAnswers(
            name, official=gathered.labels.official(name), data=gathered.labels.of(name)
        )
        for name in tables()
        if name in named
    }
    kept = _without_repeated_ids(gathered, merged)
    for _, own in groupby(kept, key=_question):
        samples = list(own)
        _add_question(merged[samples[0].table], samples, gathered)
    for name, table in merged.items():
        _count_tasks(table, gathered)
        table.lines = [line_of(sample) for sample in table.samples]
        table.reasoning = _policy(name, table.samples)
        table.runs = [runs[number] for number in sorted({one.run for one in table.samples})]
        if any(task.summary for task in tables()[name].tasks.values()):
            table.embedding_model = embedding_model
        sources = [source for source in gathered.sources if source.table == name]
        table.expected = [source.task for source in sources if source.task is not None]
        for source in sources:
            table.malformed[source.task] += gathered.malformed[source.number]
    return merged
