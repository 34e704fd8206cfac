"""What a task can learn about the backend that answers its requests, and what is sent to it."""

from __future__ import annotations

import functools
import json
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lm_eval_longbench.options import REPEAT
from lm_eval_longbench.secrets import masked_url

ChatTemplate = Callable[..., Any]

_WRAPPED = "_longbench_wrapped"


# Models that have a client of their own; tasks know a model by its arguments alone.
_OWN_CLIENTS: weakref.WeakSet[Any] = weakref.WeakSet()


def note_own_client(model: Any) -> None:
    """Note a model that asks its server with this package's client, see `has_own_client`."""
    _OWN_CLIENTS.add(model)


def has_own_client(model_args: Mapping[str, Any]) -> bool:
    """Whether a model of these arguments asks its server with this package's client.

    Such a model sends text as it stands: it neither tokenizes nor cuts. It must have been built.
    """
    address = masked_url(str(model_args.get("base_url") or ""))  # as a task's config has it
    return any(
        model.model == model_args.get("model") and masked_url(model.base_url) == address
        for model in _OWN_CLIENTS
    )


def only_messages(chat_template: ChatTemplate) -> bool:
    """Whether the backend takes chat messages and no text, so that no template can be withheld."""
    return not isinstance(chat_template([{"role": "user", "content": "?"}]), str)


def as_text(sent: Any) -> str:
    """Return a prompt as the backend gets it as one text: chat messages as their JSON."""
    if isinstance(sent, str):
        return sent
    return getattr(sent, "prompt", None) or json.dumps(sent, ensure_ascii=False)


def takes_seed(model_args: Mapping[str, Any], chat_template: ChatTemplate | None) -> bool:
    """Whether requests go to an API server that takes a `seed` with each of them.

    The harness sends the same seed with every request of such a backend unless the generation
    arguments hold another: servers that honour it answer all repeats alike. Backends that run the
    model in this process reject the argument.
    """
    model = getattr(chat_template, "__self__", None)
    classes = {base.__name__ for base in type(model).__mro__}
    if "AnthropicChat" in classes:  # built on the OpenAI classes, but its API knows no seed
        return False
    return bool(model_args.get("base_url")) or "LocalCompletionsAPI" in classes


def as_servers_take_it(payload: dict[str, Any]) -> dict[str, Any]:
    """Return a request's body without an empty `stop`, a `seed` of null, and our own mark.

    The harness sends `"stop": []` where a task has no stop strings, which some servers refuse.
    """
    left_out = {REPEAT}
    if payload.get("stop") == []:
        left_out.add("stop")
    if "seed" in payload and payload["seed"] is None:
        left_out.add("seed")
    return {name: value for name, value in payload.items() if name not in left_out}


def _subclasses(cls: Any) -> Iterator[Any]:
    yield cls
    for own in cls.__subclasses__():
        yield from _subclasses(own)


def wrap_payloads() -> None:
    """Have all API models of the harness that are loaded send what `as_servers_take_it` returns."""
    from lm_eval.models.api_models import TemplateAPI

    for cls in _subclasses(TemplateAPI):
        create = vars(cls).get("_create_payload")
        if create is not None and not hasattr(create, _WRAPPED):
            cls._create_payload = _wrapped(create)


def _wrapped(create: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    @functools.wraps(create)
    def create_payload(*args: Any, **kwargs: Any) -> dict[str, Any]:
        return as_servers_take_it(create(*args, **kwargs))

    setattr(create_payload, _WRAPPED, True)
    return create_payload
