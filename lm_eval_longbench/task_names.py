"""Which tasks and groups a name stands for, read from the task files.

The harness is not needed, nor is any task built.
"""

from __future__ import annotations

import fnmatch
import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from lm_eval_longbench.benchmarks.registry import benchmarks, tables
from lm_eval_longbench.errors import LongBenchError, OptionError, UnknownNameError
from lm_eval_longbench.task_folder import task_folder

# What stands between names where no plain comma does, with spaces.
_COMMAS = re.compile(r"\s*[，、；;]\s*")


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads task files; what stands behind `!function` stays a text."""


_Loader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))


@functools.cache
def _read(path: Path) -> dict[str, Any]:
    """Read a task file with what it includes, as the harness does: its own keys win."""
    with path.open("rb") as handle:
        own = yaml.load(handle, Loader=_Loader)
    included = own.pop("include", ())
    merged: dict[str, Any] = {}
    for name in [included] if isinstance(included, str) else included:
        merged |= _read(path.parent / name)  # one base of many files is read once
    return merged | own


@functools.cache
def _files() -> dict[str, dict[str, Any]]:
    """Return every task and group by name; they do not change while a program runs."""
    own = (one.task_folder for one in benchmarks().values())
    folders = [task_folder(), *(folder for folder in own if folder is not None)]
    read = [_read(path) for folder in folders for path in sorted(folder.rglob("*.yaml"))]
    return {one.get("group") or one["task"]: one for one in read}


def task_versions() -> dict[str, str]:
    """Return the version of each of our tasks by name, from its file."""
    return {
        name: str(one["metadata"]["version"])
        for name, one in _files().items()
        if "group" not in one
    }


def group_weights(name: str, members: Sequence[str]) -> Mapping[str, bool] | None:
    """Return of each metric of our group whether its tasks weigh by their size.

    None if the group has other members than ours: then it is a user's own.
    """
    own = _files().get(name, {})
    if "group" not in own or list(members) != own["task"]:
        return None
    listed = own.get("aggregate_metric_list") or ()
    return {one["metric"]: bool(one.get("weight_by_size", True)) for one in listed}


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
    # `run` adds pass two to pass one.
    second = {one.first_pass: name for name, one in tables().items() if one.first_pass}

    def leaves(name: str) -> Iterator[str]:
        if "group" not in files[name]:
            yield name
            if name in second:
                yield second[name]
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


def unknown_task(name: str, kind: str = "task") -> LongBenchError:
    """Return the error of a name that stands for no task of ours."""
    plain = _COMMAS.sub(",", name)
    if plain != name:
        return OptionError(f"Task names stand between plain commas: {plain}")
    return UnknownNameError(kind, name, valid_names())


def valid_names() -> list[str]:
    """Return the names of all our tasks and groups, sorted."""
    return sorted(_files())
