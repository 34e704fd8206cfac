"""Check a signature in itself, and against what this package would write."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from lm_eval_longbench.provenance.check import (
    CONFIRMED,
    DIFFERENT,
    NOT_CHECKABLE,
    Check,
    all_of,
    compared,
)
from lm_eval_longbench.provenance.lock_tasks import LockTask, task_versions
from lm_eval_longbench.provenance.packages import package_versions
from lm_eval_longbench.provenance.read_log import LogRow
from lm_eval_longbench.provenance.read_results import TaskResult
from lm_eval_longbench.provenance.recompute import V2_TASKS
from lm_eval_longbench.provenance.signature import INGREDIENTS, METRIC_VERSIONS, completed, line

# A pinned official set: repository and revision, and nothing that says questions were left out.
OFFICIAL = re.compile(r"[\w.-]+/[\w.-]+@[0-9a-f]{7,40}")
# What `harness.longbench_v2_rag` adds to the version when it retrieves by itself.
_OWN_RETRIEVAL = " retrieval: own"
_FROM_FILE = "file sha256 "


def check_signature(task: TaskResult, rows: Sequence[LogRow]) -> Iterator[Check]:
    """Yield the checks of the signature of a task that `is_known`.

    Args:
        task: what the results file says.
        rows: of its sample log; empty without one.
    """
    benchmark = str(task.run.get("benchmark"))
    yield from _version(task)
    yield compared(
        "metrics version",
        "metrics version",
        task.run.get("metrics"),
        METRIC_VERSIONS[benchmark],
        "Scored by other rules than this package's. Install the version that the signature names "
        "to verify its scores.",
    )
    yield from _template(task, rows)
    yield from _packages(task)


def check_line(task: TaskResult) -> Check:
    """Check the signature's line against the ingredients beside it."""
    kind = "signature"
    found = task.run.get("signature")
    missing = [key for key in INGREDIENTS if key not in task.run]
    packages = task.run.get("packages")
    own = packages.get("lm_eval_longbench") if isinstance(packages, Mapping) else None
    if missing and own != package_versions()["lm_eval_longbench"]:
        said = f"Written by version {own}, whose signatures have no {', '.join(missing)}."
        return Check(kind, kind, NOT_CHECKABLE, found, None, said)
    if missing:
        said = f"The ingredients {', '.join(missing)} were taken out of the results file."
        return Check(kind, kind, DIFFERENT, found, None, said)
    said = "The line does not belong to the ingredients beside it: one of them was edited."
    return compared(kind, kind, found, line(completed(task.signature)), said)


def is_known(task: TaskResult, ours: Mapping[str, LockTask]) -> Check:
    """Return the check whether there are such a benchmark and task; without, there is no other.

    Args:
        task: what the results file says.
        ours: our tasks by name.
    """
    name, benchmark = str(task.run.get("task")), str(task.run.get("benchmark"))
    # Domains of LongBench v2 have names, but sign as what they are a part of.
    whole = name in ours and (ours[name].benchmark != "longbench_v2" or name in V2_TASKS)
    if whole and ours[name].benchmark == benchmark:
        return Check("task", "task", CONFIRMED, name, name)
    said = "This package has no such task of such a benchmark: nothing else can be checked."
    return Check("task", "task", DIFFERENT, f"{benchmark}, {name}", None, said)


def _version(task: TaskResult) -> Iterator[Check]:
    kind = "task version"
    ours = task_versions()[str(task.run.get("task"))]
    own = str(task.run.get("version"))
    if own == ours:
        yield Check(kind, "of this package", CONFIRMED, own, ours)
    else:
        said = (
            f"Another version of the task than this package's, {ours}, or a number of a user's own."
        )
        yield Check(kind, "of this package", NOT_CHECKABLE, own, ours, said)
    if task.version is None:
        yield Check(kind, kind, NOT_CHECKABLE, meaning="The results state no version.")
        return
    expected = str(task.run.get("version"))
    retrieval = task.run.get("retrieval")
    if retrieval is not None and not str(retrieval).startswith(_FROM_FILE):
        expected += _OWN_RETRIEVAL
    data = str(task.run.get("data"))
    if not OFFICIAL.fullmatch(data):
        expected += f" data: {data}"
    said = "The version shown in the table does not belong to the signature."
    yield compared(kind, kind, task.version, expected, said)


def our_template(task: str) -> tuple[str, str]:
    """Return benchmark folder and name of a task's template; KeyError if there is no such task."""
    from lm_eval_longbench.catalog import split_of_task
    from lm_eval_longbench.prompts import longbench_pro, longbench_v1, longbench_v2

    modes = {
        "longbench_v2": longbench_v2.ZERO_SHOT,
        "longbench_v2_no_context": longbench_v2.NO_CONTEXT,
        "longbench_v2_cot": longbench_v2.COT,
        "longbench_v2_cot_answer": longbench_v2.COT_ANSWER,
        "longbench_v2_rag": longbench_v2.RAG,
    }
    if task.startswith("longbench_v1"):
        return longbench_v1.TEMPLATES, split_of_task(task).info.name
    if task.startswith("longbench_pro"):
        return longbench_pro.TEMPLATES, longbench_pro.TEMPLATE
    return longbench_v2.TEMPLATES, modes[task]


def _template(task: TaskResult, rows: Sequence[LogRow]) -> Iterator[Check]:
    from lm_eval_longbench.prompts.templates import template_sha256

    kind = "template"
    found = task.run.get("template_sha256")
    ours = template_sha256(*our_template(str(task.run.get("task"))))
    said = "The prompts were made from another version of the template."
    yield compared(kind, kind, found, ours, said)
    if rows:
        other = [
            f"line {row.line} ({row.name}) has template {row.prompt.get('template_sha256')}"
            for row in rows
            if row.prompt.get("template_sha256") != found
        ]
        said = "The prompts in the log are from another template than the signature says."
        yield all_of("template in the log", len(rows), other, f"template {found}", said)


def _packages(task: TaskResult) -> Iterator[Check]:
    recorded = task.run.get("packages")
    ours = package_versions()
    for name, version in (recorded if isinstance(recorded, Mapping) else {}).items():
        if version == ours.get(name):
            yield Check("packages", name, CONFIRMED, version, version)
        else:
            said = f"A note: recomputed with {name} {ours.get(name)} instead of {version}."
            yield Check("packages", name, NOT_CHECKABLE, version, ours.get(name), said)
