"""Generation arguments of requests: what may be changed of them, and how repeats differ."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval_longbench.console import warn_once
from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.options import MOST_REPEATS, REPEAT, read_seed
from lm_eval_longbench.signature.protocol import is_greedy

# Names of the output budget, the harness's own first, in its order of precedence.
BUDGETS = ("max_gen_toks", "max_new_tokens", "max_tokens", "max_completion_tokens")
_NAME, *_ALIASES = BUDGETS
# How answers are drawn, as most backends call it.
SAMPLING = (
    *("temperature", "top_p", "top_k", "min_p", "repetition_penalty"),
    *("presence_penalty", "frequency_penalty", "length_penalty"),
)

logger = logging.getLogger(__name__)
# Fields of a request that the harness's API models would let --gen_kwargs replace.
_NO_ARGUMENTS = ("model", "prompt", "messages")
# Arguments that say what is the case anyway, on every backend that runs a model in this process.
_NEUTRAL = (("top_p", 1.0), ("repetition_penalty", 1.0))
# The harness's own seed for API requests; repeat k gets FIRST_SEED + k unless the user gives one.
FIRST_SEED = 1234


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
    value: Any = generation.pop(given[0]) if given else generation.get(_NAME)
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


def fold_seed(task: str, generation: dict[str, Any]) -> None:
    """Read the seed of `--gen_kwargs seed=...` in place, see `read_seed`.

    Raises:
        OptionError: it is no seed.
    """
    if "seed" in generation:
        try:
            generation["seed"] = read_seed(generation["seed"])
        except OptionError as error:
            raise OptionError(f"{task}: {error}") from None


def check_generation(task: str, generation: Mapping[str, Any]) -> None:
    """Refuse arguments that backends read in different ways, and those that replace the request.

    Of neither a signature would be true.

    Servers are sent the temperature and no `do_sample`; models in this process answer greedily
    where `do_sample` is false, whatever the temperature is.

    Of `do_sample` with a temperature of 0 it warns once: models in this process answer greedily.

    Raises:
        OptionError: a model or a prompt is given, the temperature is no number, `do_sample` is not
            true or false, the two contradict each other, or a stop string is empty.
    """
    for name in _NO_ARGUMENTS:
        if name in generation:
            raise OptionError(
                f"{task}: {name} is no generation argument: servers would be asked another model "
                "or prompt than results say. Leave it out of gen_kwargs."
            )
    temperature, sample = generation.get("temperature"), generation.get("do_sample")
    if temperature is not None and (
        not isinstance(temperature, int | float) or isinstance(temperature, bool)
    ):
        raise OptionError(f"{task}: temperature must be a number, not {temperature!r}.")
    if sample is not None and not isinstance(sample, bool):
        raise OptionError(f"{task}: do_sample must be true or false, not {sample!r}.")
    if temperature and sample is False:
        raise OptionError(
            f"{task}: temperature {temperature} with do_sample=False: servers sample at this "
            "temperature, and models in this process answer greedily. Say which with gen_kwargs: "
            f"temperature={temperature},do_sample=True or temperature=0."
        )
    if sample and temperature == 0:
        warn_once(
            logger,
            "do_sample at temperature 0",
            "do_sample=True with temperature 0 is greedy decoding: nothing is sampled. Say which "
            "with gen_kwargs: temperature=1.0,do_sample=True, or leave do_sample out.",
        )
    until = generation.get("until")
    if until == "" or (isinstance(until, list | tuple) and "" in until):
        raise OptionError(f"{task}: a stop string of 'until' is empty. Leave it out.")


def check_sampling(task: str, repeats: int, generation: Mapping[str, Any]) -> None:
    """Refuse repeats of a greedy answer, and more of them than are scored.

    Raises:
        OptionError: more than one answer is asked for, and all would be the same; or more than
            MOST_REPEATS.
    """
    if repeats > MOST_REPEATS:  # from a user's own YAML: the option has been checked
        raise OptionError(f"{task}: {repeats} repeats; at most {MOST_REPEATS} are scored.")
    if repeats > 1 and is_greedy(generation):
        raise OptionError(
            f"{task}: {repeats} repeats with greedy decoding would be {repeats} times the same "
            "answer, and best-of-N and pass@N would mean nothing. Set the option repeats to 1, or "
            "sample, with gen_kwargs temperature=1.0,do_sample=True."
        )


def seeded(generation: Mapping[str, Any], repeats: int) -> list[dict[str, Any]]:
    """Return the generation arguments of each repeat for a server that takes seeds.

    A seed of the user's is the first one; null: none is sent. Without `do_sample`, which would keep
    the harness's response cache from serving a resumed run.
    """
    own = {name: value for name, value in generation.items() if name not in ("do_sample", "seed")}
    first = generation.get("seed", FIRST_SEED)
    if first is None:
        return [{**own, "seed": None, REPEAT: number} for number in range(repeats)]
    return [{**own, "seed": first + number} for number in range(repeats)]


def warn_if_alike(task: str, answers: Sequence[Sequence[str]]) -> None:
    """Say where the answers to most questions of a task are identical."""
    same = sum(len(texts) > 1 and len(set(texts)) == 1 for texts in answers)
    if same > len(answers) / 2:
        logger.warning(
            f"{task}: all {len(answers[0])} answers are identical for {same} of {len(answers)} "
            "questions. The backend does not seem to sample: best-of-N and pass@N say nothing "
            "beyond the score."
        )
