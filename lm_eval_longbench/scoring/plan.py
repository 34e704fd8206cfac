"""Decide what is read: which files, in which order, and which of them are of one run."""

from __future__ import annotations

import os
import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from lm_eval_longbench.benchmarks.registry import (
    benchmarks,
    layouts,
    short_names,
    table_number,
    table_of,
    tables,
    task_number,
)
from lm_eval_longbench.benchmarks.results import Recorded, RecordedRuns, answering
from lm_eval_longbench.errors import PredictionError, few
from lm_eval_longbench.metrics.reasoning import DROP, KEEP, POLICIES
from lm_eval_longbench.records.log import answers_in, task_in_name
from lm_eval_longbench.records.sample import KnownDocuments, Read
from lm_eval_longbench.scoring.files import (
    LOG,
    FoundFile,
    PredictionSource,
    Survey,
    find_files,
    rows_of,
    stem_of,
    survey,
)
from lm_eval_longbench.scoring.problems import Problems, entry, sentence
from lm_eval_longbench.scoring.recognise import Recognised, of_kind, recognise, table_of_folder
from lm_eval_longbench.scoring.score_chunk import read_row
from lm_eval_longbench.signature.compare import SignatureDifference, no_repeats
from lm_eval_longbench.signature.ingredients import NOT

# Files named where none is recognised, and models where there are several.
_NAMED = 5
_STAMP = re.compile(r"_(\d{4}-\d\d-\d\dT[\d.-]+)$")


@dataclass(frozen=True, slots=True)
class InputFile:
    """A recognised file before its place in the order is known.

    Attributes:
        file: where it is.
        recognised: what it holds.
        survey: its identity.
        recorded: what the results file beside it says; of the file of another program, whose
            answers they are; nothing for other files than logs.
    """

    file: FoundFile
    recognised: Recognised
    survey: Survey
    recorded: Recorded

    @property
    def stamp(self) -> str:
        """Time in the name of a harness log; "" for none."""
        dated = self.recognised.kind == LOG or self.recognised.layout
        found = _STAMP.search(stem_of(self.file.path)) if dated else None
        return found[1] if found else ""

    @property
    def subject(self) -> str:
        """Whose answers the file of another program has; "": it does not say."""
        layout = self.recognised.layout
        return layouts()[layout].subject(self.file.path) if layout else ""

    @property
    def _in_name(self) -> str | None:
        kind, stem = self.recognised.kind, stem_of(self.file.path)
        return None if kind == LOG else of_kind(kind)[0].run_in_name(stem)

    @property
    def run(self) -> tuple[str, ...]:
        """What is equal for the files of one run, and only for them."""
        folder, kind = str(self.file.path.parent), self.recognised.kind
        if self.recognised.layout:
            return (self.recognised.layout, self.subject or folder, self.stamp)
        if kind == LOG and self.stamp:
            return (LOG, folder, self.stamp)
        shared = self._in_name
        return (kind, str(self.file.path)) if shared is None else (kind, folder, shared)

    @property
    def run_name(self) -> str:
        """The run's name in the report."""
        folder = self.file.name.rpartition("/")[0]
        if self.subject:
            return self.subject
        if self.stamp:
            return f"{folder} {self.stamp}".strip()
        return folder if self._in_name == "" and folder else self.file.name

    @property
    def place(self) -> tuple[str, str, bool, str, str]:
        """Place in the canonical order, whatever the order of the arguments.

        Of two settings of one task in one run the one under our own name comes first.
        """
        folder = self.file.name.rpartition("/")[0]
        named = table_of(task_in_name(stem_of(self.file.path)))
        ours = self.recognised.kind != LOG or named is not None
        return (self.stamp, folder, not ours, self.file.name, self.survey.sha256)

    @property
    def first_key(self) -> tuple[int, int]:
        """Numbers of its table and task where all rows have one, to read in their order."""
        table, task = self.recognised.table, self.recognised.task
        if table is None:
            return (len(tables()), 0)
        known = task is not None and task in tables()[table].tasks
        return (table_number(table), task_number(table, str(task)) if known else 0)


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A file that is read.

    Attributes:
        source: what its lines need to know of it.
        path: where it is.
        survey, recorded: see `InputFile`.
    """

    source: PredictionSource
    path: Path
    survey: Survey
    recorded: Recorded


@dataclass(frozen=True, slots=True)
class Plan:
    """What is read.

    Attributes:
        files: in canonical order, which is that of their numbers.
        runs: names of the runs, by number.
        problems: foreign and duplicate files.
        equal: sample logs whose lines another one has, each with the other's name: a finished run
            that was started again, or a part of the whole run.
    """

    files: list[PlannedFile]
    runs: list[str]
    problems: Problems
    equal: list[dict[str, str]] = field(default_factory=list)

    def rows(self) -> Iterator[tuple[PlannedFile, Any, Read]]:
        """Yield each decoded row of all files, with its file and what is read in it."""
        for file in self.files:
            for index, row in rows_of(file.path, file.source.layout):
                yield file, row, read_row(row, index, file.source)


class NothingRecognised(PredictionError):
    """None of the files is recognised as predictions."""


def _nothing(paths: Iterable[Path], benchmark: str | None, problems: Problems) -> NothingRecognised:
    where = ", ".join(map(str, paths))
    foreign = [sentence("foreign", own) for own in problems.first("foreign")]
    found = "".join(f"\n  {line}" for line in foreign[:_NAMED])
    if benchmark is not None and short_names()[benchmark].file_names == "all":
        own = short_names()[benchmark].tasks.values()
        names = ", ".join(f"{task.label}.jsonl" for task in own)
        return NothingRecognised(f"{where} has no prediction file of {benchmark}: {names}.{found}")
    told = "" if benchmark is None else f" of {benchmark}"
    return NothingRecognised(
        f"{where}: nothing is recognised as predictions{told}. Expected are the harness's sample "
        "logs (samples_<task>_<date>.jsonl, of log_samples), official LongBench v1 or E "
        "prediction files (<dataset>.jsonl, lines with pred and answers), official LongBench v2 "
        "result files (lines with _id, answer, difficulty, length and response or pred), or "
        "official LongBench Pro inference files (*_inference_*.jsonl), any of them with gzip or "
        "without; or files of other programs, see docs/migrating.md. If it is one of them, say "
        f"which benchmark it is, {', '.join(short_names())}.{found}"
    )


def _recognised(
    files: Iterable[FoundFile], benchmark: str | None, problems: Problems
) -> Iterator[tuple[FoundFile, Recognised]]:
    """Yield the files that are recognised; others become problems.

    Where the rows of several benchmarks look alike, the other files of the folder settle of which
    table one is.
    """
    known: list[tuple[FoundFile, Recognised]] = []
    folders: dict[tuple[str, Path], dict[str, Path]] = defaultdict(dict)
    for file in files:
        found = recognise(file, benchmark)
        if isinstance(found, Recognised):
            known.append((file, found))
            if found.kind != LOG and found.table is None:
                folders[found.kind, file.path.parent][str(found.task)] = file.path
        elif not found.quiet:
            problems.add("foreign", entry(file.name, None, found.reason))
    settled = {key: table_of_folder(*key, own) for key, own in folders.items()}
    for file, found in known:
        if found.kind != LOG and of_kind(found.kind)[0].file_names == "all":
            table = found.table or settled[found.kind, file.path.parent]
            own = benchmarks()[table]
            tasks = [task.name for task in own.tasks.values() if task.label == found.task]
            if not tasks:
                problems.add("foreign", entry(file.name, None, f"is no dataset of {own.short}"))
                continue
            found = Recognised(found.kind, table, tasks[0], layout=found.layout)
        yield file, found


# ---------------------------------------------------------------------- what is there twice


def _without_copies(
    inputs: list[InputFile],
    problems: Problems,
    equal: list[dict[str, str]],
    reasoning: str | None,
) -> list[InputFile]:
    """Leave out files whose text another one has, for the same table and task; `equal`: of logs.

    Of a log all answers may be there in another one: a trial with --limit before the whole run, or
    --predict_only after it.
    """
    kept: dict[tuple[Any, ...], InputFile] = {}
    logs: dict[tuple[Any, ...], list[InputFile]] = defaultdict(list)
    for one in sorted(inputs, key=lambda one: one.place):
        found = one.recognised
        role: tuple[Any, ...] = (found.kind, found.table, found.task, one.subject)
        if found.kind == LOG:
            logs[role].append(one)
            continue
        first = kept.setdefault((*role, one.survey.text_sha256), one)
        if first is not one:
            reason = f"the same bytes as {first.file.name}"
            problems.add("duplicate", entry(one.file.name, None, reason))
    distinct = [*kept.values()]
    for own in logs.values():
        distinct += _not_in_others(own, equal, reasoning)
    return distinct


def _not_in_others(
    logs: Sequence[InputFile], equal: list[dict[str, str]], reasoning: str | None
) -> Iterator[InputFile]:
    """Yield of logs of one task those whose answers are not all in another one; `equal`: others."""
    answers = {one.file: answers_in(one.file.path) for one in logs} if len(logs) > 1 else {}
    first: list[InputFile] = []
    # Of equal ones the one with figures is larger.
    for one in sorted(logs, key=lambda one: (-len(answers.get(one.file, ())), -one.survey.size)):
        own = answers.get(one.file)
        among = (other for other in first if own and own <= answers[other.file])
        alike = (it for it in among if _scored_alike(one.recorded, it.recorded, reasoning))
        whole = next(alike, None)
        if whole is None:
            first.append(one)
        else:
            equal.append({"name": one.file.name, "as": whole.file.name})
    yield from first


def _scored_alike(ours: Recorded, theirs: Recorded, reasoning: str | None) -> bool:
    """Whether nothing says that two logs are of two models, or scored by two policies."""
    if reasoning is None and policy_of(ours.signature) != policy_of(theirs.signature):
        return False
    return None in (ours.model, theirs.model) or (
        (ours.model, answering(ours)) == (theirs.model, answering(theirs))
    )


# ---------------------------------------------------------------------- what is no repeat


def policy_of(signature: Mapping[str, Any] | None) -> str:
    """Return the policy for reasoning that a run's signature states; DROP if it states none."""
    stated = (signature or {}).get("reasoning")
    return stated if stated in POLICIES else DROP


def _check_repeats(planned: Sequence[PlannedFile]) -> None:
    """Refuse answers of several models or settings: they are no repeats of one another.

    Raises:
        PredictionError: the results files beside logs, or the folders in which official files lie,
            name several models; or runs of one task were asked in other ways.
    """
    logged: dict[str, str] = {}
    official: dict[str, dict[str, str]] = defaultdict(dict)
    asked: dict[str, list[PlannedFile]] = defaultdict(list)
    for file in planned:
        model, kind = file.recorded.model, file.source.kind
        if model is not None:
            logged.setdefault(model, file.source.name)
        elif kind != LOG and not file.source.layout:
            files = of_kind(kind)[0].official_files
            model = files.stated_model(file.path) if files else None
            if model is not None:  # of v1 and v2 one model can have two names
                official[kind].setdefault(model, file.source.name)
        if kind == LOG and file.recorded.signature is not None:
            asked[str(file.recorded.signature["task"])].append(file)
    if len(logged) > 1:
        raise PredictionError(
            "The logs are of several models, which are no repeats of one another: "
            f"{_named(logged)}. Score each model's folder apart, and put them side by side with "
            "`lm-eval-longbench report`."
        )
    for models in official.values():
        if len(models) > 1:
            raise PredictionError(
                "By the names of their folders or files, the answers are of several models, which "
                f"are no repeats of one another: {_named(models)}. Score each model's files apart, "
                "and put them side by side with `lm-eval-longbench report`. Name repeats or parts "
                "of one model `MODEL_repeat-2`."
            )
    for task, own in asked.items():
        for one, other in combinations(own, 2):
            # Of two names of one task in one run the second one is a duplicate, and no repeat.
            if one.source.run != other.source.run:
                _check_settings(task, one, other)


def _check_settings(task: str, one: PlannedFile, other: PlannedFile) -> None:
    """Raise PredictionError if two runs of a task are no repeats of one another."""
    found = no_repeats(one.recorded.signature or {}, other.recorded.signature or {})
    models = answering(one.recorded), answering(other.recorded)
    policies = one.source.reasoning, other.source.reasoning
    if not found and models[0] != models[1]:
        found = [SignatureDifference("model_args", *models, NOT, _OTHER_MODEL)]
    if not found and policies[0] != policies[1]:
        found = [SignatureDifference("reasoning", *policies, NOT, _OTHER_POLICY)]
    if not found:
        return
    places = [one.recorded.file, other.recorded.file]
    if places[0] == places[1]:
        places = [one.path, other.path]
    named = [shlex.quote(os.path.relpath(str(place))) for place in places]
    told = [f"{own.ingredient}: {' and '.join(own.shown())} ({own.reason})" for own in found]
    raise PredictionError(
        f"{task} was run in two settings, which are no repeats of one another: "
        f"{few(told, _DIFFERENCES, '; ')}. They are in {named[0]} and {named[1]}. Nothing is "
        "merged or written. To put them side by side: `lm-eval-longbench compare "
        f"{named[0]} {named[1]}` (or `report`; or give each run a folder of its own)."
    )


_OTHER_MODEL = "other weights, or the same ones at another precision, are another model"
_OTHER_POLICY = "--reasoning scores both alike"
# Settings that are named where two runs differ in more.
_DIFFERENCES = 2


def _named(models: Mapping[str, str]) -> str:
    return few([f"{model} ({name})" for model, name in sorted(models.items())], _NAMED, "; ")


# ---------------------------------------------------------------------- the plan


def _documents(found: Recognised) -> KnownDocuments:
    """Return the documents of the questions that a file of answers is about, as far as known."""
    table = tables().get(found.table or "")
    task = None if table is None else table.tasks.get(found.task or "")
    if found.kind == LOG or table is None or task is None:
        return {}
    benchmark = benchmarks()[table.benchmark]
    return {} if benchmark.official_files is None else benchmark.documents(task)


def plan_paths(
    paths: Sequence[Path],
    benchmark: str | None = None,
    reasoning: str | None = None,
    *,
    rouge_google: bool = False,
    official: bool = False,
) -> Plan:
    """Return the files to read under some paths, in canonical order, with their runs.

    Args:
        paths: files, and folders to search.
        benchmark: short name of the one that the user says it is; None: whatever it is.
        reasoning: policy for reasoning in answers; None: of logs as their run says or else DROP, of
            files of the official scripts KEEP, as their evaluation does.
        rouge_google: whether Google's ROUGE-L is computed too.
        official: whether answers are written as the official scripts do, too.

    Raises:
        PredictionError: no file is recognised or one cannot be read, v1 cannot be told from E, or
            answers are of several models or settings, which are no repeats of one another.
    """
    inputs, problems, beside = [], Problems(), RecordedRuns()
    for file, found in _recognised(find_files(paths), benchmark, problems):
        own = InputFile(file, found, survey(file.path), Recorded())
        dated = found.kind == LOG or own.stamp
        recorded = beside.of(file.path) if dated else Recorded(own.subject or None)
        inputs.append(replace(own, recorded=recorded))
    equal: list[dict[str, str]] = []
    inputs = _without_copies(inputs, problems, equal, reasoning)
    if not inputs:
        raise _nothing(paths, benchmark, problems)
    runs: dict[tuple[str, ...], list[InputFile]] = defaultdict(list)
    for one in sorted(inputs, key=lambda one: one.place):
        runs[one.run].append(one)
    order = sorted(runs, key=lambda run: [one.place for one in runs[run]])
    numbers = {run: number for number, run in enumerate(order)}
    inputs.sort(key=lambda one: (*one.first_key, numbers[one.run], one.place))
    planned = []
    for number, one in enumerate(inputs):
        found, is_log = one.recognised, one.recognised.kind == LOG
        source = PredictionSource(
            number,
            numbers[one.run],
            one.file.name,
            found.kind,
            found.table,
            found.task,
            None if benchmark is None else short_names()[benchmark].name,
            found.filter,
            reasoning or (policy_of(one.recorded.signature) if is_log else KEEP),
            rouge_google,
            found.layout,
            official,
            _documents(found),
        )
        planned.append(PlannedFile(source, one.file.path, one.survey, one.recorded))
    _check_repeats(planned)
    return Plan(planned, [runs[run][0].run_name for run in order], problems, equal)
