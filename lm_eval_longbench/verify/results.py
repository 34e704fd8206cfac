"""Check a results file as a whole: that each entry belongs to something, and what it says twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lm_eval_longbench.benchmarks.registry import tasks
from lm_eval_longbench.errors import LongBenchError, PredictionError
from lm_eval_longbench.input_files import read_json_lines
from lm_eval_longbench.logs.results_file import NAMING, ResultsFile, TaskResult
from lm_eval_longbench.prompts.text_hash import text_sha256
from lm_eval_longbench.signature.signature import package_versions
from lm_eval_longbench.task_names import our_group
from lm_eval_longbench.verify.check import (
    CONFIRMED,
    DIFFERENT,
    NOT_CHECKABLE,
    Check,
    all_of,
    compared,
)

# Parts with an entry a task; the first ones have entries of groups, too.
_WITH_GROUPS = ("results", "versions", "n-shot", "higher_is_better")
_OF_TASKS = ("n-samples", "task_hashes")
# What `harness.task` writes into the configuration of its tasks.
_OURS = "lm_eval_longbench"
# What the harness states once a file, and checks compare.
_STATED = (
    *("config", "lm_eval_version", "model_source", "model_name", "chat_template"),
    *("chat_template_sha", "system_instruction", "system_instruction_sha"),
)


def check_results(results: ResultsFile) -> Iterator[tuple[str, Check]]:
    """Yield the checks of a results file's parts, each with the task or group that it is about."""
    yield from _entries(results)
    for name in results.others:
        problem = _is_ours(results, name)
        if problem:
            said = "What it wrote of its run was taken out, so that nothing of it can be checked."
            yield name, Check("entries", "longbench_run", DIFFERENT, None, problem, said)
    if not results.tasks:
        return
    for task in results.tasks:
        yield from ((task.name, check) for check in _table(results, task))
    yield from ((group, check) for group, check in _groups(results))
    yield from (("", check) for check in _run(results))


def _entries(results: ResultsFile) -> Iterator[tuple[str, Check]]:
    """Check that every entry is of a task or a group, and that each of these has its entry."""
    whole: Mapping[str, Any] = results.whole
    groups, names = results.members, whole["configs"].keys()
    wrong: list[tuple[str, str, str]] = []
    for part in (*_WITH_GROUPS, *_OF_TASKS, "groups"):
        known = {*names, *groups} if part in _WITH_GROUPS else names
        known = groups.keys() if part == "groups" else known
        said = "It belongs to no task and no group of the file: it was added."
        wrong += [(name, part, said) for name in whole.get(part, {}) if name not in known]
    said = "It was taken out of the results."
    wrong += [(name, "results", said) for name in (*names, *groups) if name not in results.results]
    members = {name for own in groups.values() for name in own}
    wrong += [(name, "configs", said) for name in members if name not in {*names, *groups}]
    for name, part, said in wrong:
        yield name, Check("entries", part, DIFFERENT, name, None, said)
    if not wrong and results.tasks:
        number = len(names) + len(groups)
        yield "", Check("entries", "entries", CONFIRMED, f"{number} tasks and groups")


def _is_ours(results: ResultsFile, name: str) -> str:
    """Return how a task without a run of ours shows that it is one; "": it is another's."""
    config = results.whole["configs"][name]
    if name in tasks():
        return "a task of this package by its name"
    if config.get("process_results") == _OURS or _OURS in str(config.get("class")):
        return "a task of this package by its configuration"
    log, _ = results.log_of(name)
    try:
        rows = iter(()) if log is None else read_json_lines(log, PredictionError)
        _, row = next(rows, (0, None))
    except LongBenchError:  # another's log
        return ""
    doc = row.get("doc") if isinstance(row, Mapping) else None
    if not isinstance(doc, Mapping) or not isinstance(doc.get("prompt"), Mapping):
        return ""
    return "a task of this package by its log" if str(doc.get("task")) in tasks() else ""


def _table(results: ResultsFile, task: TaskResult) -> Iterator[Check]:
    """Check what the harness's table shows of a task besides its figures."""
    whole, kind = results.whole, "table"
    config, name = task.config, task.name
    said = "The table shows it otherwise than the configuration has it."
    shots, alias = config.get("num_fewshot"), config.get("task_alias") or name
    for key, found, expected in (
        ("task", config.get("task"), name),
        ("name", task.figures.get("name", name), name),
        ("alias", task.figures.get("alias", alias), alias),
        # Where the configuration is silent 0.5 shows a 0.
        ("n-shot", whole.get("n-shot", {}).get(name, shots) or 0, shots or 0),
        ("num_fewshot", shots or 0, 0),
    ):
        yield compared(kind, key, found, expected, said)
    stated = whole.get("higher_is_better", {}).get(name, {})
    listed = {own["metric"]: own.get("higher_is_better") for own in config.get("metric_list") or ()}
    figures = {key.rpartition(",")[0] for key in task.figures}
    wrong = [
        f"{metric} is {stated.get(metric)}"
        for metric in sorted({*listed, *stated})
        if (metric in listed and listed[metric] not in (None, stated.get(metric)))
        or metric not in {*listed, *figures}
        or not isinstance(stated.get(metric), bool)
    ]
    yield from all_of("higher is better", len(stated), wrong, "as in the configuration", said)


def _groups(results: ResultsFile) -> Iterator[tuple[str, Check]]:
    """Check what the harness's table shows of groups besides their figures.

    The harness spreads it from members to groups, in the order of the file: a group that comes
    before its members gets nothing from them.
    """
    whole, configs = results.whole, results.whole["configs"]
    stated_shots, stated_better = whole.get("n-shot", {}), whole.get("higher_is_better", {})
    shots = {name: str(stated_shots.get(name)) for name in configs}
    better = {name: stated_better.get(name, {}) for name in configs}
    packages = [task.run.get("packages") or {} for task in results.tasks]
    here = package_versions()["lm_eval_longbench"]
    ours = all(own.get("lm_eval_longbench") == here for own in packages)
    for group, members in results.members.items():
        met = {shots[name] for name in members if name in shots}
        if len(met) == 1:
            shots[group] = met.pop()
        spread: dict[str, Any] = {}
        for name in members:
            for metric, value in better.get(name, {}).items():
                spread[metric] = value if spread.get(metric, value) == value else None
        if spread:
            better[group] = spread
        said = "The table shows it otherwise than that of its tasks."
        found = str(stated_shots[group]) if group in stated_shots else None
        if found is not None or group in shots:
            yield group, compared("table", "n-shot", found, shots.get(group), said)
        if spread or group in stated_better:
            yield group, compared("table", "higher", stated_better.get(group, {}), spread, said)
        name = results.results.get(group, {}).get("name", group)
        yield group, compared("table", "name", name, group, said)
        version = whole.get("versions", {}).get(group)
        alias = results.results.get(group, {}).get("alias", group)
        own = our_group(group, members)
        if own is not None and own.version == str(version) and own.alias == alias:
            yield group, Check("table", "version, alias", CONFIRMED, [version, alias])
        elif own is not None and ours:
            said = "This package has the group under another version or another name in the table."
            wanted = [own.version, own.alias]
            yield group, Check("table", "version, alias", DIFFERENT, [version, alias], wanted, said)
        else:
            said = "Its version and its name in the table stand in the group's own file only."
            yield group, Check("table", "version, alias", NOT_CHECKABLE, version, None, said)


def _run(results: ResultsFile) -> Iterator[Check]:
    """Check what the file says of the model and of the text around prompts, twice and more."""
    whole: Mapping[str, Any] = results.whole
    kind = "run"
    for part in (*_STATED, *_WITH_GROUPS, *_OF_TASKS, "group_subtasks"):
        if part not in whole:
            said = "The file does not state it, so that nothing could be compared with it."
            yield Check(kind, part, NOT_CHECKABLE, None, None, said)
    for part in ("chat_template", "system_instruction"):
        text, found = whole.get(part), whole.get(f"{part}_sha")
        if f"{part}_sha" in whole and (text is None or isinstance(text, str)):
            said = f"The hash is not that of the {part} beside it: one of them was edited."
            yield compared(kind, f"{part}_sha", found, text_sha256(text) if text else None, said)
    config = whole.get("config", {})
    arguments, name = config.get("model_args"), whole.get("model_name")
    source, model = whole.get("model_source"), config.get("model")
    said = "The model is named in two ways: one of them was edited."
    if source not in (None, "CUSTOM"):
        yield compared(kind, "model_source", source, model, said)
    if isinstance(arguments, Mapping) and name is not None:
        named = [str(arguments[key]) for key in NAMING if key in arguments]
        if named:
            yield compared(kind, "model_name", name in named, True, said)
    elif isinstance(arguments, str) and any(f"{key}=" in arguments for key in NAMING):
        yield compared(kind, "model_name", str(name) in arguments, True, said)
    packages = [task.run.get("packages") or {} for task in results.tasks]
    versions = {own["lm_eval"] for own in packages if own.get("lm_eval") is not None}
    if "lm_eval_version" in whole and versions:
        said = "The signatures name another version of the harness than the file."
        yield compared(kind, "lm_eval", [whole["lm_eval_version"]], sorted(versions), said)
    said = (
        "Nothing in the files tells which model answered, on which machine, when, and with which "
        "packages: they are only stated."
    )
    yield Check("ingredients", "model, machine, packages", NOT_CHECKABLE, name, None, said)
