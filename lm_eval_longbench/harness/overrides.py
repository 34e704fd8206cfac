"""What filters of a user may not do to our tasks, and the call of the harness that is under way."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import lm_eval.evaluator

from lm_eval_longbench.benchmarks.registry import benchmarks
from lm_eval_longbench.errors import OptionError


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


# ---------------------------------------------------------------------- the call under way
#
# The harness tells a task nothing of the model that answers it, or of the tasks beside it, and both
# change what is asked and said: a model in memory knows its length and its tokenizer.


@dataclass(frozen=True)
class _Call:
    """What the harness's `evaluate` works on.

    Attributes:
        model: that answers.
        tasks: the task objects.
    """

    model: Any
    tasks: list[Any]


_calls: list[_Call] = []


def watch_calls() -> None:
    """Have the harness's `evaluate` tell what it works on."""
    evaluate = lm_eval.evaluator.evaluate

    @functools.wraps(evaluate)
    def watched(lm: Any, task_dict: Any, *args: Any, **kwargs: Any) -> Any:
        # The model may be inside the harness's response cache.
        _calls.append(_Call(getattr(lm, "lm", lm), list(_flat(task_dict))))
        try:
            return evaluate(lm, task_dict, *args, **kwargs)
        finally:
            _calls.pop()

    lm_eval.evaluator.evaluate = watched


def _flat(tasks: Any) -> Iterator[Any]:
    """Yield the tasks among tasks and groups."""
    if isinstance(tasks, Mapping):
        for one in tasks.values():
            yield from _flat(one)
    else:
        yield tasks


def model_of_call() -> Any:
    """Return the model of the `evaluate` that is under way; None: it is not known."""
    return _calls[-1].model if _calls else None


def tasks_of_call() -> list[Any]:
    """Return the tasks of the `evaluate` that is under way; none if they are not known."""
    return _calls[-1].tasks if _calls else []
