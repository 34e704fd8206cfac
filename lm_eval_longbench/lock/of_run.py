"""Compare lock files with what a run states of itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lm_eval_longbench.benchmarks.registry import benchmark_of, find_task
from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.lock.check import mismatches
from lm_eval_longbench.lock.lock import DEFAULT, Lock, data_entry, options_set, read_lock
from lm_eval_longbench.logs.results_file import TaskResult
from lm_eval_longbench.options import KEY, Options

_ENDING = ".lock"


def lock_of_run(tasks: Sequence[TaskResult]) -> Lock:
    """Return what a lock file of a run would hold, from the signatures in its results file.

    Packages are those that a signature states.

    Raises:
        LongBenchError: a task or an option is none of ours.
        KeyError, TypeError: a signature lacks an ingredient.
    """
    found = Lock({}, {}, {}, {}, {}, {})
    for result in tasks:
        run = result.run
        name, data, sha256 = run["task"], run["data"], run["data_sha256"]
        if name is None or data is None or sha256 is None:
            raise TypeError("its task or data")
        task = find_task(name)
        benchmark = benchmark_of(task)
        entry = data_entry(task, data, sha256)
        known = _section(found.data).setdefault(benchmark.name, entry)
        if isinstance(entry["sha256"], dict) and isinstance(known["sha256"], dict):
            known["sha256"].update(entry["sha256"])
        _section(found.metrics)[benchmark.name] = run["metrics"]
        _section(found.options).update(options_set(Options.from_metadata(_options_of(result))))
        _section(found.packages).update(run["packages"] or {})
        _section(found.tasks)[task.name] = run["version"]
        template = f"{benchmark.family}/{task.template}"
        _section(found.templates)[template] = run["template_sha256"]
    return found


def _section(section: Any) -> dict[str, Any]:
    own: dict[str, Any] = section
    return own


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
