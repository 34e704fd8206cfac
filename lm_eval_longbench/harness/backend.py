"""What a task can learn about the backend that answers its requests, and of its answers."""

from __future__ import annotations

import contextlib
import functools
import json
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lm_eval_longbench.answers.answer import CAPPED
from lm_eval_longbench.options import REPEAT
from lm_eval_longbench.secrets import masked_url
from lm_eval_longbench.signature.signature import CLEANED_UP

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


# ---------------------------------------------------------------------- decoding

# What the clean-up changes, if a tokenizer has these characters.
_SPACED = "a , b . c ? d ! e 's f"


def is_hf(model: Any) -> bool:
    """Whether a model of the harness decodes its answers with transformers, in this process."""
    stands_for = getattr(model, "stands_for", None)  # see `unloaded`
    return stands_for == "hf" or any(base.__name__ == "HFLM" for base in type(model).__mro__)


def installed_cleans_up(model: Any) -> bool:
    """Whether the installed transformers cleans up what a model decodes: that is tried out."""
    if not is_hf(model):
        return False
    decode = functools.partial(model.tokenizer.decode, skip_special_tokens=True)
    ids = model.tokenizer(_SPACED, add_special_tokens=False)["input_ids"]
    return bool(decode(ids) != decode(ids, clean_up_tokenization_spaces=False))


# ---------------------------------------------------------------------- tokens of an answer

_STOPPED = "stop"


class Counts:
    """Counts tokens of prompts and answers; nothing where the model does not tokenize here.

    Of the model `hf` the tokens of an answer are those that it made: it decodes each answer once,
    just before it reports it. Of other models they are those of the answer's text, which can be one
    or two fewer than the model made: what a stop string, an end of thinking or half a character cut
    off is gone.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._made: tuple[list[int], str] | None = None
        self._decoding = {"fingerprint": CLEANED_UP} if installed_cleans_up(model) else {}

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """While open, the last tokens that the model decoded are known."""
        decode = getattr(self._model, "tok_decode", None)
        if decode is None or not hasattr(self._model, "tok_batch_encode"):
            yield
            return

        def tok_decode(tokens: Any, *args: Any, **kwargs: Any) -> Any:
            text = decode(tokens, *args, **kwargs)
            self._made = (tokens, text) if isinstance(tokens, list) else None
            return text

        self._model.tok_decode = tok_decode
        try:
            yield
        finally:
            del self._model.tok_decode

    def of(self, prompt: Any, generation: Mapping[str, Any], text: str) -> dict[str, Any]:
        """Return the tokens, the finish reason and the decoding of an answer; {}: not known."""
        encode = getattr(self._model, "tok_encode", None)
        if encode is None or not isinstance(prompt, str) or hasattr(self._model, "model_call"):
            return {}
        budget = generation.get("max_gen_toks")
        made, self._made = self._made, None
        ended = False
        end: Any = getattr(self._model, "eot_token_id", None)
        if made is None:
            number = len(encode(text, add_special_tokens=False))
        else:
            tokens, whole = made
            ended = end in tokens
            number = tokens.index(end) + 1 if ended else len(tokens)
            ended = ended or any(one and one in whole for one in generation.get("until") or ())
        capped = isinstance(budget, int) and number >= budget and not ended
        return {
            "prompt_tokens": len(encode(prompt)),
            "completion_tokens": number,
            "finish_reason": CAPPED if capped else _STOPPED,
            **self._decoding,
        }
