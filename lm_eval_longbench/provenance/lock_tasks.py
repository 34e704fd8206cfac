"""Which of our tasks a name stands for, and what a lock file must know of each.

Read from the task folder and the catalogs; the harness is not needed, nor is any task built.
"""

from __future__ import annotations

import fnmatch
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from lm_eval_longbench.catalog import SPLITS
from lm_eval_longbench.catalog_pro import BY_CODE
from lm_eval_longbench.catalog_v2 import DOMAINS
from lm_eval_longbench.prompts import longbench_pro, longbench_v1, longbench_v2
from lm_eval_longbench.task_folder import task_folder

_V2_MODES = {
    "longbench_v2": longbench_v2.ZERO_SHOT,
    "longbench_v2_no_context": longbench_v2.NO_CONTEXT,
    "longbench_v2_cot": longbench_v2.COT,
    "longbench_v2_cot_answer": longbench_v2.COT_ANSWER,
    "longbench_v2_rag": longbench_v2.RAG,
}
# `run` adds pass two of chain of thought to pass one.
_BROUGHT_ALONG = {"longbench_v2_cot": "longbench_v2_cot_answer"}


@dataclass(frozen=True)
class LockTask:
    """One of our tasks.

    Attributes:
        name: of the task.
        benchmark: as in `signature.METRIC_VERSIONS`.
        dataset: what of the benchmark it evaluates: a data file's stem for v1 and E, a domain's
            code or "all" for v2, a secondary task's code for Pro.
        template: benchmark and name of its prompt template, for `prompts.templates`.
    """

    name: str
    benchmark: str
    dataset: str
    template: tuple[str, str]


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads task files; what stands behind `!function` stays a text."""


_Loader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))


def _read(path: Path) -> dict[str, Any]:
    """Read a task file with what it includes, as the harness does: its own keys win."""
    with path.open("rb") as handle:
        own = yaml.load(handle, Loader=_Loader)
    included = own.pop("include", ())
    merged: dict[str, Any] = {}
    for name in [included] if isinstance(included, str) else included:
        merged |= _read(path.parent / name)
    return merged | own


@functools.cache
def _files() -> dict[str, dict[str, Any]]:
    """Return every task and group by name; they do not change while a program runs."""
    read = map(_read, sorted(task_folder().rglob("*.yaml")))
    return {one.get("group") or one["task"]: one for one in read}


def all_tasks() -> dict[str, LockTask]:
    """Return all our tasks by name."""
    found = [
        LockTask(
            split.task, split.benchmark, split.file_stem, (longbench_v1.TEMPLATES, split.info.name)
        )
        for split in SPLITS
    ]
    v2 = {name: ("all", mode) for name, mode in _V2_MODES.items()}
    v2 |= {f"longbench_v2_{code}": (code, longbench_v2.ZERO_SHOT) for code in DOMAINS}
    found += [
        LockTask(name, "longbench_v2", dataset, (longbench_v2.TEMPLATES, mode))
        for name, (dataset, mode) in v2.items()
    ]
    pro = (longbench_pro.TEMPLATES, longbench_pro.TEMPLATE)
    found += [
        LockTask(f"{form}_{code}", "longbench_pro", code, pro)
        for form in ("longbench_pro", "longbench_pro_thinking")
        for code in BY_CODE
    ]
    return {task.name: task for task in found}


def task_versions() -> dict[str, str]:
    """Return the version of each of our tasks by name, from its file."""
    return {
        name: str(one["metadata"]["version"])
        for name, one in _files().items()
        if "group" not in one
    }


def official_aggregation(task: str, metric: str) -> str | None:
    """Return the name of the function that puts a task's metric together; None: there is none."""
    listed = _files()[task].get("metric_list") or ()
    found = (str(one.get("aggregation")) for one in listed if one["metric"] == metric)
    return next((name.rpartition(".")[2] for name in found), None)


@dataclass(frozen=True)
class OurGroup:
    """One of our groups.

    Attributes:
        alias: its name in tables.
        version: of its file.
        weights: of each metric that it has, whether tasks weigh by their size.
    """

    alias: str
    version: str
    weights: Mapping[str, bool]


def our_group(name: str, members: Sequence[str]) -> OurGroup | None:
    """Return our group of a name; None if it has other members: then it is a user's own."""
    own = _files().get(name, {})
    if "group" not in own or list(members) != own["task"]:
        return None
    listed = own.get("aggregate_metric_list") or ()
    weights = {one["metric"]: bool(one["weight_by_size"]) for one in listed}
    return OurGroup(own.get("group_alias", name), str(own["metadata"]["version"]), weights)


def is_group(name: str) -> bool:
    """Whether we have a group of this name."""
    return "group" in _files().get(name, {})


def expanded(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return what names stand for.

    Args:
        names: tasks, groups and wildcards as for the harness's --tasks; commas separate, too.

    Returns:
        Our tasks, sorted, each once; and the names that stand for none of them, as given.
    """
    files = _files()

    def leaves(name: str) -> Iterator[str]:
        if "group" not in files[name]:
            yield name
            if name in _BROUGHT_ALONG:
                yield _BROUGHT_ALONG[name]
            return
        for member in files[name]["task"]:
            yield from leaves(member)

    ours: set[str] = set()
    foreign: list[str] = []
    for name in (part.strip() for given in names for part in given.split(",")):
        met = fnmatch.filter(files, name)
        if not met:
            foreign.append(name)
        for one in met:
            ours.update(leaves(one))
    return sorted(ours), foreign


def valid_names() -> list[str]:
    """Return the names of all our tasks and groups, sorted."""
    return sorted(_files())
