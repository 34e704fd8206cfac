"""Write the harness's task files of a benchmark: `python -m lm_eval_longbench.write_tasks FOLDER`.

Each table of several tasks has a folder of its own; tables of one task share their benchmark's. In
a folder `_base` holds what its tasks have in common: what most of them have where they differ.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from lm_eval_longbench.benchmarks.base import Benchmark, Group, Metric, Task
from lm_eval_longbench.benchmarks.registry import OURS, benchmarks
from lm_eval_longbench.errors import LongBenchError, UnknownNameError

_WRITTEN_BY = "# Written by "
CLASS = "lm_eval_longbench.harness.task.LongBenchTask"
_AGGREGATIONS = "lm_eval_longbench.figures.means"


def task_files(benchmark: Benchmark) -> dict[PurePosixPath, str]:
    """Return the text of each task file of a benchmark, by its path in the folder."""
    writer = "scripts/make_tasks.py" if benchmark in OURS else "lm_eval_longbench.write_tasks"
    header = f"{_WRITTEN_BY}{writer}; change that, not this.\n"
    version = f"metadata:\n  version: {benchmark.task_version}\n"
    folders: dict[PurePosixPath, list[Task]] = {}
    for task in benchmark.tasks.values():
        folders.setdefault(_folder(benchmark, task), []).append(task)
    found = {
        folder / name: header + text
        for folder, tasks in folders.items()
        for name, text in _folder_files(benchmark, tasks, version).items()
    }
    groups = {group.name: group for group in benchmark.groups()}
    for group in groups.values():
        folder = _folder(benchmark, _first_task(benchmark, groups, group))
        found[folder / f"_{group.name}.yaml"] = header + _group(group) + version
    return found


def _folder(benchmark: Benchmark, task: Task) -> PurePosixPath:
    several = len(benchmark.tables[task.table].tasks) > 1
    return PurePosixPath(task.table if several else benchmark.name)


def _first_task(benchmark: Benchmark, groups: Mapping[str, Group], group: Group) -> Task:
    first = group.members[0]
    return (
        _first_task(benchmark, groups, groups[first]) if first in groups else benchmark.tasks[first]
    )


def _folder_files(benchmark: Benchmark, tasks: Sequence[Task], version: str) -> dict[str, str]:
    """Return the files of one folder's tasks, by name."""
    generation = {task.name: _generation(benchmark.generation(task)) for task in tasks}
    metrics = {task.name: benchmark.harness_metrics(task) for task in tasks}
    usual = _usual(list(generation.values()))
    common, *others = (own for own, _ in Counter(metrics.values()).most_common())
    files = {
        "_base": f"class: !function {CLASS}\n"
        f"dataset_path: {benchmark.source.repo}\n"
        "test_split: test\n"
        "output_type: generate_until\n"
        "num_fewshot: 0\n"
        'target_delimiter: ""\n' + usual + _metric_list(common) + version
    }
    shared = [own for own in others if list(metrics.values()).count(own) > 1]
    names = {own: f"_{benchmark.shared_metrics}{number or ''}" for number, own in enumerate(shared)}
    files |= {name: _metric_list(own) for own, name in names.items()}
    for task in tasks:
        own = metrics[task.name]
        includes = f"[_base, {names[own]}]" if own in names else "_base"
        files[f"{task.name}.yaml"] = (
            f"include: {includes}\n"
            f"task: {task.name}\n"
            + ("" if _is_said(task) else f"task_alias: {_text(task.label)}\n")
            + f"dataset_name: {task.name}\n"
            + ("" if generation[task.name] == usual else generation[task.name])
            + ("" if own == common or own in names else _metric_list(own))
        )
    return files


def _usual(texts: Sequence[str]) -> str:
    """Return what more than half of the texts are; "": there is no such."""
    ((first, number),) = Counter(texts).most_common(1)
    return first if 2 * number > len(texts) else ""


def _is_said(task: Task) -> bool:
    """Whether the task's name ends with its label."""
    return task.name.endswith(task.label.replace("-", "_"))


def _text(value: str) -> str:
    """Return a text as YAML; quoted where it would be read as something else."""
    try:
        plain = yaml.safe_load(f"key: {value}") == {"key": value}
    except yaml.YAMLError:
        plain = False
    return value if plain else json.dumps(value, ensure_ascii=False)


def _generation(arguments: Mapping[str, Any]) -> str:
    return "generation_kwargs:\n" + "".join(
        f"  {name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in arguments.items()
    )


def _metric_list(metrics: Sequence[Metric]) -> str:
    return "metric_list:\n" + "".join(
        f"  - metric: {metric.name}\n"
        f"    aggregation: {_aggregation(metric.aggregation)}\n"
        f"    higher_is_better: {str(metric.higher_is_better).lower()}\n"
        for metric in metrics
    )


def _aggregation(name: str) -> str:
    return name if name == "mean" else f"!function {_AGGREGATIONS}.{name}"


def _group(group: Group) -> str:
    """Return a group; without metrics it has no figure of its own."""
    weighs = str(group.by_size).lower()
    aggregate = "".join(
        f"  - metric: {one}\n    weight_by_size: {weighs}\n" for one in group.metrics
    )
    return (
        f"group: {group.name}\n"
        + (f"group_alias: {_text(group.alias)}\n" if group.alias else "")
        + "task:\n"
        + "".join(f"  - {member}\n" for member in group.members)
        + (f"aggregate_metric_list:\n{aggregate}" if aggregate else "")
    )


def write(folder: Path, wanted: Sequence[Benchmark], *, check: bool = False) -> list[Path]:
    """Write the task files of benchmarks into their folders, and return, in order, what differed.

    Files that were written before and are no more are removed; others stay. `check`: nothing is
    written and nothing removed.
    """
    files = {folder / path: text for one in wanted for path, text in task_files(one).items()}
    present = {
        path: path.read_bytes()
        for own in {path.parent for path in files}
        for path in own.glob("*")
        if path.is_file()
    }
    old = {
        path
        for path, text in present.items()
        if path not in files and text.startswith(_WRITTEN_BY.encode())
    }
    different = {path for path, text in files.items() if present.get(path) != text.encode("utf-8")}
    if not check:
        for path in old:
            path.unlink()
        for path in different:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(files[path].encode("utf-8"))
    return sorted(different | old)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files, or with --check name those that differ."""
    parser = argparse.ArgumentParser("python -m lm_eval_longbench.write_tasks", description=__doc__)
    parser.add_argument("folder", type=Path, help="for the folders of task files")
    parser.add_argument("--benchmark", action="append", help="which one; else all of ours")
    parser.add_argument("--check", action="store_true", help="exit 1 if any file differs")
    given = parser.parse_args(arguments)
    known = benchmarks()
    try:
        for name in given.benchmark or ():
            if name not in known:
                raise UnknownNameError("benchmark", name, known)
    except LongBenchError as error:
        parser.error(str(error))
    wanted = [known[name] for name in given.benchmark] if given.benchmark else list(OURS)
    different = write(given.folder, wanted, check=given.check)
    if given.check:
        for path in different:
            sys.stdout.write(f"differs: {path.relative_to(given.folder.parent)}\n")
        return 1 if different else 0
    number = sum(len(task_files(one)) for one in wanted)
    sys.stdout.write(f"{number} files, {len(different)} changed\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
