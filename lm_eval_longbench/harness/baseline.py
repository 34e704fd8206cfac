"""The harness model `longbench-extractive`: the weightless baseline behind the LM interface."""

from __future__ import annotations

from typing import Any, NoReturn

import lm_eval.models  # noqa: F401  the harness registers its own models only into an empty registry
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model
from tqdm.auto import tqdm

from lm_eval_longbench.baseline.extractive import generate
from lm_eval_longbench.errors import OptionError

NAME = "longbench-extractive"


@register_model(NAME)
class ExtractiveBaseline(LM):
    """Answers from the prompt's text alone: a floor that any model should beat.

    The three arguments that the harness always passes have no effect. `engine`, which must be the
    model's own name, is how the harness names the run's files: without it they get a random name.
    Any other argument is a TypeError.
    """

    def __init__(
        self,
        engine: str = NAME,
        batch_size: int | str | None = None,
        max_batch_size: int | None = None,
        device: str | None = None,
    ) -> None:
        super().__init__()
        if engine != NAME:
            raise OptionError(f"The model {NAME} has no other engine, such as {engine!r}.")

    @property
    def tokenizer_name(self) -> str:
        """The name that the harness's request cache files this model's prompts under."""
        return NAME

    def apply_chat_template(
        self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True
    ) -> str:
        """Return the messages' contents, joined by blank lines; there is no markup."""
        return "\n\n".join(message["content"] for message in chat_history)

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        """Return one answer a request, in order.

        Raises:
            ValueError: a request's budget is negative or no number.
        """
        answers: list[str] = []
        for request in tqdm(
            requests,
            desc="Running generate_until requests",
            disable=disable_tqdm or self.rank != 0,
        ):
            prompt, gen_kwargs = request.args
            text = generate(prompt, gen_kwargs)
            self.cache_hook.add_partial("generate_until", request.args, text)
            answers.append(text)
        return answers

    def loglikelihood(self, requests: list[Instance], **kwargs: Any) -> NoReturn:
        """Raise NotImplementedError: there is no probability in this model."""
        raise NotImplementedError(_refusal("loglikelihood"))

    def loglikelihood_rolling(self, requests: list[Instance], **kwargs: Any) -> NoReturn:
        """Raise NotImplementedError: there is no probability in this model."""
        raise NotImplementedError(_refusal("loglikelihood_rolling"))


def _refusal(what: str) -> str:
    return (
        f"The model {NAME} has no probabilities, so it cannot serve {what} requests;"
        " use it with tasks that generate text (generate_until)."
    )
