"""Requests of the harness whose prompts are read when they are sent, and shortened for the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from lm_eval.api.instance import Instance

from lm_eval_longbench.harness.record import LoggedPrompt
from lm_eval_longbench.prompts.held import Texts, whole


class HeldInstance(Instance):
    """A request whose prompt is held: models get it from `args`, as it was."""

    @property
    def args(self) -> tuple[Any, ...]:
        """The prompt and the generation arguments."""
        prompt, *rest = self.arguments
        return (whole(prompt), *rest)

    def asked_with(self, generation: Mapping[str, Any], number: int) -> HeldInstance:
        """Return the request for another answer to the same prompt."""
        arguments = (self.arguments[0], generation)
        return replace(self, arguments=arguments, idx=number, resps=[], filtered_resps={})


def held(request: Instance, texts: Texts) -> HeldInstance:
    """Return a request with its prompt, a text or chat messages as one, held."""
    prompt, *rest = request.arguments
    text = prompt if isinstance(prompt, str) else getattr(prompt, "prompt", None)
    if isinstance(text, str):
        prompt = texts.hold(text, str if isinstance(prompt, str) else type(prompt))
    given = {one.name: getattr(request, one.name) for one in fields(request) if one.init}
    return HeldInstance(**given | {"arguments": (prompt, *rest)})


def let_go(instances: Sequence[Instance], *, excerpt: bool) -> None:
    """Replace the prompts of requests that are answered by what the sample log has of them.

    Args:
        instances: requests; those for repeats of a question share its prompt.
        excerpt: whether that is their ends and their hash; else they are read.
    """
    logged: dict[int, LoggedPrompt] = {}
    for instance in instances:
        prompt, *rest = instance.arguments
        if not excerpt:
            instance.arguments = (whole(prompt), *rest)
        elif not isinstance(prompt, LoggedPrompt):
            if id(prompt) not in logged:
                logged[id(prompt)] = LoggedPrompt(prompt)
            instance.arguments = (logged[id(prompt)], *rest)
