"""The folder of the task YAML files: where it is, links to it, which tasks a name stands for.

The harness is not needed, nor is any task built.
"""

from __future__ import annotations

import fnmatch
import functools
import importlib.util
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from lm_eval_longbench.benchmarks.registry import benchmarks, tables
from lm_eval_longbench.errors import LinkError, LongBenchError, OptionError, UnknownNameError

# ---------------------------------------------------------------------- where it is

_OVERRIDES = re.compile(r"Task '.+' from (.+) overrides existing task from (.+)")


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a warning of the harness's index is about two files, and not about one twice."""
    paths = _OVERRIDES.fullmatch(record.getMessage())
    return paths is None or Path(paths[1]).resolve() != Path(paths[2]).resolve()


def task_folder() -> Path:
    """Return the folder of the task definitions, for the harness's `--include_path`.

    It is the entry point of the group `lm_eval.tasks`, too. Whoever names the folder beside that
    gives the harness one file twice: from here on that is no warning a task.

    Raises:
        LongBenchError: neither place has it; the installation is damaged.
    """
    logging.getLogger("lm_eval.tasks._index").addFilter(_is_news)
    package = Path(__file__).resolve().parent
    for folder in (package / "tasks", package.parent / "tasks"):
        if any(path.is_dir() for path in folder.glob("*")):
            return folder
    raise LongBenchError(
        f"No task definitions beside {package}. Install again: pip install --force-reinstall "
        "lm-eval-longbench"
    )


# ---------------------------------------------------------------------- links

# Our folder inside the harness's; a name no built-in task has.
FOLDER = "lm_eval_longbench_links"


def harness_tasks() -> Path:
    """Return the task folder of the lm_eval that Python would import, editable or not.

    Raises:
        LinkError: lm_eval is not installed.
    """
    spec = importlib.util.find_spec("lm_eval")
    places = list(spec.submodule_search_locations or ()) if spec else []
    for place in places:
        folder = Path(place) / "tasks"
        if folder.is_dir():
            return folder
    raise LinkError("lm_eval is not installed here. Install it: pip install lm-eval")


def _wanted(source: Path, target: Path) -> Iterator[tuple[Path, Path]]:
    """Yield (link, file) for each task file; files they include are found through the links."""
    for file in sorted(source.rglob("*.yaml")):
        yield target / file.relative_to(source), file


def are_linked(source: Path, tasks: Path) -> bool:
    """Return whether every task file of `source` is linked into `tasks` already."""
    return all(
        link.is_symlink() and link.readlink() == file
        for link, file in _wanted(source, tasks / FOLDER)
    )


def _remove_empty(folder: Path) -> None:
    for inner in sorted((path for path in folder.rglob("*") if path.is_dir()), reverse=True):
        if not any(inner.iterdir()):
            inner.rmdir()
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def link_tasks(source: Path, tasks: Path) -> tuple[Path, int]:
    """Link every task file of `source` into a folder of its own under `tasks`.

    Links that are right already stay; links of an earlier installation are pointed anew.

    Returns:
        The folder, and the number of links made.

    Raises:
        LinkError: the place is not writable, or holds a file that is not a link.
    """
    target = tasks / FOLDER
    made = 0
    try:
        for link, file in _wanted(source, target):
            if link.is_symlink():
                if link.readlink() == file:
                    continue
                link.unlink()
            elif link.exists():
                raise LinkError(f"{link} is a file, not a link of ours. Move it away, then link.")
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(file)
            made += 1
    except OSError as error:
        raise LinkError(
            f"Cannot write to {target}: {error}. Use `lm-eval-longbench run` or "
            f"`lm_eval run --include_path {source}` instead, which write nothing."
        ) from error
    return target, made


def unlink_tasks(source: Path, tasks: Path) -> tuple[Path, int, list[Path]]:
    """Remove the links that `link_tasks` made, and folders they leave empty.

    A link is ours if it points to a task file of ours, or stands where one of ours would.

    Returns:
        The folder, the number of links removed, and what else is in it and was left alone.

    Raises:
        LinkError: the place is not writable.
    """
    target = tasks / FOLDER
    ours = {link for link, _ in _wanted(source, target)}
    removed = 0
    left: list[Path] = []
    try:
        for path in sorted(target.rglob("*")):
            if path.is_symlink() and (path in ours or path.readlink().is_relative_to(source)):
                path.unlink()
                removed += 1
            elif path.is_symlink() or path.is_file():
                left.append(path)
        _remove_empty(target)
    except OSError as error:
        raise LinkError(f"Cannot remove the links in {target}: {error}.") from error
    return target, removed, left


# ---------------------------------------------------------------------- names

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
    weights = {one["metric"]: bool(one.get("weight_by_size", True)) for one in listed}
    version = str((own.get("metadata") or {}).get("version"))
    return OurGroup(own.get("group_alias", name), version, weights)


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
        return OptionError(f"Task names stand between plain commas: --tasks {plain}")
    return UnknownNameError(kind, name, valid_names())


def valid_names() -> list[str]:
    """Return the names of all our tasks and groups, sorted."""
    return sorted(_files())
