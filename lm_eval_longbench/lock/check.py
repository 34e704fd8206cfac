"""Stop a run that is not what a lock file froze."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lm_eval_longbench.benchmarks.registry import expanded, read_options
from lm_eval_longbench.errors import DataError, LockError, LockMismatch
from lm_eval_longbench.lock.lock import (
    Lock,
    lock_of,
    packages_now,
    read_lock,
)
from lm_eval_longbench.options import KEY, Options

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
    return [
        *_of_data(lock.data, now.data),
        *_of("metrics", lock.metrics, now.metrics),
        *_of_options(lock.options, now.options),
        *_of("packages", lock.packages, now.packages, absent="not looked for"),
        *_of("tasks", lock.tasks, now.tasks),
        *_of("templates", lock.templates, now.templates),
    ]


def _flat(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _flat(f"{name}.{key}", part)
    else:
        yield name, value


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _of(name: str, locked: Any, here: Any, absent: str | None = None) -> Iterator[str]:
    """Compare a section; what is only in the lock counts if there is a word for it."""
    old, new = dict(_flat(name, locked)), dict(_flat(name, here))
    for key in sorted({*new, *(old if absent else ())}):
        if key not in old:
            yield f"{key}: not in the lock, here {_shown(new[key])}"
        elif key not in new:
            yield f"{key}: locked {_shown(old[key])}, here {absent}"
        elif old[key] != new[key]:
            yield f"{key}: locked {_shown(old[key])}, here {_shown(new[key])}"


def _of_data(locked: Mapping[str, Any], here: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted(here):
        old, new = locked.get(name), here[name]
        if old is None:
            yield f"data.{name}: not in the lock, here {new['source']}"
        elif old["source"] != new["source"]:  # then the hashes tell nothing more
            yield f"data.{name}: locked {old['source']}, here {new['source']}"
        else:
            yield from _of(f"data.{name}", old, new)


def _of_options(locked: Mapping[str, Any], here: Mapping[str, Any]) -> Iterator[str]:
    old, new = dict(locked), dict(here)
    old.pop("data_dir", None)
    new.pop("data_dir", None)
    if "retrieved_context" in old and "retrieved_context" in new:
        new["retrieved_context"] = old["retrieved_context"]
    yield from _of("options", old, new, absent="not set")


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
