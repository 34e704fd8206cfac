"""What filters of a user and options of a Python caller may not do to our tasks."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from types import FrameType
from typing import Any

from lm_eval.utils import simple_parse_args_string

from lm_eval_longbench.benchmarks.registry import benchmarks
from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.options import KEY


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
