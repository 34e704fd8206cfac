"""The benchmarks that are known: ours, those of other packages, and those of a user's task files.

Another package adds one with an entry point in the group `lm_eval_longbench.benchmarks` that names
an object of a class of `base.Benchmark`. Task files alone define one, too: it is learnt from them,
or from results that carry them. See docs/new-benchmark.md.
"""

from __future__ import annotations

import fnmatch
import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar, cast

from lm_eval_longbench.benchmarks.base import Benchmark
from lm_eval_longbench.benchmarks.pro import PRO
from lm_eval_longbench.benchmarks.v1 import V1, E
from lm_eval_longbench.benchmarks.v2 import V2
from lm_eval_longbench.benchmarks.variants import VARIANTS, FromFiles
from lm_eval_longbench.catalog.model import Group, Table, Task
from lm_eval_longbench.catalog.presets import Preset, PresetTable
from lm_eval_longbench.catalog.read import read_folder
from lm_eval_longbench.catalog.users import WHOLE, Carried
from lm_eval_longbench.errors import LongBenchError, OptionError, UnknownNameError
from lm_eval_longbench.options import Options
from lm_eval_longbench.records.layouts import Layout
from lm_eval_longbench.shapes import checked
from lm_eval_longbench.signature.protocol import Protocol
from lm_eval_longbench.task_folder import task_folder

ENTRY_POINTS = "lm_eval_longbench.benchmarks"
OURS: tuple[Benchmark, ...] = (V1, E, V2, PRO, *VARIANTS)


# What follows from the benchmarks that are known.
_followed: list[Callable[[], None]] = []
F = TypeVar("F", bound=Callable[..., Any])


def _kept(function: F) -> F:
    """Have a function computed once, until another benchmark is known."""
    kept = functools.cache(function)
    _followed.append(kept.cache_clear)
    return cast(F, kept)


def forget() -> None:
    """Have the benchmarks looked up anew, after one was learnt or installed."""
    for clear in _followed:
        clear()


@_kept
def benchmarks() -> Mapping[str, Benchmark]:
    """Return every benchmark by name, ours first. Raises OptionError as `_installed` does."""
    return MappingProxyType({**_installed(), **_learnt})


# Of users' task files, by name.
_learnt: dict[str, FromFiles] = {}


def learn(leaves: Sequence[Mapping[str, Any]], where: Path, *, in_place: bool = False) -> None:
    """Know the benchmark of a user's task files from now on; one of a package stays as it is.

    Args:
        leaves: what the file of each of its tasks says.
        where: their folder, or the results that carry them.
        in_place: whether it takes the place of another benchmark of its name.

    Raises:
        OptionError: it is not whole, has names of another benchmark, or is another one than is
            known by its name already.
    """
    name = str(leaves[0].get("benchmark"))
    if name in benchmarks() and name not in _learnt:
        return
    made, known = FromFiles(leaves, where), _learnt.get(name)
    if known is not None and made.definition == known.definition:
        if known.where == where or not in_place:
            return
    elif known is not None and not in_place:
        raise OptionError(
            f"{where} has another benchmark {name} than {known.where}: a task was changed between "
            "them. Look at them one after the other, and give a changed benchmark another name."
        )
    others = {**benchmarks(), name: made}.values()
    _check_names(made, [one for one in others if one is not made], f"The benchmark of {where}")
    _learnt[name] = made
    forget()


def learn_carried(results: Mapping[str, Any], where: Path) -> None:
    """Know the benchmarks that a part of results carries under WHOLE, if there are any.

    Raises OptionError as `learn`, PredictionError where they are misshapen.
    """
    found = checked(results.get(WHOLE) or {}, dict[str, Carried], f"{where} is damaged", WHOLE)
    for own in found.values():
        if own["tasks"]:
            learn([{**own["all"], **leaf} for leaf in own["tasks"].values()], where)


def carried(names: Iterable[str]) -> dict[str, Any]:
    """Return what results carry of those of some benchmarks that are learnt, by name."""
    return {name: _learnt[name].definition for name in dict.fromkeys(names) if name in _learnt}


def _installed() -> Mapping[str, Benchmark]:
    """Return the benchmarks of packages by name.

    Raises:
        OptionError: another package's cannot be imported, is none, or uses a name that is taken.
    """
    found = {one.name: one for one in OURS}
    for point in sorted(entry_points(group=ENTRY_POINTS), key=lambda own: own.name):
        said = f"The entry point {point.name} of {ENTRY_POINTS}"
        try:
            one = point.load()
            if not isinstance(one, Benchmark):
                raise TypeError("it is no lm_eval_longbench.benchmarks.base.Benchmark")
        except Exception as error:
            raise OptionError(
                f"{said}, {point.value}, cannot be used: {type(error).__name__}: {error}. Correct "
                "the package that has it, or uninstall it."
            ) from error
        _check_names(one, found.values(), f"{said} is a benchmark called {one.name}")
        found[one.name] = one
    return MappingProxyType(found)


def _check_names(one: Benchmark, others: Iterable[Benchmark], said: str) -> None:
    names = {name for own in others for name in _names(own)}
    taken = sorted(_names(one) & (names | _groups_in(task_folder())))
    if taken:
        raise OptionError(
            f"{said}, and another one has names of it: {', '.join(taken[:3])}. Rename them."
        )


def _names(one: Benchmark) -> set[str]:
    """Return all names that tell a benchmark and its parts from others."""
    groups = set() if one.task_folder is None else _groups_in(one.task_folder)
    return {one.name, one.short, one.sign, *one.tables, *one.tasks, *groups}


def _groups_in(folder: Path) -> set[str]:
    read = read_folder(folder)
    return {*read.groups, *read.tags}


@_kept
def tables() -> Mapping[str, Table]:
    """Return every table by name, in the order in which they are written and shown."""
    return {name: table for one in benchmarks().values() for name, table in one.tables.items()}


@_kept
def tasks() -> Mapping[str, Task]:
    """Return every harness task by name."""
    return {name: task for one in benchmarks().values() for name, task in one.tasks.items()}


@_kept
def _of_tables() -> Mapping[str, Benchmark]:
    return {table: one for one in benchmarks().values() for table in one.tables}


@_kept
def layouts() -> Mapping[str, Layout]:
    """Return the files of other programs that are read, by benchmark and program."""
    return {f"{one.name}: {own.name}": own for one in benchmarks().values() for own in one.layouts}


def presets_named(name: str, *, thinking: bool) -> Mapping[PresetTable, Preset]:
    """Return the settings that are published under a name, of each table that has them.

    Raises:
        UnknownNameError: there are none.
        OptionError: there are none for this mode.
    """
    known = dict.fromkeys(one.presets for one in benchmarks().values() if one.presets is not None)
    found = {
        own: own.find(name, thinking=thinking) for own in known if own.has(name, thinking=thinking)
    }
    if not found:
        for own in known:
            if own.has(name, thinking=not thinking):
                own.find(name, thinking=thinking)  # it says which mode there is
        raise UnknownNameError("preset", name, {one for own in known for one in own.names()})
    return found


def signs() -> Mapping[str, str]:
    """Return what signature lines call each benchmark, by name."""
    return {name: own.sign for name, own in benchmarks().items()}


def segmented() -> frozenset[str]:
    """Return the names of the tasks that are scored with a Chinese segmenter."""
    return frozenset(name for name, own in tasks().items() if own.segmented)


def protocol_of(task: str, *, thinking: bool = False) -> Protocol:
    """Return how official runs of a task are set; UnknownNameError if there is no such task.

    `thinking`: for a thinking score of LongBench Pro.
    """
    found = find_task(task)
    return benchmark_of(found).protocol(found, thinking=thinking)


def read_options(metadata: Mapping[str, Any] | None) -> Options:
    """Read a run's options from the harness's metadata, as `Options.from_metadata`.

    Raises:
        OptionError: a value is impossible.
        UnknownNameError: an option or its preset does not exist.
    """
    options = Options.from_metadata(metadata)
    if options.preset is not None:
        presets_named(options.preset, thinking=options.thinking)
    return options


def short_names() -> Mapping[str, Benchmark]:
    """Return the benchmarks by what the command line calls them; variants have no files."""
    return {one.short: one for one in benchmarks().values() if not one.variant}


def families() -> Mapping[str, tuple[Benchmark, ...]]:
    """Return the benchmarks that share a file of data, by what `prepare` calls it; no variants."""
    found: dict[str, tuple[Benchmark, ...]] = {}
    for one in (own for own in benchmarks().values() if not own.variant):
        found[one.prepared_as] = (*found.get(one.prepared_as, ()), one)
    return found


def title_of(family: str) -> str:
    """Return what a family of benchmarks is called in print; see `families`."""
    return " and ".join(one.title for one in families()[family])


def find_task(name: str) -> Task:
    """Return a task; UnknownNameError if there is no such task."""
    if name not in tasks():
        raise UnknownNameError("task", name, tasks())
    return tasks()[name]


def benchmark_of(task: Task) -> Benchmark:
    """Return the benchmark of a task."""
    return _of_tables()[task.table]


def benchmark_of_table(table: str) -> Benchmark:
    """Return the benchmark of a table; UnknownNameError if there is no such table."""
    if table not in _of_tables():
        raise UnknownNameError("table", table, tables())
    return _of_tables()[table]


@_kept
def _table_of_task() -> Mapping[str, Table]:
    return {task: table for table in tables().values() for task in table.tasks}


def table_of(task: object) -> Table | None:
    """Return the table that answers to a task stand in under its own name; None: there is none.

    A domain of LongBench v2 has none: its answers are the whole benchmark's.
    """
    return _table_of_task().get(task) if isinstance(task, str) else None


@_kept
def position(table: str, task: str | None = None) -> tuple[int, int]:
    """Return the position of a table among all and of a task in it, from 0; 0 for no task."""
    found = tables()
    return list(found).index(table), 0 if task is None else list(found[table].tasks).index(task)


# ---------------------------------------------------------------------- names of tasks and groups

# What stands between names where no plain comma does, with spaces.
_COMMAS = re.compile(r"\s*[，、；;]\s*")


@_kept
def task_folders() -> tuple[Path, ...]:
    """Return the folders with the task files of all benchmarks, ours first."""
    folders = (one.task_folder for one in benchmarks().values())
    return tuple(dict.fromkeys([task_folder(), *(own for own in folders if own is not None)]))


@_kept
def _groups() -> Mapping[str, Group]:
    folders = map(read_folder, task_folders())
    return {name: group for one in folders for name, group in one.groups.items()}


@_kept
def tags() -> Mapping[str, tuple[str, ...]]:
    """Return the tasks of each tag, which stands for them without a figure of its own."""
    folders = map(read_folder, task_folders())
    return {name: members for one in folders for name, members in one.tags.items()}


@_kept
def _members() -> Mapping[str, tuple[str, ...]]:
    """Return the tasks that each name stands for."""
    groups = {name: group.members for name, group in _groups().items()}
    return {**{name: (name,) for name in tasks()}, **tags(), **groups}


def our_group(name: str, members: Sequence[str]) -> Group | None:
    """Return our group of a name; None if it has other members: then it is a user's own."""
    own = _groups().get(name)
    return own if own is not None and list(members) == list(own.members) else None


def kind_of(name: str) -> str:
    """Return what a name of ours is in the harness: "task", "group" or "tag"."""
    return "group" if name in _groups() else "tag" if name in tags() else "task"


def second_passes() -> dict[str, str]:
    """Return the table that embeds the answers of another one, by that other one's name."""
    return {table.first_pass: table.name for table in tables().values() if table.first_pass}


def expanded(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return what names stand for.

    Args:
        names: tasks, groups, tags and wildcards as for the harness's --tasks; commas separate, too.

    Returns:
        Our tasks, sorted, each once; and the names that stand for none of them, as given.
    """
    ours: set[str] = set()
    foreign: list[str] = []
    for name in (part.strip() for given in names for part in given.split(",")):
        met = fnmatch.filter(_members(), name)
        if not met:
            foreign.append(name)
        for one in met:
            ours.update(_with_second(_members()[one]))
    return sorted(ours), foreign


def _with_second(names: Iterable[str]) -> Iterator[str]:
    """Yield tasks, and pass two with pass one, as `run` does."""
    second = second_passes()
    for name in names:
        yield name
        if name in second:
            yield second[name]


def unknown_task(name: str, kind: str = "task") -> LongBenchError:
    """Return the error of a name that stands for no task of ours."""
    plain = _COMMAS.sub(",", name)
    if plain != name:
        return OptionError(f"Task names stand between plain commas: {plain}")
    return UnknownNameError(kind, name, valid_names())


def valid_names() -> list[str]:
    """Return the names of all our tasks, groups and tags, sorted."""
    return sorted(_members())
