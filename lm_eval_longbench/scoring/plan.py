"""Decide what is read: which files, in which order, and which of them are of one run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval_longbench.benchmarks.registry import benchmarks, short_names, tables
from lm_eval_longbench.benchmarks.sample import Documents
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.logs.results_file import Recorded, RecordedRuns
from lm_eval_longbench.metrics.reasoning import DROP, KEEP, POLICIES
from lm_eval_longbench.scoring.files import LOG, FoundFile, PredictionSource, Survey, survey
from lm_eval_longbench.scoring.problems import Problems, entry, sentence
from lm_eval_longbench.scoring.recognise import (
    Foreign,
    InputFile,
    Recognised,
    of_kind,
    table_of_folder,
)

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
    """

    files: list[PlannedFile]
    runs: list[str]


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
        "logs (samples_<task>_<date>.jsonl, from --log_samples), official LongBench v1 or E "
        "prediction files (<dataset>.jsonl, lines with pred and answers), official LongBench v2 "
        "result files (lines with _id, answer, difficulty, length and response or pred), or "
        "official LongBench Pro inference files (*_inference_*.jsonl), any of them with gzip or "
        "without; or files of other programs, see docs/other-logs.md. If it is one of them, say "
        f"which with --benchmark {', '.join(short_names())}.{found}"
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


def _without_copies(inputs: list[InputFile], problems: Problems) -> list[InputFile]:
    """Leave out files whose text another one has, for the same table and task."""
    kept: dict[tuple[Any, ...], InputFile] = {}
    for one in sorted(inputs, key=lambda one: one.place):
        found = one.recognised
        role = (found.kind, found.table, found.task, one.subject, one.survey.text_sha256)
        first = kept.setdefault(role, one)
        if first is not one:
            reason = f"the same bytes as {first.file.name}"
            problems.add("duplicate", entry(one.file.name, None, reason))
    return list(kept.values())


def _documents(found: Recognised) -> Documents:
    """Return the documents of the questions that a file of answers is about, as far as known."""
    table = tables().get(found.table or "")
    task = None if table is None else table.tasks.get(found.task or "")
    if found.kind == LOG or table is None or task is None:
        return {}
    benchmark = benchmarks()[table.benchmark]
    files = benchmark.official_files
    return {} if files is None else files.documents(benchmark, task)


def policy_of(signature: Mapping[str, Any] | None) -> str:
    """Return the policy for reasoning that a run's signature states; DROP if it states none."""
    stated = (signature or {}).get("reasoning")
    return stated if stated in POLICIES else DROP


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
        PredictionError: no file is recognised or one cannot be read, or v1 cannot be told from E.
    """
    inputs = []
    for file in files:
        found = recognised[file]
        if isinstance(found, Recognised):
            inputs.append(InputFile(file, found, survey(file.path)))
        elif not found.quiet:
            problems.add("foreign", entry(file.name, None, found.reason))
    inputs = _without_copies(_with_tables(inputs, problems), problems)
    if not inputs:
        raise _nothing(paths, benchmark, problems)
    runs: dict[tuple[str, ...], list[InputFile]] = defaultdict(list)
    for one in sorted(inputs, key=lambda one: one.place):
        runs[one.run].append(one)
    order = sorted(runs, key=lambda run: [one.place for one in runs[run]])
    numbers = {run: number for number, run in enumerate(order)}
    inputs.sort(key=lambda one: (*one.first_key, numbers[one.run], one.place))
    asked = None if benchmark is None else short_names()[benchmark].name
    planned, runs_beside = [], RecordedRuns()
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
    return Plan(planned, [runs[run][0].run_name for run in order])
