"""Decide what is read: which files, in which order, and which of them are of one run."""

from __future__ import annotations

import os
import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

from lm_eval_longbench.benchmarks.registry import (
    benchmarks,
    layouts,
    position,
    short_names,
    table_of,
    tables,
)
from lm_eval_longbench.benchmarks.results import Recorded, RecordedRuns, answering
from lm_eval_longbench.errors import PredictionError, few
from lm_eval_longbench.metrics.reasoning import DROP, KEEP, POLICIES
from lm_eval_longbench.records.log import answers_in, task_in_name
from lm_eval_longbench.records.sample import KnownDocuments, Read
from lm_eval_longbench.scoring.files import (
    LOG,
    InputFile,
    find_files,
    identify,
    of_kind,
    recognise,
    rows_of,
    stem_of,
    table_of_folder,
)
from lm_eval_longbench.scoring.problems import Problems, entry, sentence
from lm_eval_longbench.scoring.score_chunk import read_row
from lm_eval_longbench.signature.compare import SignatureDifference, no_repeats
from lm_eval_longbench.signature.ingredients import NOT

# Files named where none is recognised, and models where there are several.
_NAMED = 5
_STAMP = re.compile(r"_(\d{4}-\d\d-\d\dT[\d.-]+)$")


def _stamp(file: InputFile) -> str:
    """Return the time in the name of a harness log; "" for none."""
    dated = file.kind == LOG or file.layout
    found = _STAMP.search(stem_of(file.place)) if dated else None
    return found[1] if found else ""


def _subject(file: InputFile) -> str:
    """Return whose answers the file of another program has; "": it does not say."""
    return layouts()[file.layout].subject(file.place) if file.layout else ""


def _in_name(file: InputFile) -> str | None:
    """Return what the names of the files of one run share; None: each is a run."""
    return None if file.kind == LOG else of_kind(file.kind)[0].run_in_name(stem_of(file.place))


def _run(file: InputFile) -> tuple[str, ...]:
    """Return what is equal for the files of one run, and only for them."""
    folder, stamp = str(file.place.parent), _stamp(file)
    if file.layout:
        return (file.layout, _subject(file) or folder, stamp)
    if file.kind == LOG and stamp:
        return (LOG, folder, stamp)
    shared = _in_name(file)
    return (file.kind, str(file.path)) if shared is None else (file.kind, folder, shared)


def _run_name(file: InputFile) -> str:
    """Return the name of a file's run in the report."""
    folder, stamp = file.name.rpartition("/")[0], _stamp(file)
    if _subject(file):
        return _subject(file)
    if stamp:
        return f"{folder} {stamp}".strip()
    return folder if _in_name(file) == "" and folder else file.name


def _order(file: InputFile) -> tuple[Any, ...]:
    """Return what sorts files, whatever the order of the arguments.

    Of two settings of one task in one run the one under our own name comes first.
    """
    named = table_of(task_in_name(stem_of(file.place)))
    ours = file.kind != LOG or named is not None
    return (_stamp(file), file.name.rpartition("/")[0], not ours, file.name, file.sha256)


def _table_and_task(file: InputFile) -> tuple[int, int]:
    """Return the numbers of a file's table and task where all rows have one."""
    if file.table is None:
        return (len(tables()), 0)
    return position(file.table, file.task if file.task in tables()[file.table].tasks else None)


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

    files: list[InputFile]
    runs: list[str]
    problems: Problems
    equal: list[dict[str, str]] = field(default_factory=list)

    def rows(self) -> Iterator[tuple[InputFile, Any, Read]]:
        """Yield each decoded row of all files, with its file and what is read in it."""
        for file in self.files:
            for index, row in rows_of(file.place, file.layout):
                yield file, row, read_row(row, index, file)


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
    files: Iterable[InputFile], benchmark: str | None, problems: Problems
) -> Iterator[InputFile]:
    """Yield the files that are recognised; others become problems.

    Where the rows of several benchmarks look alike, the other files of the folder settle of which
    table one is.
    """
    known: list[InputFile] = []
    folders: dict[tuple[str, Path], dict[str, Path]] = defaultdict(dict)
    for file in files:
        foreign = recognise(file, benchmark)
        if foreign is None:
            known.append(file)
            if file.kind != LOG and file.table is None:
                folders[file.kind, file.place.parent][str(file.task)] = file.place
        elif not foreign.quiet:
            problems.add("foreign", entry(file.name, None, foreign.reason))
    settled = {key: table_of_folder(*key, own) for key, own in folders.items()}
    for file in known:
        if file.kind != LOG and of_kind(file.kind)[0].file_names == "all":
            file.table = file.table or settled[file.kind, file.place.parent]
            own = benchmarks()[file.table]
            tasks = [task.name for task in own.tasks.values() if task.label == file.task]
            if not tasks:
                problems.add("foreign", entry(file.name, None, f"is no dataset of {own.short}"))
                continue
            file.task = tasks[0]
        yield file


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
    for one in sorted(inputs, key=_order):
        role: tuple[Any, ...] = (one.kind, one.table, one.task, _subject(one))
        if one.kind == LOG:
            logs[role].append(one)
            continue
        first = kept.setdefault((*role, one.text_sha256), one)
        if first is not one:
            problems.add("duplicate", entry(one.name, None, f"the same bytes as {first.name}"))
    distinct = [*kept.values()]
    for own in logs.values():
        distinct += _not_in_others(own, equal, reasoning)
    return distinct


def _not_in_others(
    logs: Sequence[InputFile], equal: list[dict[str, str]], reasoning: str | None
) -> Iterator[InputFile]:
    """Yield of logs of one task those whose answers are not all in another one; `equal`: others."""
    answers = {one.path: answers_in(one.place) for one in logs} if len(logs) > 1 else {}
    first: list[InputFile] = []
    # Of equal ones the one with figures is larger.
    for one in sorted(logs, key=lambda one: (-len(answers.get(one.path, ())), -one.size)):
        own = answers.get(one.path)
        among = (other for other in first if own and own <= answers[other.path])
        alike = (it for it in among if _scored_alike(one.recorded, it.recorded, reasoning))
        whole = next(alike, None)
        if whole is None:
            first.append(one)
        else:
            equal.append({"name": one.name, "as": whole.name})
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


def _check_repeats(planned: Sequence[InputFile]) -> None:
    """Refuse answers of several models or settings: they are no repeats of one another.

    Raises:
        PredictionError: the results files beside logs, or the folders in which official files lie,
            name several models; or runs of one task were asked in other ways.
    """
    logged: dict[str, str] = {}
    official: dict[str, dict[str, str]] = defaultdict(dict)
    asked: dict[str, list[InputFile]] = defaultdict(list)
    for file in planned:
        model, kind = file.recorded.model, file.kind
        if model is not None:
            logged.setdefault(model, file.name)
        elif kind != LOG and not file.layout:
            files = of_kind(kind)[0].official_files
            model = files.stated_model(file.place) if files else None
            if model is not None:  # of v1 and v2 one model can have two names
                official[kind].setdefault(model, file.name)
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
            if one.run != other.run:
                _check_settings(task, one, other)


def _check_settings(task: str, one: InputFile, other: InputFile) -> None:
    """Raise PredictionError if two runs of a task are no repeats of one another."""
    found = no_repeats(one.recorded.signature or {}, other.recorded.signature or {})
    models = answering(one.recorded), answering(other.recorded)
    policies = one.reasoning, other.reasoning
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


def _documents(file: InputFile) -> KnownDocuments:
    """Return the documents of the questions that a file of answers is about, as far as known."""
    table = tables().get(file.table or "")
    task = None if table is None else table.tasks.get(file.task or "")
    if file.kind == LOG or table is None or task is None:
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
    for file in _recognised(find_files(paths), benchmark, problems):
        identify(file)
        dated = file.kind == LOG or _stamp(file)
        file.recorded = beside.of(file.place) if dated else Recorded(_subject(file) or None)
        inputs.append(file)
    equal: list[dict[str, str]] = []
    inputs = _without_copies(inputs, problems, equal, reasoning)
    if not inputs:
        raise _nothing(paths, benchmark, problems)
    runs: dict[tuple[str, ...], list[InputFile]] = defaultdict(list)
    for one in sorted(inputs, key=_order):
        runs[_run(one)].append(one)
    order = sorted(runs, key=lambda run: [_order(one) for one in runs[run]])
    for number, run in enumerate(order):
        for one in runs[run]:
            one.run = number
    inputs.sort(key=lambda one: (*_table_and_task(one), one.run, _order(one)))
    for number, one in enumerate(inputs):
        one.number = number
        one.benchmark = None if benchmark is None else short_names()[benchmark].name
        logged = policy_of(one.recorded.signature) if one.kind == LOG else KEEP
        one.reasoning = reasoning or logged
        one.rouge_google, one.official, one.documents = rouge_google, official, _documents(one)
    _check_repeats(inputs)
    return Plan(inputs, [_run_name(runs[run][0]) for run in order], problems, equal)
