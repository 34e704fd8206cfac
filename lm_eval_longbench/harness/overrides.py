"""What a user's YAML and a Python caller may change of our tasks, and what they may not."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from types import FrameType
from typing import Any

from lm_eval.utils import simple_parse_args_string

from lm_eval_longbench.benchmarks.base import Task
from lm_eval_longbench.benchmarks.registry import benchmark_of, benchmarks, find_task, tasks
from lm_eval_longbench.catalog.read import OWN_KEYS
from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.figures import means
from lm_eval_longbench.options import KEY

# What the harness would put around a prompt that is official to the byte.
_AROUND = ("description", "gen_prefix")
# Where the harness would take questions, gold answers and scores from.
_OURS = ("doc_to_target", "doc_to_choice", "process_docs", "process_results")


def asked_task(config: Mapping[str, Any]) -> Task:
    """Return the task that a configuration asks: the one of its name, else of its definition.

    Raises:
        OptionError: it has no definition, so that it is none of ours.
        UnknownNameError: there is no such definition.
    """
    name = str(config.get("task"))
    if name in tasks():
        return find_task(name)
    if config.get("definition") is None:
        raise OptionError(
            f"{name}: its file neither includes a task file of ours nor names one of our tasks "
            "under 'definition'."
        )
    return find_task(str(config["definition"]))


def _aggregation(name: str) -> Any:
    """Return a mean as the harness knows it: its own, which has a standard error, by its name."""
    return name if name == "mean" else getattr(means, name)


def for_harness(config: Mapping[str, Any], task: Task) -> dict[str, Any]:
    """Return the configuration that the harness gets: without our keys, with all of our figures.

    Figures that a user lists stay alone.

    Raises:
        OptionError: the prompt is not that of the task.
    """
    benchmark = benchmark_of(task)
    leaf = benchmark.defined.leaves[task.name]
    prompt = config.get("template" if task.hook else "doc_to_text", task.prompt)
    if prompt != task.prompt:
        raise OptionError(f"{config.get('task')}: its prompt is not that of {task.name}.")
    dropped = {*OWN_KEYS, "class", "doc_to_text", "repeats"}
    kept = {key: value for key, value in config.items() if key not in dropped}
    if kept.get("metric_list", leaf["metric_list"]) == leaf["metric_list"]:
        kept["metric_list"] = [
            {
                "metric": one.name,
                "aggregation": _aggregation(one.aggregation),
                "higher_is_better": one.higher_is_better,
            }
            for one in benchmark.harness_metrics(task)
        ]
    return kept


def check_prompt_is_ours(config: Mapping[str, Any]) -> None:
    """Refuse what would change the official prompts.

    Args:
        config: a task's, with what groups around it override.

    Raises:
        OptionError: a text stands around the prompt, there are examples before it, or questions,
            prompts, gold answers or scores are to be others.
    """
    task = config.get("task")
    for name in _AROUND:
        if config.get(name):
            raise OptionError(
                f"{task}: {name!r} would change the official prompt, and the score with it. Take "
                "it off this task and off the groups around it."
            )
    for name in _OURS:
        if config.get(name):
            raise OptionError(
                f"{task}: {name!r} is not read: questions, prompts, gold answers and scores of "
                "these tasks are the official ones. Take it off, or write a task of your own."
            )
    if int(config.get("num_fewshot") or 0) > 0:
        raise OptionError(
            f"{task}: num_fewshot must be 0: LongBench has no examples to show besides those that "
            "are part of its documents. Take it off this task and off the groups around it."
        )


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


def refuse_selection(options: Mapping[str, Any], title: str) -> None:
    """Refuse to select questions by dimensions that this benchmark does not have."""
    if options.get("only"):
        having = ", ".join(one.title for one in benchmarks().values() if one.choices)
        raise OptionError(
            f"Option 'only' selects questions of {having}; {title} has no such dimensions."
        )


# ---------------------------------------------------------------------- options of a call
#
# The harness hands the arguments `metadata` and `model_args` of `simple_evaluate` to tasks only
# where it makes the TaskManager itself: with `simple_evaluate(task_manager=..., metadata=...)` it
# drops them without a word. Everybody who has a model in memory calls it so, and a dropped
# `truncate_to` is another protocol; a dropped `max_length` is none, and prompts go out whole. The
# harness offers no way to see the arguments, so they are looked up in the call.


def _call_of(function: str) -> Mapping[str, Any] | None:
    """Return the variables of the innermost call of a function of the harness's evaluator."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == function and (
            frame.f_globals.get("__name__") == "lm_eval.evaluator"
        ):
            return frame.f_locals
        frame = frame.f_back
    return None


def _of_call() -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return `model_args` and `metadata` of the `simple_evaluate` that is under way; or nothing.

    Raises:
        OptionError: the metadata is no mapping, which the harness drops too.
    """
    call = _call_of("simple_evaluate") or {}
    found, arguments = call.get("metadata"), call.get("model_args")
    if found is not None and not isinstance(found, Mapping):
        raise OptionError(
            f"simple_evaluate(metadata=...) must be a mapping such as "
            f'{{"{KEY}": {{"truncate_to": 31500}}}}, not {found!r}.'
        )
    if isinstance(arguments, str):
        arguments = simple_parse_args_string(arguments)
    return arguments if isinstance(arguments, Mapping) else {}, found or {}


def model_of_call() -> Any:
    """Return the model of the harness's `evaluate` that is under way; None: there is none."""
    model = (_call_of("evaluate") or {}).get("lm")
    return getattr(model, "lm", model)  # inside the harness's response cache


def tasks_of_call() -> list[Any]:
    """Return the task objects of the harness's `evaluate` that is under way."""
    found: list[Any] = []
    open_ = [(_call_of("evaluate") or {}).get("task_dict")]
    while open_:
        one = open_.pop()
        if isinstance(one, Mapping):  # of tasks and groups, or, as of old, nested
            open_ += one.values()
        else:
            found.append(one)
    return found


def options_of_call(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the call gives and the task's metadata lacks: options, model arguments, ...

    Raises:
        OptionError: the call and the TaskManager give different options.
    """
    arguments, call = _of_call()
    _check(call, metadata)
    return {name: value for name, value in {**arguments, **call}.items() if name not in metadata}


def check_options_of_call(metadata: Mapping[str, Any]) -> None:
    """Refuse options of a call that reach a task too late: it was built before.

    Raises:
        OptionError: the call gives options that the task does not have.
    """
    _, call = _of_call()
    if KEY in call and KEY not in metadata:
        raise OptionError(
            f"simple_evaluate(metadata=...) gives LongBench options {call[KEY]!r}, but its tasks "
            "were built before, without them. Give them to the TaskManager instead: "
            f'TaskManager(metadata={{"{KEY}": ...}}).'
        )
    _check(call, metadata)


def _check(call: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
    if KEY in call and KEY in metadata and call[KEY] != metadata[KEY]:
        raise OptionError(
            f"simple_evaluate(metadata=...) gives LongBench options {call[KEY]!r}, and the tasks "
            f"have others, {metadata[KEY]!r}, from the TaskManager or from a YAML. Give them in "
            "one place."
        )
