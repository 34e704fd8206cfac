"""Decide what is read: which files, in which order, and which of them are of one run."""

from __future__ import annotations

import os
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

from lm_eval_longbench.benchmarks.registry import benchmarks, short_names, tables
from lm_eval_longbench.benchmarks.sample import KnownDocuments
from lm_eval_longbench.errors import PredictionError, few
from lm_eval_longbench.logs.found_results import answering
from lm_eval_longbench.logs.results_file import Recorded, RecordedRuns
from lm_eval_longbench.logs.sample_log import answers_in
from lm_eval_longbench.metrics.reasoning import DROP, KEEP, POLICIES
from lm_eval_longbench.scoring.files import (
    LOG,
    FoundFile,
    PredictionSource,
    Survey,
    survey,
)
from lm_eval_longbench.scoring.problems import Problems, entry, sentence
from lm_eval_longbench.scoring.recognise import (
    Foreign,
    InputFile,
    Recognised,
    of_kind,
    table_of_folder,
)
from lm_eval_longbench.signature.compare import SETTINGS, SignatureDifference, no_repeats
from lm_eval_longbench.signature.ingredients import NOT

# Files named where none is recognised.
_NAMED = 5


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A file that is read.

    Attributes:
        source: what its lines need to know of it.
        path: where it is.
        survey: its identity.
        recorded: what the results file beside it says; of the file of another program, whose
            answers they are; nothing for other files than logs.
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
        equal: sample logs whose lines another one has, each with the other's name: a finished run
            that was started again, or a part of the whole run.
    """

    files: list[PlannedFile]
    runs: list[str]
    equal: list[dict[str, str]] = field(default_factory=list)


def _nothing(paths: Iterable[Path], benchmark: str | None, problems: Problems) -> PredictionError:
    where = ", ".join(map(str, paths))
    foreign = [sentence("foreign", own) for own in problems.first("foreign")]
    found = "".join(f"\n  {line}" for line in foreign[:_NAMED])
    if benchmark is not None and short_names()[benchmark].file_names == "all":
        own = short_names()[benchmark].tasks.values()
        names = ", ".join(f"{task.label}.jsonl" for task in own)
        return PredictionError(f"{where} has no prediction file of {benchmark}: {names}.{found}")
    told = "" if benchmark is None else f" of {benchmark}"
    return PredictionError(
        f"{where}: nothing is recognised as predictions{told}. Expected are the harness's sample "
        "logs (samples_<task>_<date>.jsonl, of log_samples), official LongBench v1 or E "
        "prediction files (<dataset>.jsonl, lines with pred and answers), official LongBench v2 "
        "result files (lines with _id, answer, difficulty, length and response or pred), or "
        "official LongBench Pro inference files (*_inference_*.jsonl), any of them with gzip or "
        "without; or files of other programs, see docs/migrating.md. If it is one of them, say "
        f"which benchmark it is, {', '.join(short_names())}.{found}"
    )


def _with_tables(inputs: list[InputFile], problems: Problems) -> list[InputFile]:
    """Settle which table files are of where the rows of several benchmarks look alike."""
    folders: dict[tuple[str, Path], dict[str, Path]] = defaultdict(dict)
    for one in inputs:
        found = one.recognised
        if found.kind != LOG and found.table is None:
            folders[found.kind, one.file.path.parent][str(found.task)] = one.file.path
    tables = {key: table_of_folder(*key, files) for key, files in folders.items()}
    settled = []
    for one in inputs:
        found = one.recognised
        if found.kind != LOG and of_kind(found.kind)[0].file_names == "all":
            table = found.table or tables[found.kind, one.file.path.parent]
            own = benchmarks()[table]
            tasks = [task.name for task in own.tasks.values() if task.label == found.task]
            if not tasks:
                reason = f"is no dataset of {own.short}"
                problems.add("foreign", entry(one.file.name, None, reason))
                continue
            found = Recognised(found.kind, table, tasks[0], layout=found.layout)
        settled.append(InputFile(one.file, found, one.survey))
    return settled


def _without_copies(
    inputs: list[InputFile],
    problems: Problems,
    equal: list[dict[str, str]],
    beside: RecordedRuns,
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
        distinct += _not_in_others(own, equal, beside, reasoning)
    return distinct


def _not_in_others(
    logs: Sequence[InputFile],
    equal: list[dict[str, str]],
    beside: RecordedRuns,
    reasoning: str | None,
) -> Iterator[InputFile]:
    """Yield of logs of one task those whose answers are not all in another one; `equal`: others."""
    answers = {one.file: answers_in(one.file.path) for one in logs} if len(logs) > 1 else {}
    first: list[InputFile] = []
    # Of equal ones the one with figures is larger.
    for one in sorted(logs, key=lambda one: (-len(answers.get(one.file, ())), -one.survey.size)):
        own = answers.get(one.file)
        among = (other for other in first if own and own <= answers[other.file])
        ours = beside.of(one.file.path)
        alike = (it for it in among if _scored_alike(ours, beside.of(it.file.path), reasoning))
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


def _documents(found: Recognised) -> KnownDocuments:
    """Return the documents of the questions that a file of answers is about, as far as known."""
    table = tables().get(found.table or "")
    task = None if table is None else table.tasks.get(found.task or "")
    if found.kind == LOG or table is None or task is None:
        return {}
    benchmark = benchmarks()[table.benchmark]
    return {} if benchmark.official_files is None else benchmark.documents(task)


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
        if len(own) > 1:
            _check_settings(task, own)


def _check_settings(task: str, files: Sequence[PlannedFile]) -> None:
    """Raise PredictionError if runs of a task are no repeats of one another."""
    distinct: dict[str, PlannedFile] = {}
    runs: dict[str, set[int]] = defaultdict(set)
    for file in files:
        own = file.recorded.signature or {}
        nothing_cut = own.get("truncated") == 0, own.get("kept") == own.get("asked")
        model, policy = answering(file.recorded), file.source.reasoning
        key = repr([*(own.get(name) for name in SETTINGS), nothing_cut, model, policy])
        distinct.setdefault(key, file)
        runs[key].add(file.source.run)
    for left, right in combinations(distinct, 2):
        one, other = distinct[left], distinct[right]
        models = answering(one.recorded), answering(other.recorded)
        found = no_repeats(one.recorded.signature or {}, other.recorded.signature or {})
        policies = one.source.reasoning, other.source.reasoning
        if not found and models[0] != models[1]:
            found = [SignatureDifference("model_args", *models, NOT, _OTHER_MODEL)]
        if not found and policies[0] != policies[1]:
            found = [SignatureDifference("reasoning", *policies, NOT, _OTHER_POLICY)]
        # Of two names of one task in one run the second one is a duplicate, and no repeat.
        if not found or len(runs[left] | runs[right]) == 1:
            continue
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
# Models that are named where there are several.
_NAMED = 5


def _named(models: Mapping[str, str]) -> str:
    return few([f"{model} ({name})" for model, name in sorted(models.items())], _NAMED, "; ")


def plan_files(
    files: list[FoundFile],
    recognised: Mapping[FoundFile, Recognised | Foreign],
    paths: Iterable[Path],
    benchmark: str | None,
    problems: Problems,
    reasoning: str | None = None,
    *,
    rouge_google: bool = False,
    official: bool = False,
) -> Plan:
    """Return the files to read in canonical order, with their runs; foreign ones become problems.

    Args:
        files: found under the paths, sorted.
        recognised: what each holds.
        paths: as the user named them, for the error.
        benchmark: short name of the one that the user says it is; None: whatever it is.
        problems: gets foreign and duplicate files.
        reasoning: policy for reasoning in answers; None: of logs as their run says or else DROP, of
            files of the official scripts KEEP, as their evaluation does.
        rouge_google: whether Google's ROUGE-L is computed too.
        official: whether answers are written as the official scripts do, too.

    Raises:
        PredictionError: no file is recognised or one cannot be read, v1 cannot be told from E, or
            answers are of several models or settings, which are no repeats of one another.
    """
    inputs = []
    for file in files:
        found = recognised[file]
        if isinstance(found, Recognised):
            inputs.append(InputFile(file, found, survey(file.path)))
        elif not found.quiet:
            problems.add("foreign", entry(file.name, None, found.reason))
    equal: list[dict[str, str]] = []
    runs_beside = RecordedRuns()
    inputs = _with_tables(inputs, problems)
    inputs = _without_copies(inputs, problems, equal, runs_beside, reasoning)
    if not inputs:
        raise _nothing(paths, benchmark, problems)
    runs: dict[tuple[str, ...], list[InputFile]] = defaultdict(list)
    for one in sorted(inputs, key=lambda one: one.place):
        runs[one.run].append(one)
    order = sorted(runs, key=lambda run: [one.place for one in runs[run]])
    numbers = {run: number for number, run in enumerate(order)}
    inputs.sort(key=lambda one: (*one.first_key, numbers[one.run], one.place))
    asked = None if benchmark is None else short_names()[benchmark].name
    planned = []
    for number, one in enumerate(inputs):
        is_log = one.recognised.kind == LOG
        is_dated = is_log or bool(one.stamp)
        recorded = runs_beside.of(one.file.path) if is_dated else Recorded(one.subject or None)
        source = PredictionSource(
            number,
            numbers[one.run],
            one.file.name,
            one.recognised.kind,
            one.recognised.table,
            one.recognised.task,
            asked,
            one.recognised.filter,
            reasoning or (policy_of(recorded.signature) if is_log else KEEP),
            rouge_google,
            one.recognised.layout,
            official,
            _documents(one.recognised),
        )
        planned.append(PlannedFile(source, one.file.path, one.survey, recorded))
    _check_repeats(planned)
    return Plan(planned, [runs[run][0].run_name for run in order], equal)
