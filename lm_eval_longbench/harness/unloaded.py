"""A run whose answers are all there loads no model: its stand-in only makes the same prompts.

Every answer is found by its prompt as it is sent. A prompt that the stand-in made in another way
finds none, and with the first answer that is not there the run begins anew with the model itself.
"""

from __future__ import annotations

import contextlib
import os
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NoReturn

import lm_eval.api.registry
from lm_eval.api.instance import Instance
from lm_eval.api.model import TemplateLM

from lm_eval_longbench.harness.keeping import Keeping
from lm_eval_longbench.harness.models import Backend, describe_local

# Models in this process whose prompts the stand-in knows to make.
_KNOWN = ("hf", "vllm")


class NeedModel(BaseException):
    """Raised where an answer is not there; nothing that catches errors catches it."""


class Unloaded(TemplateLM):
    """Stands in for a model in this process while no answer of it is wanted.

    Args:
        name: of the backend.
        arguments: of the model.
        backend: has its tokenizer and chat template.
        keeping: knows which answers are there.

    Attributes:
        stands_for: the backend: what is known of an answer depends on who decoded it.
        add_bos_token: as the model has it.
    """

    def __init__(
        self, name: str, arguments: Mapping[str, Any], backend: Backend, keeping: Keeping
    ) -> None:
        super().__init__()
        self.stands_for, self.add_bos_token = name, arguments.get("add_bos_token")
        self.tokenizer: Any = backend.tokenizer.tokenizer
        self._template, self._keeping = backend.chat_template, keeping

    @property
    def eot_token_id(self) -> Any:
        """The token that ends an answer."""
        return self.tokenizer.eos_token_id

    @property
    def tokenizer_name(self) -> str:
        """The name that the harness's request cache files prompts under."""
        return str(self.tokenizer.name_or_path).replace("/", "__")

    def apply_chat_template(
        self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True
    ) -> str:
        """Return messages in the model's template."""
        try:
            assert self._template is not None  # see `without_model`
            return str(self._template(chat_history, add_generation_prompt=add_generation_prompt))
        except Exception as error:  # templates are programs: the model says what is wrong
            raise NeedModel from error

    def check_answers(self, instances: Sequence[Instance]) -> None:
        """Raise NeedModel unless the answers to all requests of a task are there."""
        for request in self._keeping.requests(instances):
            if request is None or self._keeping.there(request) is None:
                raise NeedModel

    def generate_until(self, requests: Any, disable_tqdm: bool = False) -> NoReturn:
        """Raise NeedModel: something is asked."""
        raise NeedModel

    def loglikelihood(self, requests: Any, disable_tqdm: bool = False) -> NoReturn:
        """Raise NeedModel: another package's task asks for probabilities."""
        raise NeedModel

    loglikelihood_rolling = loglikelihood
    _loglikelihood_tokens = loglikelihood
    tok_encode = loglikelihood


@contextlib.contextmanager
def _in_place_of(model: Unloaded) -> Iterator[None]:
    """While open, the harness gets the stand-in where it would load a model."""
    get_model = lm_eval.api.registry.get_model

    def made(*_: Any) -> Unloaded:
        return model

    stand_in = SimpleNamespace(create_from_arg_obj=made, create_from_arg_string=made)
    lm_eval.api.registry.get_model = lambda name: stand_in  # type: ignore[assignment]
    try:
        yield
    finally:
        lm_eval.api.registry.get_model = get_model


def without_model(
    execute: Callable[[Namespace], Any],
    parsed: Namespace,
    model: tuple[str, Mapping[str, Any]],
    keeping: Keeping | None,
) -> bool:
    """Execute a run without its model, if nothing is to be asked; return whether it was.

    Args:
        execute: the harness's.
        parsed: the arguments.
        model: the backend and its arguments.
        keeping: the answers that there are; None: none are kept.
    """
    name, arguments = model
    several = int(os.environ.get("WORLD_SIZE") or 1) > 1
    if name not in _KNOWN or several or keeping is None or not keeping.store.number():
        return False
    backend = describe_local(name, arguments)
    if backend.tokenizer.tokenizer is None or backend.chat_template is None:
        return False
    try:
        with _in_place_of(Unloaded(name, arguments, backend, keeping)):
            execute(Namespace(**vars(parsed)))
    except NeedModel:
        keeping.asked = keeping.done = 0
        return False
    return True
