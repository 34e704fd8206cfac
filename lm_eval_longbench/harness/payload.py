"""What the harness's API models send to servers, without the fields that servers stumble over."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.options import REPEAT, read_seed

_WRAPPED = "_longbench_wrapped"


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


def _subclasses(cls: type) -> Iterator[type]:
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


def without_null_seed(generation: Mapping[str, Any]) -> dict[str, Any]:
    """Return generation arguments without a seed of null, for models that run in this process."""
    return {
        name: value for name, value in generation.items() if name != "seed" or value is not None
    }
