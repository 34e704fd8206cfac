"""Merge the answers of all files: which are repeats, which are left out, what is missing."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from lm_eval_longbench.benchmarks.registry import benchmark_of_table, tables
from lm_eval_longbench.catalog.model import Table
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.metrics.reasoning import DROP, KEEP, OTHERWISE
from lm_eval_longbench.options import MOST_REPEATS
from lm_eval_longbench.records.sample import MALFORMED
from lm_eval_longbench.scoring.files import LOG, PredictionSource
from lm_eval_longbench.scoring.problems import KINDS, Problems, entry
from lm_eval_longbench.scoring.score_chunk import Outcome, ScoredSample
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

    def add(self, table: str, task: str, label: str | None, source: PredictionSource) -> None:
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
        self.malformed[source.number] += problems.number(MALFORMED)
        for kind in KINDS:
            self.problems.add(kind, *problems.first(kind), number=problems.number(kind))
        for label in outcome.labels:
            self.labels.add(*label, source)

    def place(self, sample: ScoredSample) -> str:
        """Return where a sample was read, in words."""
        return f"{self.sources[sample.key.source].name}, line {sample.key.line}"

    def leave_out(self, kind: str, sample: ScoredSample, reason: str) -> None:
        """Name a sample that is left out."""
        file = self.sources[sample.key.source].name
        self.problems.add(kind, entry(file, sample.key.line, reason))


# ---------------------------------------------------------------------- merging


@dataclass(slots=True)
class MergedTable:
    """The answers of a table.

    Attributes:
        table: the table.
        samples: in the order of questions and repeats; their lines have the numbers of repeats.
        repeats: highest number of an answer.
        runs: numbers of the runs that its answers are from.
        policies: for reasoning, by which its answers were scored.
        reasoned: by which those were that hold reasoning.
        duplicates: samples left out, by task.
        contents: `Sample.content` of each question, by task; None: no answer tells.
        copies: questions that are one that is there already, by task; None: not known.
    """

    table: Table
    samples: list[ScoredSample] = field(default_factory=list)
    repeats: int = 1
    runs: set[int] = field(default_factory=set)
    policies: set[str] = field(default_factory=set)
    reasoned: set[str] = field(default_factory=set)
    duplicates: Counter[str] = field(default_factory=Counter)
    contents: dict[str, list[bytes | None]] = field(default_factory=lambda: defaultdict(list))
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


def _leave_out_copy(
    gathered: Gathered, table: MergedTable, sample: ScoredSample, first: ScoredSample
) -> None:
    """Name a sample whose question and repeat another one has."""
    task = sample.line["task"]
    table.duplicates[task] += 1
    what = f"{task}, question {sample.key.id!r}, answer {sample.key.repeat}"
    gathered.leave_out("duplicate", sample, f"{what} is on {gathered.place(first)}, already")


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
        if sample.line["table"] in distinct:
            other = first.setdefault((sample.key.table, sample.key.task, sample.key.id), sample)
            if other.key.place < sample.key.place:
                _leave_out_copy(gathered, merged[sample.line["table"]], sample, other)
                continue
        yield sample


def _add_question(table: MergedTable, samples: Sequence[ScoredSample], gathered: Gathered) -> None:
    """Add all answers to one question, which get the numbers of repeats.

    Within a run an answer has its number there. Of several runs of a question, the first in
    canonical order keeps its numbers; a later one does too where they are free, as of shards of one
    inference and what was asked again; else its answers are numbered on from the highest so far.

    Raises:
        PredictionError: there are more than MOST_REPEATS.
    """
    task, question = samples[0].line["task"], samples[0].key.id
    answers: dict[int, ScoredSample] = {}
    for _, of_run in groupby(samples, key=lambda sample: sample.key.run):
        run: dict[int, ScoredSample] = {}
        for sample in of_run:
            if sample.gold != samples[0].gold:
                what = f"has other gold answers or dimensions for {task}, question {question!r}"
                where = gathered.place(samples[0])
                gathered.leave_out("foreign", sample, f"{what}, than {where}")
            elif (first := run.setdefault(sample.key.repeat, sample)) is not sample:
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
    known = (sample.content for sample in samples if sample.content is not None)
    table.contents[task].append(min(known, default=None))
    for repeat, sample in sorted(answers.items()):
        sample.line["repeat"] = repeat
        table.samples.append(sample)
        table.runs.add(sample.key.run)
        policy = gathered.sources[sample.key.source].reasoning
        table.policies.add(policy)
        if OTHERWISE[policy] in sample.line:
            table.reasoned.add(policy)


def _count_task(merged: MergedTable, task: str, gathered: Gathered) -> None:
    """Count a task's copied and missing questions, and name it where there are such."""
    name, official_questions = merged.table.name, merged.table.tasks[task].questions
    contents, official = merged.contents[task], gathered.labels.official(name)
    told = {"table": name, "task": task, "questions": len(contents)}
    if contents:
        copies = None if None in contents else len(contents) - len(set(contents))
        merged.copies[task] = copies
        if official and (copies or 0) > MOST_COPIES:
            gathered.problems.add("copied", {**told, "copies": copies})
    missing = official_questions - len(contents)
    if official and missing > 0:
        told["official_questions"] = official_questions
        gathered.problems.add("missing", told, number=missing)


def merge(gathered: Gathered) -> dict[str, MergedTable]:
    """Return the tables that there are, by name; what is left out or missing becomes problems.

    Raises:
        PredictionError: runs together have more than MOST_REPEATS answers to a question.
    """
    named = {source.table for source in gathered.sources}
    named |= {sample.line["table"] for sample in gathered.samples}
    merged = {name: MergedTable(table) for name, table in tables().items() if name in named}
    kept = _without_repeated_ids(gathered, merged)
    for _, own in groupby(kept, key=lambda sample: sample.key[:4]):
        samples = list(own)
        _add_question(merged[samples[0].line["table"]], samples, gathered)
    for table in merged.values():
        for task in table.table.tasks:
            _count_task(table, task, gathered)
    return merged
