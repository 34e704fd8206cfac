"""What a user's YAML may not change of our tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lm_eval_longbench.errors import OptionError

# What the harness would put around a prompt that is official to the byte.
_AROUND = ("description", "gen_prefix")


def check_prompt_is_ours(config: Mapping[str, Any]) -> None:
    """Refuse what would change the official prompts.

    Args:
        config: a task's, with what groups around it override.

    Raises:
        OptionError: a text stands around the prompt, or there are examples before it.
    """
    task = config.get("task")
    for name in _AROUND:
        if config.get(name):
            raise OptionError(
                f"{task}: {name!r} would change the official prompt, and the score with it. Take "
                "it off this task and off the groups around it."
            )
    if int(config.get("num_fewshot") or 0) > 0:
        raise OptionError(
            f"{task}: num_fewshot must be 0: LongBench has no examples to show besides those that "
            "are part of its documents. Take it off this task and off the groups around it."
        )
