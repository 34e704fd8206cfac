"""The lock file: what of a run is frozen, how it is written, and how it is read back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_type_hints

import yaml
from typing_extensions import TypedDict

from lm_eval_longbench.benchmarks.registry import (
    benchmark_of,
    expanded,
    find_task,
    read_options,
    unknown_task,
)
from lm_eval_longbench.catalog.model import Task
from lm_eval_longbench.errors import DataError, LockError, LockMismatch, LongBenchError
from lm_eval_longbench.files import open_input, read_whole
from lm_eval_longbench.options import KEY, Options
from lm_eval_longbench.prompts.render import checked_template
from lm_eval_longbench.shapes import checked, leaves
from lm_eval_longbench.signature.signature import package_versions
from lm_eval_longbench.version import installed

DEFAULT = "longbench.lock"
FORMAT = 1
# Bytes: a lock of all tasks has a twentieth of it.
_MOST = 1 << 18
_FIRST_LINE = "# What scores depend on, frozen by `lm-eval-longbench lock`.\n"
_HEADER = _FIRST_LINE + (
    "# `lm-eval-longbench run --locked` stops where anything differs.\n"
    "# Not in here: the model, its arguments, and --gen_kwargs.\n"
)
# Besides those of a signature: it reads the data.
_MORE_PACKAGES = ("datasets",)
_AGAIN = "Write it anew: lm-eval-longbench lock --tasks TASKS"


class LockedData(TypedDict):
    """Where a benchmark's data is from, and its hash, or those of each of its datasets."""

    source: str
    sha256: str | dict[str, str]


@dataclass(frozen=True)
class Lock:
    """What a lock file freezes.

    Attributes:
        data: `source` and `sha256` by benchmark; see `data_of`.
        metrics: version of the metrics by benchmark.
        options: those of `--metadata '{"longbench": ...}'` that are not at their default.
        packages: version by package; None: not installed.
        tasks: version by task.
        templates: sha256 of the prompt template by task.
    """

    data: Mapping[str, LockedData]
    metrics: Mapping[str, str]
    options: Mapping[str, Any]
    packages: Mapping[str, str | None]
    tasks: Mapping[str, str]
    templates: Mapping[str, str]


# A decoded lock file: FORMAT, and the sections of `Lock`.
_typed_dict: Any = TypedDict  # mypy knows no fields that are computed
LockFile: Any = _typed_dict("LockFile", {"format": int, **get_type_hints(Lock)})


def packages_now() -> dict[str, str | None]:
    """Return the version of each package that a lock freezes; None where it is not installed."""
    return {**package_versions(), **{name: installed(name) for name in _MORE_PACKAGES}}


def options_set(options: Options) -> dict[str, Any]:
    """Return the options that are not at their default, as plain JSON values."""
    default = asdict(Options())
    given = json.loads(json.dumps(asdict(options)))
    return {name: value for name, value in given.items() if value != default[name]}


def data_of(tasks: Iterable[Task], options: Options) -> dict[str, LockedData]:
    """Return the data of each benchmark that tasks are of.

    The pinned data is known without having it. Other data is opened, and on its first use
    converted, as a run would do.

    Args:
        tasks: ours.
        options: with `data_dir`, and `retrieved_context` for tasks that read it.

    Returns:
        By benchmark: `source`, the repository and revision, "local" or "sample"; and `sha256`, of
        the file, or of each dataset's own by dataset. Under "retrieved_context", where a task
        reads it, the `sha256` of the file with the chunks.

    Raises:
        DataError: data is not there or damaged.
    """
    found: dict[str, LockedData] = {}
    for task in tasks:
        benchmark, pinned = benchmark_of(task), benchmark_of(task).source
        entry: LockedData = {
            "source": f"{pinned.repo}@{pinned.revision}",
            "sha256": pinned.sha256,
        }
        if options.data_dir is not None:
            data = benchmark.load(task, options.data_dir)
            if not data.official:
                entry["source"] = data.label.removesuffix(f"-{data.sha256[:12]}")
                entry["sha256"] = data.sha256 if benchmark.counts else {task.dataset: data.sha256}
        known = found.setdefault(benchmark.name, entry)
        if isinstance(known["sha256"], dict) and isinstance(entry["sha256"], dict):
            known["sha256"].update(entry["sha256"])
        if task.retrieved and options.retrieved_context is not None:
            from lm_eval_longbench.retrieval.chunks import contexts_sha256

            chunks = contexts_sha256(options.retrieved_context)
            found["retrieved_context"] = {"source": "local", "sha256": chunks}
    return found


def lock_of(names: Sequence[str], options: Options) -> Lock:
    """Return the lock of some of our tasks, by their names, in a run with these options.

    Raises:
        DataError: data that `options` names is not there.
        PromptError: a prompt template was changed.
    """
    tasks = [find_task(name) for name in names]
    for task in tasks:
        checked_template(task)  # stops where it is not what its hash says
    return Lock(
        data=data_of(tasks, options),
        metrics={one.name: one.metrics for one in map(benchmark_of, tasks)},
        options=options_set(options),
        packages=packages_now(),
        tasks={task.name: benchmark_of(task).task_version for task in tasks},
        templates={task.name: task.prompt_sha256 for task in tasks},
    )


def lock_now(tasks: Sequence[str], options: Options) -> Lock:
    """Return the lock of what a user asks for: tasks and groups, with wildcards or commas.

    Pass two of chain of thought comes along with pass one.

    Raises:
        UnknownNameError: a name stands for none of our tasks; names the nearest.
        DataError: data that `options` names is not there.
        PromptError: a prompt template was changed.
    """
    names, foreign = expanded(tasks)
    if foreign:
        raise unknown_task(foreign[0], "task of this package")
    return lock_of(names, options)


def lock_text(lock: Lock) -> str:
    """Return the file's text: YAML with one value a line, sorted; the same for the same lock."""
    body: dict[str, Any] = {"format": FORMAT, **asdict(lock)}
    parts = (
        yaml.safe_dump(
            {name: section}, default_flow_style=False, allow_unicode=True, width=float("inf")
        )
        for name, section in body.items()
    )
    return _HEADER + "".join(parts)


def freeze(tasks: Sequence[str], options: Options) -> str:
    """Return the text of a lock file, as `lm-eval-longbench lock` writes it.

    Args:
        tasks: tasks and groups; wildcards work.
        options: of the runs that it is for.

    Raises:
        UnknownNameError: a name stands for none of our tasks; names the nearest.
        DataError: data that `options` names is not there.
    """
    return lock_text(lock_now(tasks, options))


def is_lock(path: str | Path) -> bool:
    """Whether a file begins as a lock file does, damaged or not."""
    try:
        with open_input(Path(path)) as handle:
            return handle.read(len(_FIRST_LINE)) == _FIRST_LINE.encode("ascii")
    except OSError:
        return False


def read_lock(path: str | Path) -> Lock:
    """Read a lock file.

    Raises:
        LockError: there is none, it cannot be read, or it is not one; says where and what to do.
    """
    path = Path(path)
    try:
        found = yaml.safe_load(read_whole(path, _MOST))
    except FileNotFoundError:
        raise LockError(f"There is no lock file {path}. {_AGAIN} --output {path}") from None
    except OSError as error:
        raise LockError(f"The lock file {path} cannot be read: {error}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        where = " ".join(str(error).split())
        raise LockError(f"{path} is not a lock file: {where}. {_AGAIN}") from error
    if not isinstance(found, dict) or "format" not in found:
        raise LockError(f"{path} is not a lock file: it has no line 'format: {FORMAT}'. {_AGAIN}")
    if found["format"] != FORMAT:
        raise LockError(
            f"{path} has format {found['format']}; this version of lm-eval-longbench reads "
            f"{FORMAT}. Use the version that wrote it, or: {_AGAIN}"
        )
    try:
        if other := found.keys() - LockFile.__annotations__.keys():
            raise LockError(f"{min(other, key=str)!r} is unknown.")
        checked(found, LockFile, "A value is wrong")
        read_options({KEY: found["options"]})
    except LongBenchError as error:
        raise LockError(f"{path} is damaged: {error} Undo the change. {_AGAIN}") from error
    return Lock(**{name: found[name] for name in Lock.__dataclass_fields__})


# ---------------------------------------------------------------------- a run against its lock

# What to do about a difference, by section. Templates and metrics come with the packages.
_TODO = {
    "data": "point the option data_dir to the locked data, or leave it out for the official one",
    "options": "leave all options out, and the locked ones are used",
    "tasks": "ask for locked tasks alone; others need a run of their own",
}


def mismatches(lock: Lock, now: Lock) -> list[str]:
    """Return a line for each difference, such as "packages.jieba: locked 0.42.1, here 0.42.0".

    What `now` has no task for is not compared, so that a run may evaluate some of the locked tasks.
    The options `data_dir` and `retrieved_context` are compared by what the files hold.
    """
    old, new = asdict(lock), asdict(now)
    for name in ("data_dir", "retrieved_context"):
        both = name in old["options"] and name in new["options"]
        if both or name == "data_dir":
            old["options"].pop(name, None)
            new["options"].pop(name, None)
    for name, entry in new["data"].items():
        known = old["data"].setdefault(name, {})
        if known.get("source") != entry["source"]:  # then the hashes tell nothing more
            entry["sha256"] = known["sha256"] = ""
    locked, here = _flat(old), _flat(new)
    lines = []
    for key in sorted({*here, *locked}, key=lambda key: (key.partition(".")[0], key)):
        if key not in locked:
            lines.append(f"{key}: not in the lock, here {_shown(here[key])}")
        elif key in here and locked[key] != here[key]:
            lines.append(f"{key}: locked {_shown(locked[key])}, here {_shown(here[key])}")
        elif key not in here and key.partition(".")[0] in _ABSENT:
            absent = _ABSENT[key.partition(".")[0]]
            lines.append(f"{key}: locked {_shown(locked[key])}, here {absent}")
    return lines


# What is said of what only the lock has, where that counts.
_ABSENT = {"options": "not set", "packages": "not looked for"}


def _flat(lock: Mapping[str, Any]) -> dict[str, Any]:
    """Return each value of a lock by the names on the way to it."""
    return {".".join(place).removesuffix(".source"): value for place, value in leaves(lock)}


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def require_lock(path: str | Path, tasks: Sequence[str], options: Options | None) -> Options:
    """Make sure that a run is what was frozen, before anything of it is loaded.

    Args:
        path: the lock file.
        tasks: what the run asks for: tasks, groups, wildcards, as for the harness's --tasks.
        options: those that the user gives; None: none, so that the locked ones are used.

    Returns:
        The options to run with.

    Raises:
        LockError: there is no such file or it is none, or something differs; the message has a
            line for each difference, and what to do.
        DataError: data that `options` names is not there.
        PromptError: a prompt template was changed.
    """
    lock = read_lock(path)
    if options is not None:
        _check(path, lock, tasks, options)
        return options
    locked = read_options({KEY: dict(lock.options)})
    try:
        _check(path, lock, tasks, locked)
    except DataError as error:
        raise LockError(
            f"{path} was made with data that is not here: {error} Give all options of the lock, "
            "with the place that its data has here as data_dir."
        ) from error
    return locked


def _check(path: str | Path, lock: Lock, tasks: Sequence[str], options: Options) -> None:
    names, foreign = expanded(tasks)
    known = [name for name in names if name in lock.tasks]
    lines = [f"tasks.{name}: not in the lock" for name in names if name not in lock.tasks]
    lines += [f"tasks.{name}: not a task of this package" for name in foreign]
    lines = mismatches(lock, lock_of(known, options)) + lines
    if lines:
        shown = "".join(f"\n  {line}" for line in lines)
        todo = "; ".join(_todo(lines, lock))
        raise LockMismatch(
            f"This run is not what {path} froze:{shown}\nTo run what was frozen: {todo}. To "
            "freeze what is here, write another lock: lm-eval-longbench lock."
        )


def _todo(lines: Sequence[str], lock: Lock) -> Iterator[str]:
    here = packages_now()
    wanted = [
        f'"{name.replace("_", "-")}=={version}"'
        for name, version in sorted(lock.packages.items())
        if version is not None and here.get(name) != version
    ]
    sections = {line.partition(".")[0] for line in lines}
    if wanted or sections & {"templates", "metrics"}:
        ours = f'"lm-eval-longbench=={lock.packages.get("lm_eval_longbench")}"'
        yield f"pip install {' '.join(wanted or [ours])}"
    yield from (todo for section, todo in _TODO.items() if section in sections)
