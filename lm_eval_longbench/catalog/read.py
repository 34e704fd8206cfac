"""Read the task files, which define the tasks; the harness is not needed, nor is any task built."""

from __future__ import annotations

import contextlib
import functools
import os
import re
from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from lm_eval_longbench.catalog.model import Group, Length, Source, Table, Task, prompt_sha256
from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.task_folder import task_folder

# Keys that the harness does not know.
OWN_KEYS = frozenset(
    {
        *("benchmark", "table", "tables", "mode", "published", "first_pass", "counts_as"),
        *("source", "where", "questions", "length", "dimensions", "document"),
        *("definition", "label", "category", "language", "headline"),
        *("template", "prompt_sha256", "truncation", "transformers", "limits", "chat_template"),
        *("metric", "first_line", "known_errors"),
    }
)
_LENGTH = re.compile(r"(\d+)(?:-(\d+))? (words|characters|tokens)")
# What may stand in place of a prompt's document: chunks, and whether all of them do.
_PARTS = {"best_chunks": False, "every_part": True}


class Hook(str):
    """The name of a function, behind `!function`."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads task files; what stands behind `!function` stays a text."""


_Loader.add_constructor("!function", lambda loader, node: Hook(loader.construct_scalar(node)))


def read_file(path: Path) -> Mapping[str, Any]:
    """Return what a task file says with what it includes, as the harness reads it.

    The keys of the file win over those of the files that it includes, those of a later one over
    those of an earlier one. A value that is a mapping is replaced, not joined.
    """
    with path.open("rb") as handle:
        own = yaml.load(handle, Loader=_Loader)
    included = own.pop("include", ())
    merged: dict[str, Any] = {}
    for name in [included] if isinstance(included, str) else included:
        # Under one name, so that what many files include is read once.
        file = Path(os.path.normpath(path.parent / name))
        merged |= _read_once(file, file.stat().st_mtime_ns)
    return merged | own


@functools.cache
def _read_once(path: Path, changed: int) -> Mapping[str, Any]:
    return read_file(path)


def leaves_beside(file: Path, benchmark: str) -> list[Mapping[str, Any]]:
    """Return what the tasks of a benchmark say whose files are in the folder of one of them."""
    found = []
    for path in sorted(file.parent.glob("*.yaml")):
        # Other files may be there, too: of those that it cannot read the harness speaks.
        with contextlib.suppress(OSError, TypeError, AttributeError, KeyError, yaml.YAMLError):
            one = _read_once(path, path.stat().st_mtime_ns)
            if one.get("benchmark") == benchmark and one.get("definition") in (None, one["task"]):
                found.append(one)
    return found


@dataclass(frozen=True)
class Folder:
    """The tasks and groups of a folder.

    Attributes:
        files: of each task and group, by name.
        leaves: what each task's file says, by name.
        groups: by name.
        tags: names of the tasks of each tag, in the order of groups.
    """

    files: Mapping[str, Path]
    leaves: Mapping[str, Mapping[str, Any]]
    groups: Mapping[str, Group]
    tags: Mapping[str, tuple[str, ...]]


@functools.cache
def read_folder(folder: Path) -> Folder:
    """Read the task files of a folder; they do not change while a program runs.

    Tasks are in the order of the groups that list them, others follow by the names of their files.
    """
    paths = sorted(folder.rglob("*.yaml"))
    read = {path: _read_once(path, path.stat().st_mtime_ns) for path in paths}
    groups = {one["group"]: _group(one) for one in read.values() if "group" in one}
    leaves = {one["task"]: one for one in read.values() if "group" not in one}
    listed = [name for group in groups.values() for name in group.members if name in leaves]
    leaves = {name: leaves[name] for name in dict.fromkeys([*listed, *leaves])}
    files = {one.get("group") or one["task"]: path for path, one in read.items()}
    tags: dict[str, list[str]] = {}
    for name, leaf in leaves.items():
        for tag in _listed(leaf.get("tag")):
            tags.setdefault(tag, []).append(name)
    return Folder(files, leaves, groups, {tag: tuple(names) for tag, names in tags.items()})


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value or ())


def _group(given: Mapping[str, Any]) -> Group:
    figures = given.get("aggregate_metric_list") or ()
    weights = {one["metric"]: bool(one.get("weight_by_size", True)) for one in figures}
    version = str((given.get("metadata") or {}).get("version"))
    return Group(given["group"], tuple(given["task"]), version, weights)


# ---------------------------------------------------------------------- one benchmark


def task_of(leaf: Mapping[str, Any], file: Path) -> Task:
    """Return the task that a file defines."""
    name, hook = leaf["task"], leaf["doc_to_text"]
    hooked = isinstance(hook, Hook)
    document = leaf.get("document", True)
    return Task(
        name=name,
        table=leaf.get("table") or leaf["benchmark"],
        counted=leaf.get("counts_as") or name,
        dataset=leaf.get("dataset_name") or name,
        label=leaf.get("task_alias") or leaf.get("label") or leaf.get("dataset_name") or name,
        questions=leaf.get("questions", 0),
        prompt=leaf["template"] if hooked else hook,
        prompt_sha256=leaf.get("prompt_sha256") or prompt_sha256(leaf["doc_to_text"]),
        hook=str(hook) if hooked else "",
        generation=leaf["generation_kwargs"],
        metric=leaf["metric"],
        first_line=leaf.get("first_line", False),
        chat=leaf.get("chat_template", True),
        category=leaf.get("category", ""),
        language=leaf.get("language", ""),
        document=bool(document),
        retrieved=document in _PARTS,
        every_part=_PARTS.get(document, False),
        length=None if document is False else _length(leaf.get("length")),
        where=leaf.get("where", ""),
        file=str(file),
    )


def _length(text: str | None) -> Length | None:
    if text is None:
        return None
    found = _LENGTH.fullmatch(text)
    if found is None:
        raise OptionError(f"length {text!r} is not such as '3411 words' or '8000-9000 tokens'.")
    return Length(int(found[1]), int(found[2] or found[1]), found[3])


@dataclass(frozen=True)
class Defined:
    """What the task files say of a benchmark.

    Attributes:
        name: of the benchmark.
        leaves: what the file of each of its tasks says, by name, in the official order.
        tasks: the same as tasks.
        counts: questions of the official data that have each value, by dimension; empty where each
            dataset is a file of its own.
    """

    name: str
    leaves: Mapping[str, Mapping[str, Any]]
    tasks: Mapping[str, Task]
    counts: Mapping[str, Mapping[str, int]]

    def fact(self, key: str, otherwise: Any = None) -> Any:
        """Return what the tasks have in common under a key."""
        return next(iter(self.leaves.values())).get(key, otherwise)

    @property
    def source(self) -> Source:
        """Where the official data is from; without a file: it is not pinned."""
        given = self.fact("source")
        if given is None:
            return Source(self.name, "", "", "")
        return Source(
            repo=self.fact("dataset_path"),
            revision=given.get("revision") or given["sha256"],
            file=given["file"],
            sha256=given["sha256"],
            size=given.get("bytes", 0),
            converted=given.get("converted", 0),
            modelscope=given.get("modelscope", ""),
            url=given.get("url", ""),
        )

    @property
    def headlines(self) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
        """The tasks of each part of a headline, by its title and the part's name.

        The headline is the mean over its parts, which are categories or single tasks.
        """
        given = self.fact("headline") or {"mean of tasks": {}}
        return {title: self._parts(dict(own)) for title, own in given.items()}

    def _parts(self, given: dict[str, Any]) -> Mapping[str, tuple[str, ...]]:
        """Return the tasks of each part: of those that have wanted values, by `mean_of`."""
        key = given.pop("mean_of", "name")
        parts: dict[str, tuple[str, ...]] = {}
        for name, task in self.tasks.items():
            if all(getattr(task, own) in values for own, values in given.items()):
                part = getattr(task, key)
                parts[part] = (*parts.get(part, ()), name)
        return parts

    def values(self, key: str) -> tuple[str, ...]:
        """Return what the tasks have under an attribute, each once, in their order."""
        return tuple(dict.fromkeys(getattr(task, key) for task in self.tasks.values()))

    @property
    def dimensions(self) -> Mapping[str, Sequence[str]]:
        """The dimensions of questions that figures tell apart, with their values."""
        given = self.fact("dimensions") or {}
        return {name: tuple(self.counts.get(name, own)) for name, own in given.items()}

    def tables(self, title: str, dimensions: Mapping[str, Sequence[str]]) -> Mapping[str, Table]:
        """Return the tables of the benchmark by name; `title`: of the benchmark, in print."""
        values = {name: tuple(own) for name, own in dimensions.items()}
        found = {}
        for table in dict.fromkeys(task.table for task in self.tasks.values()):
            tasks = {
                name: task
                for name, task in self.tasks.items()
                if task.table == table and task.counted == name
            }
            facts = self.leaves[next(iter(tasks))]
            found[table] = Table(
                table,
                self.name,
                title,
                facts.get("mode", ""),
                tasks,
                values,
                tuple(facts.get("published", ())),
                facts.get("first_pass", ""),
                dict(ChainMap(*(self.leaves[task].get("known_errors", {}) for task in tasks))),
            )
        return MappingProxyType(found)


@functools.cache
def defined(folder: Path, name: str) -> Defined:
    """Return what the task files of a folder say of a benchmark."""
    read = read_folder(folder)
    leaves = {task: leaf for task, leaf in read.leaves.items() if leaf["benchmark"] == name}
    order = next(iter(leaves.values())).get("tables") or ()
    leaves = {task: leaves[task] for task in dict.fromkeys([*order, *leaves])}
    return defined_by(name, leaves, read.files)


def defined_by(
    name: str, leaves: Mapping[str, Mapping[str, Any]], files: Mapping[str, Path]
) -> Defined:
    """Return what leaves say of a benchmark, by the names of its tasks as their files are."""
    tasks = {task: task_of(leaf, files[task]) for task, leaf in leaves.items()}
    counts = _counts(leaves, tasks)
    return Defined(
        name, MappingProxyType(leaves), MappingProxyType(tasks), MappingProxyType(counts)
    )


def ours(name: str) -> Defined:
    """Return what our own task files say of a benchmark."""
    return defined(task_folder(), name)


def _counts(
    leaves: Mapping[str, Mapping[str, Any]], tasks: Mapping[str, Task]
) -> Mapping[str, Mapping[str, int]]:
    """Return how many questions have each value of a dimension.

    A file says it, or which attribute of those tasks has the value that ask a part of the data; a
    list has values alone.
    """
    first = next(iter(tasks.values()))
    parts = [one for one in tasks.values() if one.where and one.table == first.table]
    found: dict[str, Mapping[str, int]] = {}
    for dimension, given in (leaves[first.name].get("dimensions") or {}).items():
        if isinstance(given, str):
            own = dict.fromkeys((getattr(task, given) for task in parts), 0)
            for task in parts:
                own[getattr(task, given)] += task.questions
            found[dimension] = own
        elif isinstance(given, Mapping):
            found[dimension] = given
    return found
