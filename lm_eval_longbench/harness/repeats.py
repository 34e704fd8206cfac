"""Several answers to one question, and how to get them from different backends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval_longbench.catalog import MOST_REPEATS
from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.options import REPEAT
from lm_eval_longbench.protocol import is_greedy

# The harness's own seed for API requests; repeat k gets FIRST_SEED + k unless the user gives one.
FIRST_SEED = 1234


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
            "sample: --gen_kwargs temperature=1.0,do_sample=True."
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


def alike(answers: Sequence[Sequence[str]]) -> int:
    """Return for how many questions all answers, two or more, are the same text."""
    return sum(len(texts) > 1 and len(set(texts)) == 1 for texts in answers)
