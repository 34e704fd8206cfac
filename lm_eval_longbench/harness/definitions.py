"""What a task's configuration means: one of our tasks, or a user's file that changes one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lm_eval.config.task import TaskConfig

from lm_eval_longbench.benchmarks.asking import asking_of
from lm_eval_longbench.benchmarks.part import NothingAsked
from lm_eval_longbench.benchmarks.registry import (
    benchmark_of,
    benchmarks,
    carried,
    expanded,
    find_task,
    learn,
    read_options,
    tags,
    tasks,
)
from lm_eval_longbench.benchmarks.variants import FromFiles
from lm_eval_longbench.catalog.model import Task, prompt_sha256
from lm_eval_longbench.catalog.read import OWN_KEYS, Hook, leaves_beside, read_file
from lm_eval_longbench.catalog.users import CHANGES, DEFAULTS, changed
from lm_eval_longbench.errors import OptionError, PromptError, UnknownNameError, few
from lm_eval_longbench.statistics import means

_HARNESS_KEYS = {field.name for field in dataclasses.fields(TaskConfig)} | {"class"}
# What only describes a task, and is read of our own files alone.
_DESCRIBING = frozenset(
    {
        *("definition", "label", "category", "language", "questions", "length", "prompt_sha256"),
        *("headline", "published", "mode", "limits", "tables", "known_errors"),
    }
)
# What the harness would put around a prompt that is official to the byte.
_AROUND = ("description", "gen_prefix")
# Where the harness would take questions, gold answers and scores from.
_OURS = ("doc_to_target", "doc_to_choice", "process_docs", "process_results")


@dataclasses.dataclass(frozen=True)
class AskedTask:
    """What a configuration asks.

    Attributes:
        task: as it is asked.
        generation: generation arguments in place of the official ones.
        definition: what a user's file of another name changes of the task that it includes, by key.
        config: what the harness gets: without our keys, with all of our figures.
    """

    task: Task
    generation: dict[str, Any]
    definition: dict[str, Any]
    config: dict[str, Any]


def asked(given: Mapping[str, Any]) -> AskedTask:
    """Return what a configuration asks: the task of its name, else of its definition.

    Args:
        given: a task's configuration as the harness read it, with what groups around it override.

    Raises:
        OptionError: a key is unknown or may not be changed, the file has no definition, or it
            inherits a tag of ours.
        PromptError: it has the name of one of our tasks, and another prompt.
        UnknownNameError: there is no such definition or no such metric.
    """
    name, config = str(given.get("task")), {key: _plain(value) for key, value in given.items()}
    for key in config:
        if key not in OWN_KEYS | _HARNESS_KEYS:
            known = UnknownNameError("key of a task file", key, OWN_KEYS | _HARNESS_KEYS)
            raise OptionError(f"{name}: {known}")
    official = asked_task(given)
    benchmark = benchmark_of(official)
    leaf = benchmark.defined.leaves[official.name]
    _check_keys(name, config, leaf)
    _check_around(name, config)
    definition = dict(_changes(config, leaf))
    generation = definition.get("generation_kwargs", {})
    if name == official.name:
        _check_ours(official, definition, given)
        definition = {}
    if name != official.name or isinstance(benchmark, FromFiles):
        _check_tags(name, given)
    metric = definition.get("metric")
    if metric is not None and metric not in (ours := benchmark.metrics_of(official)):
        raise OptionError(f"{name}: {UnknownNameError('metric', metric, ours)}")
    task = changed(official, definition)
    return AskedTask(task, generation, definition, _for_harness(given, task, leaf))


def asked_task(config: Mapping[str, Any]) -> Task:
    """Return our task of a configuration's name, else of its definition.

    The benchmark of a user's own files is known from then on.

    Raises:
        OptionError: it has no definition, so that it is none of ours; or as `registry.learn`.
        UnknownNameError: there is no such definition.
    """
    _learn({key: _plain(value) for key, value in config.items()})
    name = str(config.get("task"))
    if name in tasks():
        return find_task(name)
    if config.get("definition") is None:
        raise OptionError(
            f"{name}: its file neither includes a task file of ours nor names one of our tasks "
            "under 'definition', so that nothing says how its answers are scored. Add a line "
            "such as: include: FOLDER/longbench_v1/longbench_v1_qasper.yaml, where "
            "`lm-eval-longbench path` prints the folder; or define a benchmark of your own under "
            "'benchmark', see docs/new-benchmark.md."
        )
    return find_task(str(config["definition"]))


def _learn(config: Mapping[str, Any]) -> None:
    """Know the benchmark of a task file that no package has: its folder says what it is.

    Raises OptionError as `registry.learn`.
    """
    name, file = config.get("benchmark"), Path(_file_of(config)).absolute()
    if name is None or (name in benchmarks() and not carried([str(name)])):
        return
    leaves = leaves_beside(file, str(name)) if file.is_file() else []
    if not leaves and config.get("definition") in (None, config["task"]):  # it has no file
        version = (config.get("metadata") or {}).get("version")
        leaves = [{**config, "metadata": {"version": version}}]
    if leaves:
        learn(leaves, file.parent, in_place=True)


def _plain(value: Any) -> Any:
    """Return a value of a configuration as a file has it: functions by their names."""
    return Hook(f"{value.__module__}.{value.__qualname__}") if callable(value) else value


def _changes(config: Mapping[str, Any], leaf: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield what a configuration changes of a task file, by key."""
    for key in CHANGES:
        own = config.get(key)
        if key == "generation_kwargs":
            official = leaf[key]
            own = {one: value for one, value in (own or {}).items() if official.get(one) != value}
            if own:
                yield key, own
        elif own is not None and own != leaf.get(key):
            yield key, own


def _check_keys(name: str, config: Mapping[str, Any], leaf: Mapping[str, Any]) -> None:
    for key, value in config.items():
        fixed = key in OWN_KEYS and key not in CHANGES and key not in _DESCRIBING
        if fixed and value != leaf.get(key):
            raise OptionError(
                f"{name}: {key!r} cannot be changed: it is what the benchmark of "
                f"{leaf['task']} does. Take it off, or define a benchmark of your own, see "
                "docs/new-benchmark.md."
            )
    text = config.get("doc_to_text")
    if isinstance(text, Hook) and text != leaf.get("doc_to_text"):
        raise OptionError(
            f"{name}: 'doc_to_text' must be a text, the harness's Jinja with the fields of a row, "
            "so that results can carry it; a function of your own cannot be checked afterwards."
        )


def _check_around(name: str, config: Mapping[str, Any]) -> None:
    """Refuse what would stand around prompts, or take questions and scores from elsewhere."""
    for key in _AROUND:
        if config.get(key):
            raise OptionError(
                f"{name}: {key!r} would change the prompt, and the score with it. Take it off "
                "this task and off the groups around it; in a task file of your own change "
                "'doc_to_text'."
            )
    for key in _OURS:
        if config.get(key):
            raise OptionError(
                f"{name}: {key!r} is not read: questions, gold answers and scores of these tasks "
                "are the official ones. Take it off; 'metric' names another metric of ours."
            )
    if int(config.get("num_fewshot") or 0) > 0:
        raise OptionError(
            f"{name}: num_fewshot must be 0: LongBench has no examples to show besides those that "
            "are part of its documents. Take it off this task and off the groups around it."
        )


def _file_of(given: Mapping[str, Any]) -> str:
    return str((given.get("metadata") or {}).get("config_source") or "its configuration")


def _check_ours(task: Task, definition: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Refuse a task of ours that is not as ours: its name stands for exactly one."""
    prompt = definition.get("doc_to_text", definition.get("template"))
    if prompt is not None:
        raise PromptError(
            f"The prompt of {task.name} was changed in {_file_of(given)}: sha256 "
            f"{prompt_sha256(prompt)}, official {task.prompt_sha256}. Restore the file, or give "
            "the task another name."
        )
    for key in ("metric", "chat_template", "dataset_name"):
        if key in definition:
            raise OptionError(
                f"{task.name}: {key!r} is changed in {_file_of(given)}. A task of this name is the "
                "official one: give yours another name."
            )


def _check_tags(name: str, given: Mapping[str, Any]) -> None:
    """Refuse a tag of ours that came with an include: the harness takes the task for a member."""
    file = Path(_file_of(given))
    if not file.is_file() or not isinstance(given.get("task"), str):
        return
    listed = read_file(file.resolve()).get("tag") or ()
    for tag in [listed] if isinstance(listed, str) else listed:
        if tag in tags() and name not in tags()[tag]:
            raise OptionError(
                f"{name}: {file} inherits the tag {tag}, so that the harness takes the task for a "
                "member of it, in place of ours. Add this line to the file: tag: []"
            )


def _for_harness(given: Mapping[str, Any], task: Task, leaf: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the harness gets. Figures that a user lists stay alone.

    Raises:
        OptionError: one of them is none of ours.
    """
    figures = benchmark_of(task).harness_metrics(task)
    dropped = {*OWN_KEYS, "class", "doc_to_text", "repeats"}
    kept = {key: value for key, value in given.items() if key not in dropped}
    listed = kept.get("metric_list") or leaf.get("metric_list")
    if listed == leaf.get("metric_list"):
        listed = [
            {
                "metric": one.name,
                # The harness's own mean has a standard error, which it finds by its name.
                "aggregation": "mean"
                if one.aggregation == "mean"
                else getattr(means, one.aggregation),
                "higher_is_better": one.higher_is_better,
            }
            for one in figures
        ]
    for one in listed or ():
        if one.get("metric") not in {own.name for own in figures}:
            known = UnknownNameError("figure", one.get("metric"), (own.name for own in figures))
            raise OptionError(f"{given.get('task')}: in its metric_list: {known}")
    return {**DEFAULTS, **kept, "metric_list": listed}


# ---------------------------------------------------------------------- options and filters


def with_questions(
    names: list[str],
    metadata: Mapping[str, Any] | None,
    arguments: Mapping[str, Any],
    say: Callable[[str], object],
) -> list[str]:
    """Return the tasks less those of which the options `only` and `shard` leave no question.

    Raises:
        NothingAsked: they leave no question of any task.
    """
    options = read_options(metadata)
    if not options.only and options.shard is None:
        return names
    empty: dict[str, NothingAsked] = {}
    ours, foreign = expanded(names)
    for name in ours:
        task = find_task(name)
        try:
            asking_of(benchmark_of(task), task, options, options.repeats or 1).load(arguments)
        except NothingAsked as error:
            empty[name] = error
    if not empty:
        return names
    if len(empty) == len(ours) and not foreign:
        raise next(iter(empty.values()))
    say(f"No question is left of {len(empty)} of {len(ours)} tasks: {few(list(empty), 3)}.")
    return [*(name for name in ours if name not in empty), *foreign]


def check_filters(task: str, filters: Iterable[Any], answers: int) -> None:
    """Refuse filters of a user that take more answers than a request gets.

    The harness itself finds out after the last answer, which loses them all.

    Args:
        filters: the `filter_list` of the task's YAML.
        answers: to a request; the repeats of a server are requests of their own.

    Raises:
        OptionError: `take_first_k` asks for more.
    """
    for one in filters:
        for step in one.get("filter") or ():
            taken = step.get("k", 0) if step.get("function") == "take_first_k" else 0
            if isinstance(taken, int) and taken > answers:
                raise OptionError(
                    f"{task}: the filter {one.get('name')!r} takes {taken} answers of a request, "
                    f"which gets {answers} here. Models in this process give all repeats to one "
                    "request, servers each repeat to a request of its own. Use "
                    + ("take_first." if answers == 1 else f"k: {answers}.")
                )
