"""Verify results: recompute from the sample logs what can be recomputed, and say what differs."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lm_eval_longbench.benchmarks.base import CAPPED, COUNTS, TRUNCATED
from lm_eval_longbench.benchmarks.registry import benchmark_of, benchmark_of_table, tasks
from lm_eval_longbench.check.figures import (
    Figures,
    check_figures,
    check_groups,
    check_official,
    recompute_rows,
)
from lm_eval_longbench.check.prompts import check_prompts
from lm_eval_longbench.check.task import LoggedTask, gathered
from lm_eval_longbench.check.verification import (
    CONFIRMED,
    DIFFERENT,
    NOT_CHECKABLE,
    OFFICIAL,
    Check,
    Verification,
    all_of,
    compared,
    same_number,
)
from lm_eval_longbench.errors import LongBenchError, PredictionError, UnknownNameError
from lm_eval_longbench.logs.found_results import find_results
from lm_eval_longbench.logs.results_file import ResultsFile, ScoredFolder, TaskResult, read_results
from lm_eval_longbench.logs.sample_log import LogRow, at, read_log
from lm_eval_longbench.logs.scored_files import SAMPLES, Numbered, read_samples
from lm_eval_longbench.metrics.reasoning import OTHERWISE
from lm_eval_longbench.prompts.render import text_sha256
from lm_eval_longbench.scoring.report import columns_of, table_report
from lm_eval_longbench.signature.ingredients import INGREDIENTS, LATER
from lm_eval_longbench.signature.signature import completed, line
from lm_eval_longbench.statistics.answers import BadRow

# Called with the name of each task before it is verified.
Progress = Callable[[str], None]
_LOG = "sample log"


def verify(
    paths: Path | str | Iterable[Path | str],
    data_dir: str | None = None,
    tokenizer: str | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Verify results files, run folders and scored folders.

    Args:
        paths: what to verify; folders are searched at any depth.
        data_dir: folder or file of local data, or a copy of pinned data; None: nobody says.
        tokenizer: name or folder of the tokenizer that cut prompts; None: the one that the
            signature names, if it is on this machine.
        progress: told of each task before it is verified.

    Raises:
        PredictionError: a path does not exist or holds no results. A file that is broken is noted
            in the report instead.
    """
    report = Verification()
    given = [paths] if isinstance(paths, Path | str) else paths
    for path in find_results(map(Path, given)):
        try:
            results = read_results(path)
            if isinstance(results, ScoredFolder):
                found = list(check_scored(results))
            else:
                report.foreign += len(results.others)
                found = list(_results(report, results, data_dir, tokenizer, progress))
        except LongBenchError as error:
            report.unreadable.append(str(error))
            continue
        report.checks += [replace(check, file=str(path)) for check in found]
    return report


def _results(
    report: Verification,
    results: ResultsFile,
    data_dir: str | None,
    tokenizer: str | None,
    progress: Progress | None,
) -> Iterator[Check]:
    """Yield the checks of a results file; `report` counts its answers."""
    recomputed: dict[str, Figures] = {}
    for task in results.tasks:
        if progress is not None:
            progress(task.name)
        found = [check_line(task), is_known(task)]
        if found[-1].status != DIFFERENT:
            rows, check = read_rows(task)
            report.answers += sum(len(row.responses) for row in rows)
            known = gathered(task, rows, results, data_dir)
            found += [check, *check_versions(known)]
            found += check_data(known, named=data_dir is not None)
            if rows:
                recomputed[task.name], checks = recompute_rows(known)
                found += [*checks, *_log(known, recomputed[task.name], tokenizer)]
            found.append(check_official(known, found))
        yield from (replace(check, place=task.name) for check in found)
    for group, check in check_groups(results, recomputed):
        yield replace(check, place=group)


def _log(task: LoggedTask, figures: Figures, tokenizer: str | None) -> Iterator[Check]:
    """Yield the checks of a task's sample log and of what the results state of it."""
    yield from check_rows(task)
    yield from check_figures(task, figures)
    yield from check_counts(task, figures)
    yield from check_questions(task)
    yield from check_asked(task)
    yield from check_prompts(task, tokenizer)


def read_rows(task: TaskResult) -> tuple[list[LogRow], Check]:
    """Return the rows of a task's sample log, none if it is missing or broken, and the check."""
    if task.log is None:
        said = (
            f"{task.log_name} is not beside {task.file.name}: its figures cannot be recomputed. "
            "Put it there, or run with log_samples to have one."
        )
        return [], Check(_LOG, _LOG, NOT_CHECKABLE, None, task.log_name, said)
    try:
        rows = list(read_log(task.log))
    except LongBenchError as error:
        said = "The log was damaged or cut short after the run; its figures cannot be recomputed."
        return [], Check(_LOG, _LOG, DIFFERENT, str(error), None, said)
    if not rows:
        said = "The log is empty: its rows were lost after the run."
        return [], Check(_LOG, _LOG, DIFFERENT, "0 rows", None, said)
    return rows, Check(_LOG, _LOG, CONFIRMED, f"{len(rows)} rows", None)


# ---------------------------------------------------------------------- rows and counts of a log


def check_line(task: TaskResult) -> Check:
    """Check the signature's line against the ingredients beside it."""
    kind, found = "signature", task.run.get("signature")
    missing = [key for key in INGREDIENTS if key not in task.run and key not in LATER]
    if missing:
        said = f"The results file lacks the ingredients {', '.join(missing)}."
        return Check(kind, kind, DIFFERENT, found, None, said)
    said = "The line does not belong to the ingredients beside it."
    return compared(kind, kind, found, line(completed(task.signature)), said)


def is_known(task: TaskResult) -> Check:
    """Return the check whether there are such a benchmark and task; without, there is no other."""
    name, benchmark = str(task.run.get("task")), str(task.run.get("benchmark"))
    own = tasks().get(name)
    # Parts of what another task asks have names, but sign as the whole.
    if own is not None and own.counted == name and benchmark_of(own).name == benchmark:
        return Check("task", "task", CONFIRMED, name, name)
    said = "This package has no such task of such a benchmark: nothing else can be checked."
    return Check("task", "task", DIFFERENT, f"{benchmark}, {name}", None, said)


def check_versions(task: LoggedTask) -> Iterator[Check]:
    """Yield the checks of the versions of task and scorer, and of the prompt template."""
    run, benchmark = task.run, task.benchmark
    said = "Another version of the task than this package's, or a number of a user's own."
    ours = benchmark.task_version
    kind = "task version"
    yield compared(kind, kind, str(run.get("version")), ours, said, NOT_CHECKABLE)
    said = "Scored by other rules than this package's. Install the version that the signature "
    said += "names to verify its scores."
    kind = "metrics version"
    yield compared(kind, kind, run.get("metrics"), benchmark.metrics, said)
    said = "The prompts were made from another version of the template."
    template = task.own.prompt_sha256
    yield compared("template", "template", run.get("template_sha256"), template, said)


def check_rows(task: LoggedTask) -> Iterator[Check]:
    """Check that no row is missing, none is there twice, and all are of this run."""
    rows = task.rows
    lengths = sorted(set(Counter(row.filter for row in rows).values()))
    for name, stated in (
        ("n-samples", task.n_samples),
        ("sample_len", task.figures.get("sample_len")),
    ):
        if stated is not None:
            said = "The log has lost rows, or has rows of other runs."
            yield compared("log rows", name, [stated], lengths, said)
    first: dict[tuple[str, int], int] = {}
    twice = [
        at(row, f"is the question of line {line}")
        for row in rows
        if (line := first.setdefault((row.filter, row.index), row.line)) != row.line
    ]
    said = "It counts twice."
    yield from all_of("duplicate rows", len(rows), twice, "each question once", said)
    of = task.run.get("task"), task.run.get("data")
    foreign = [
        at(row, f"is of {row.doc.get('task')}, data {row.doc.get('data')}")
        for row in rows
        if (row.doc.get("task"), row.doc.get("data")) != of
    ]
    what, said = f"of {of[0]}, data {of[1]}", "These are of another run."
    yield from all_of("foreign rows", len(rows), foreign, what, said)
    if task.config.get("filter_list"):
        return  # a user's own filters may make more or fewer answers
    repeats = task.run.get("repeats") or 1
    wrong = [
        at(row, f"has {len(row.responses)} answers")
        for row in rows
        if len(row.responses) != repeats
    ]
    what, said = f"{repeats} answers to each question", "Answers were lost or added."
    yield from all_of("repeats", len(rows), wrong, what, said)


def check_counts(task: LoggedTask, figures: Figures) -> Iterator[Check]:
    """Yield the checks of kept, answered and COUNTS; for asked see `check_asked`."""
    kind, run, last = "counts", task.run, task.rows[-1].filter  # they are of the last filter
    lost = "The signature counts other questions than the log has."
    number = sum(row.filter == last for row in task.rows)
    yield compared(kind, "kept", run.get("kept"), number, lost)
    if not figures.columns:
        said = "Nothing was scored, so nothing was counted."
        yield Check(kind, "answered", NOT_CHECKABLE, run.get("answered"), None, said)
        return
    yield compared(kind, "answered", run.get("answered"), number, lost)
    for name in sorted(metric.name for metric in COUNTS):
        times = 1 if name == TRUNCATED.name else run.get("repeats")
        total = figures.sum_of(f"{name},{last}", partly=name == CAPPED.name)
        if run.get(name) is None:
            continue  # several ranks count no reasoning, and servers may not say how answers end
        if total is None or times is None:
            said = "It does not follow from the log alone."
            yield Check(kind, name, NOT_CHECKABLE, run.get(name), None, said)
        else:
            said = f"The signature counts other {name} answers than the log has."
            yield compared(kind, name, run.get(name), round(total * times), said)


# ---------------------------------------------------------------------- data and questions

_KIND, ASKED = "data", "questions asked"


def check_data(task: LoggedTask, *, named: bool) -> Iterator[Check]:
    """Yield the checks of the data's hash: against its label, and against the data here.

    `named`: whether the user named the data.
    """
    label, data, found = task.label, task.data, task.run.get("data_sha256")
    expected = label.pinned_sha256 or label.digits
    if expected:
        said = "The label names other data than the hash."
        fits = found if str(found).startswith(expected) else expected
        yield compared(_KIND, "label", found, fits, said)
    else:
        said = f"The data {label.base!r} is pinned by another version of this package."
        yield Check(_KIND, "label", NOT_CHECKABLE, found, None, said)
    if isinstance(data, str):
        yield Check(_KIND, "sha256", NOT_CHECKABLE, found, None, data)
    elif label.is_local and named:
        said = f"The result was not made from the data of the option data_dir, {data.label}."
        yield compared(_KIND, "sha256", found, data.sha256, said)
    else:
        said = f"Here is other data, {data.label}."
        yield compared(_KIND, "sha256", found, data.sha256, said, NOT_CHECKABLE)


def check_questions(task: LoggedTask) -> Iterator[Check]:
    """Check every logged question against the data, if it is here: its place and its fields."""
    if isinstance(task.documents, str):
        return
    light = task.documents.rows.without("context").columns()
    known, wrong = set(task.ids), []
    for row in task.rows:
        place = task.places.get(row.line)
        if row.name not in known:
            wrong.append(at(row, "is no question of the data"))
        elif place is None:
            wrong.append(at(row, f"is not the question in place {row.index} of the data"))
        else:
            other = [name for name, column in light.items() if row.doc.get(name) != column[place]]
            wrong += [at(row, f"has {name} {row.doc.get(name)!r}") for name in other[:1]]
    said = "The log has other questions or gold answers than the data it names."
    yield from all_of("questions", len(task.rows), wrong, "fields as in the data", said)


def check_asked(task: LoggedTask) -> Iterator[Check]:
    """Check the hash of the questions that were to be asked, and their number.

    The run hashed their ids in the order of the data. The log is in the order of the ranks, so its
    rows are put back by their number; questions that were skipped for their length are not in it.
    """
    stated, asked = task.run.get("questions_sha256"), task.run.get("asked")
    first = task.rows[0].filter
    own = sorted((row for row in task.rows if row.filter == first), key=lambda row: row.index)
    ids = [row.name for row in own]
    said = "The run was to ask other questions than the log has."
    if task.run.get("overlength") == "skip":
        problem = "Skipped questions are not in the log, and the data is not here to tell them."
        ids = task.ids[:asked]
        if task.ids:
            problem = "Skipped questions are not in the log: which were chosen cannot be told."
        if _hash(ids) != stated:
            yield Check(ASKED, "questions_sha256", NOT_CHECKABLE, stated, None, problem)
            yield Check("counts", "asked", NOT_CHECKABLE, asked, None, problem)
            return
    yield compared(ASKED, "questions_sha256", stated, _hash(ids), said)
    yield compared("counts", "asked", asked, len(ids), "The log has another number of them.")


def _hash(ids: Sequence[str]) -> str:
    return text_sha256(json.dumps(ids))


# ---------------------------------------------------------------------- scored folders

# Counts of what was not scored, which is in no sample.
_NOT_IN_SAMPLES = {"malformed", "duplicate", "copies"}
# Parts that are as the inputs stated them.
_STATED_PARTS = ("benchmark", "data", "embedding_model", "runs")
_OTHER = "The report does not follow from the samples."
_STATED = (
    "Samples hold no answers, so their scores cannot be recomputed: verify the logs that they "
    "were made from, or score the inputs again."
)


def check_scored(folder: ScoredFolder) -> Iterator[Check]:
    """Yield the checks of a scored folder, each with its table as the place.

    Raises:
        PredictionError: samples.jsonl is broken, or has samples of a table that is not reported.
        UnknownNameError: there is no such table or task.
    """
    path, tables = folder.path / SAMPLES, folder.report["tables"]
    for name in tables:
        benchmark_of_table(name)
    samples: dict[str, list[Numbered]] = defaultdict(list)
    for number, sample in read_samples(path):
        samples[sample["table"]].append((number, sample))
    if not samples.keys() <= tables.keys():
        other = min(samples.keys() - tables.keys())
        raise PredictionError(
            f"{path}, line {samples[other][0][0]}, is of the table {other!r}, which the report "
            "does not have."
        )
    for name, entry in tables.items():
        try:
            expected = _recomputed(name, entry, samples[name], path)
        except BadRow as error:
            said = f"line {error.line}: {error}"
            yield Check("counts", "samples", DIFFERENT, said, None, _OTHER, place=name)
            continue
        for part in (part for part in expected if part not in _STATED_PARTS):
            kind = "counts" if part in ("counts", "failures", "repeats") else "figures"
            for check in _leaves(kind, part, entry.get(part), expected[part]):
                yield replace(check, place=name)
        found = f"{len(samples[name])} samples"
        yield Check(OFFICIAL, OFFICIAL, NOT_CHECKABLE, found, None, _STATED, place=name)


def _recomputed(
    name: str, entry: Mapping[str, Any], samples: Sequence[Numbered], path: Path
) -> dict[str, Any]:
    """Return a table's part of the report, made from its samples.

    Raises BadRow for samples that contradict each other.
    """
    table = benchmark_of_table(name).tables[name]
    # It is known which questions are missing only where the report knows.
    official = entry["counts"].get("missing") is not None
    policies = {
        policy for _, sample in samples for policy, other in OTHERWISE.items() if other in sample
    }
    repeats = max((sample["repeat"] for _, sample in samples), default=1)
    expected = [task for task in entry["tasks"] if task in table.tasks]
    ways = columns_of(name, repeats, official=official, reasoned=bool(policies), expected=expected)
    for number, sample in samples:
        if sample["task"] not in table.tasks:
            raise UnknownNameError("task", sample["task"], table.tasks)
        said = f"{path}, line {number}, is no sample of {name}"
        try:
            for columns in ways:
                columns.add({**sample, "id": str(sample["id"])}, number)
        except BadRow as error:
            raise PredictionError(f"{said}: {error}.") from error
        except KeyError as error:
            raise PredictionError(f"{said}: it has no {error}.") from error
    # The policy is as stated where no sample tells one.
    stated = (entry.get("reasoning") or {}).get("policy")
    policy = stated if len(policies) != 1 else min(policies)
    return {**table_report(ways, policy)}


def _leaves(kind: str, name: str, found: Any, expected: Any) -> Iterator[Check]:
    """Yield a check of each leaf of a nested object."""
    if isinstance(expected, Mapping):
        own = found if isinstance(found, Mapping) else {}
        for key in (key for key in expected if key not in _NOT_IN_SAMPLES):
            yield from _leaves(kind, f"{name}.{key}", own.get(key), expected[key])
    elif same_number(found, expected):
        yield compared(kind, name, expected, expected, "")
    else:
        yield Check(kind, name, DIFFERENT, found, expected, _OTHER)
