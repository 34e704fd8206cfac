"""Check the rows of a sample log, what the signature counts of them, and the signature itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from lm_eval_longbench.benchmarks.base import CAPPED, COUNTS, TRUNCATED
from lm_eval_longbench.benchmarks.registry import benchmark_of, tasks
from lm_eval_longbench.logs.results_file import TaskResult
from lm_eval_longbench.logs.sample_log import at
from lm_eval_longbench.signature.ingredients import INGREDIENTS, LATER
from lm_eval_longbench.signature.signature import completed, line
from lm_eval_longbench.verify.check import (
    CONFIRMED,
    DIFFERENT,
    NOT_CHECKABLE,
    Check,
    all_of,
    compared,
)
from lm_eval_longbench.verify.figures import Figures
from lm_eval_longbench.verify.subject import Subject


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


def check_versions(task: Subject) -> Iterator[Check]:
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


def check_rows(task: Subject) -> Iterator[Check]:
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


def check_counts(task: Subject, figures: Figures) -> Iterator[Check]:
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
