"""Compare lock files with what a run states of itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lm_eval_longbench.benchmarks.registry import benchmark_of, find_task
from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.lock.check import mismatches
from lm_eval_longbench.lock.lock import (
    DEFAULT,
    Lock,
    LockedData,
    add_data,
    data_entry,
    options_set,
    read_lock,
)
from lm_eval_longbench.logs.results_file import TaskResult
from lm_eval_longbench.options import KEY, Options

_ENDING = ".lock"


def lock_of_run(tasks: Sequence[TaskResult]) -> Lock:
    """Return what a lock file of a run would hold, from the signatures in its results file.

    Packages are those that a signature states. Null stays null, which no lock has.

    Raises:
        LongBenchError: a task or an option is none of ours.
        KeyError, TypeError: a signature lacks an ingredient.
    """
    data: dict[str, LockedData] = {}
    metrics: dict[str, Any] = {}
    options: dict[str, Any] = {}
    packages: dict[str, Any] = {}
    versions: dict[str, Any] = {}
    templates: dict[str, Any] = {}
    for result in tasks:
        run = result.run
        name, label, sha256 = run["task"], run["data"], run["data_sha256"]
        if name is None or label is None or sha256 is None:
            raise TypeError("its task or data")
        task = find_task(name)
        benchmark = benchmark_of(task)
        add_data(data, task, data_entry(task, label, sha256))
        metrics[benchmark.name] = run["metrics"]
        options.update(options_set(Options.from_metadata(_options_of(result))))
        packages.update(run["packages"] or {})
        versions[task.name] = run["version"]
        templates[f"{benchmark.family}/{task.template}"] = run["template_sha256"]
    return Lock(data, metrics, options, packages, versions, templates)


def _options_of(result: TaskResult) -> dict[str, Any]:
    given = result.metadata.get(KEY)
    return {} if given is None else {KEY: given}


def lock_files(folder: Path) -> list[Path]:
    """Return the lock files under a folder, sorted; empty ones are marks of other programs."""
    return sorted(
        path
        for path in folder.rglob(f"*{_ENDING}")
        if path.is_file() and (path.name == DEFAULT or path.stat().st_size)
    )


def disagreements(path: Path, tasks: Sequence[TaskResult]) -> list[str]:
    """Return in what a lock file and a run disagree, a line each; [] if it is of this run.

    A run may evaluate some of the locked tasks.
    """
    try:
        lock, now = read_lock(path), lock_of_run(tasks)
    except LongBenchError as error:
        return [str(error)]
    except (KeyError, TypeError) as error:
        return [f"the run does not state {error}, which a lock freezes"]
    stated = {name: own for name, own in lock.packages.items() if name in now.packages}
    lines = [f"tasks.{name}: not in the lock" for name in now.tasks if name not in lock.tasks]
    return lines or mismatches(replace(lock, packages=stated), now)
