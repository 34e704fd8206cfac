"""The generation arguments that --gen_kwargs may change under our feet."""

from __future__ import annotations

from typing import Any

from lm_eval_longbench.errors import OptionError

_NAME = "max_gen_toks"
_ALIASES = ("max_new_tokens", "max_tokens", "max_completion_tokens")
# Arguments that say what is the case anyway, on every backend that runs a model in this process.
_NEUTRAL = (("top_p", 1.0), ("repetition_penalty", 1.0))


def fold_budget(task: str, generation: dict[str, Any]) -> None:
    """Write the output budget under the harness's one name for it, in place.

    --gen_kwargs adds to the task's own arguments: under another name the budget would stand beside
    ours, and backends differ in which of the two they take.

    Raises:
        OptionError: there are several, or it is not a whole number from 1.
    """
    given = [name for name in _ALIASES if name in generation]
    if len(given) > 1:
        raise OptionError(f"{task}: {' and '.join(given)} both name the output budget. Give one.")
    value = generation.pop(given[0]) if given else generation.get(_NAME)
    name = given[0] if given else _NAME
    if isinstance(value, bool) or not str(value).isdecimal() or int(value) < 1:
        raise OptionError(f"{task}: {name} must be a whole number from 1, not {value!r}.")
    generation[_NAME] = int(value)


def kept_apart(generation: dict[str, Any]) -> dict[str, Any]:
    """Return arguments that mean the same but are not equal.

    The harness batches requests of equal arguments, and the hf model looks at the first prompt of a
    batch to decide whether all of them get a beginning-of-text token. Raw prompts must not meet
    prompts whose chat template has written it.
    """
    for name, value in _NEUTRAL:
        if name not in generation:
            return {**generation, name: value}
    return generation
