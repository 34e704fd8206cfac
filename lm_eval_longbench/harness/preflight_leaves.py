"""Which tasks a run evaluates, found in the harness's index: none of them is built."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from lm_eval.config.group import GroupConfig
from lm_eval.tasks import TaskManager
from lm_eval.tasks._yaml_loader import load_yaml

from lm_eval_longbench.errors import UnknownNameError
from lm_eval_longbench.harness.longbench_pro import LongBenchProTask
from lm_eval_longbench.harness.longbench_v1 import LongBenchV1Task
from lm_eval_longbench.harness.longbench_v2 import LongBenchV2Task
from lm_eval_longbench.harness.preflight_facts import Leaf, Run
from lm_eval_longbench.harness.task import LongBenchTask
from lm_eval_longbench.options import KEY

_BENCHMARKS: tuple[tuple[type[LongBenchTask], str], ...] = (
    (LongBenchV1Task, "v1"),
    (LongBenchV2Task, "v2"),
    (LongBenchProTask, "pro"),
)
_OF_A_GROUP = {field.name for field in fields(GroupConfig)}
# Name of the group that a task with overrides is loaded through.
_WRAPPER = "lm_eval_longbench_preflight"
# The preflight asks for embeddings itself, once, and waits less long.
_EMBEDDING = ("embedding_model", "embedding_url")


def open_tasks(run: Run, *, include_defaults: bool | None = None) -> tuple[TaskManager, list[Leaf]]:
    """Return the harness's manager of tasks, and each task that a run evaluates, once.

    Args:
        run: its arguments.
        include_defaults: whether the harness's own tasks are indexed, which takes ten seconds;
            None: only if the wanted ones are not all found without them.

    Raises:
        UnknownNameError: a wanted task does not exist; names the nearest.
    """
    exact = not any(isinstance(name, str) and _is_pattern(name) for name in run.tasks)
    if include_defaults is None and exact:
        try:
            return open_tasks(run, include_defaults=False)
        except UnknownNameError:
            include_defaults = True
    manager = TaskManager(
        include_path=list(run.include_path) or None,
        include_defaults=include_defaults is not False,
        metadata=_without_embedding(run.metadata),
    )
    leaves: dict[str, Leaf] = {}
    for wanted in run.tasks:
        for item in _matches(wanted, manager):
            for leaf in _expand(item, {}, manager.task_index, run.metadata):
                leaves.setdefault(leaf.name, leaf)
    return manager, list(leaves.values())


def _without_embedding(metadata: Mapping[str, Any]) -> dict[str, Any]:
    options = metadata.get(KEY)
    if not isinstance(options, Mapping):
        return dict(metadata)
    kept = {name: value for name, value in options.items() if name not in _EMBEDDING}
    return {**metadata, KEY: kept}


def _is_pattern(name: str) -> bool:
    return glob.has_magic(name) and not name.endswith(".yaml")


def _matches(
    wanted: str | Mapping[str, Any], manager: TaskManager
) -> Sequence[str | Mapping[str, Any]]:
    """Return the names or definitions that one wanted task stands for, as the harness does."""
    if not isinstance(wanted, str):
        return [wanted]
    if wanted.endswith(".yaml"):
        found: Sequence[Any] = [load_yaml(Path(file).absolute()) for file in glob.glob(wanted)]
    else:
        found = manager.match_tasks([wanted])
        if not found and Path(wanted).is_dir():
            found = [load_yaml(file) for file in sorted(Path(wanted).absolute().glob("*.yaml"))]
    if not found:
        raise UnknownNameError("task", wanted, manager.all_tasks)
    return found


def _expand(
    item: str | Mapping[str, Any],
    overrides: Mapping[str, Any],
    index: Mapping[str, Any],
    metadata: Mapping[str, Any],
) -> Iterator[Leaf]:
    """Yield the tasks of a name or a group's member, with what groups around it override."""
    if isinstance(item, Mapping):
        name = item.get("group") or item.get("task")
        # A list of tasks belongs to an inline group; a name only says which one is meant.
        more = {key: value for key, value in item.items() if key not in ("group", "task")}
        if not isinstance(name, str) or name not in index:
            yield from _inline(item, overrides, index, metadata)
            return
        overrides = {**overrides, **more}
        item = name
    entry = index.get(item)
    if entry is None:
        raise UnknownNameError("task", item, index)
    if entry.kind.name == "GROUP":
        yield from _members(entry.cfg or {}, overrides, index, metadata)
    elif entry.kind.name == "TAG":
        for name in sorted(entry.tags):
            yield from _expand(name, overrides, index, metadata)
    else:
        python = entry.kind.name == "PY_TASK" and entry.yaml_path is not None
        config = load_yaml(entry.yaml_path) if python else entry.cfg or {}
        spec = {"group": _WRAPPER, "task": [{**overrides, "task": item}]} if overrides else item
        yield _leaf(item, {**config, **overrides}, metadata, spec)


def _members(
    group: Mapping[str, Any],
    overrides: Mapping[str, Any],
    index: Mapping[str, Any],
    metadata: Mapping[str, Any],
) -> Iterator[Leaf]:
    own = {key: value for key, value in group.items() if key not in _OF_A_GROUP}
    members = group.get("task") or ()
    for member in [members] if isinstance(members, str) else members:
        yield from _expand(member, {**own, **overrides}, index, metadata)


def _inline(
    item: Mapping[str, Any],
    overrides: Mapping[str, Any],
    index: Mapping[str, Any],
    metadata: Mapping[str, Any],
) -> Iterator[Leaf]:
    """Yield the tasks of a definition that stands where a name could."""
    if "group" in item:
        yield from _members(item, overrides, index, metadata)
    elif "class" in item or "dataset_path" in item:
        yield _leaf(str(item["task"]), {**item, **overrides}, metadata, {**item, **overrides})
    else:
        raise UnknownNameError("task", item.get("task"), index)


def _leaf(
    name: str, config: Mapping[str, Any], metadata: Mapping[str, Any], spec: str | Mapping[str, Any]
) -> Leaf:
    cls = config.get("class")
    benchmark = None
    if isinstance(cls, type):
        benchmark = next((code for base, code in _BENCHMARKS if issubclass(cls, base)), None)
    return Leaf(
        name=name,
        benchmark=benchmark,
        dataset=str(config.get("dataset_name")),
        metadata={**(config.get("metadata") or {}), **metadata},
        repeats=int(config.get("repeats") or (cls.REPEATS if benchmark else 1)),
        spec=spec,
    )
