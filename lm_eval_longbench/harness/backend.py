"""What a task can learn about the backend that answers its requests, and of its answers."""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import lm_eval.evaluator

from lm_eval_longbench.errors import TokenizerError
from lm_eval_longbench.options import REPEAT
from lm_eval_longbench.prompts.tokenizer import load_tokenizer, tokenizer_name
from lm_eval_longbench.prompts.tokens.official import clean_up, cleans_up
from lm_eval_longbench.records.answer import CAPPED, answer_of
from lm_eval_longbench.signature.signature import CLEANED_UP

if TYPE_CHECKING:
    from lm_eval.api.instance import Instance
    from transformers import PreTrainedTokenizerBase

ChatTemplate = Callable[..., Any]
Evaluate = Callable[..., Any]

# ---------------------------------------------------------------------- the call under way
#
# The harness tells a task nothing of the model that answers it, or of the tasks beside it, and both
# change what is asked and said: a model in memory knows its length and its tokenizer.


class _Call(NamedTuple):
    model: Any
    tasks: list[Any]


_calls: list[_Call] = []


@contextlib.contextmanager
def replaced(owner: Any, **values: Any) -> Iterator[None]:
    """While open, names of a module of the harness, or of a model, have other values."""
    names = vars(owner)
    before = {name: names[name] for name in values if name in names}
    names.update(values)
    try:
        yield
    finally:
        for name in values:
            del names[name]
        names.update(before)


@contextlib.contextmanager
def called(model: Any, tasks: list[Any]) -> Iterator[None]:
    """While open, tasks know the model that answers and the tasks beside them."""
    _calls.append(_Call(model, tasks))
    try:
        yield
    finally:
        _calls.pop()


def _known(evaluate: Evaluate) -> Evaluate:
    """Return the harness's `evaluate`, whose model and tasks are known while it is under way."""

    @functools.wraps(evaluate)
    def known(lm: Any, task_dict: Any, *args: Any, **kwargs: Any) -> Any:
        # The model may be inside the harness's response cache.
        with called(getattr(lm, "lm", lm), list(_flat(task_dict))):
            return evaluate(lm, task_dict, *args, **kwargs)

    return known


def _flat(tasks: Any) -> Iterator[Any]:
    """Yield the tasks among tasks and groups."""
    if isinstance(tasks, Mapping):
        for one in tasks.values():
            yield from _flat(one)
    else:
        yield tasks


def model_of_call() -> Any:
    """Return the model of the `evaluate` that is under way; None: it is not known."""
    return _calls[-1].model if _calls else None


def tasks_of_call() -> list[Any]:
    """Return the tasks of the `evaluate` that is under way; none if they are not known."""
    return _calls[-1].tasks if _calls else []


lm_eval.evaluator.evaluate = _known(lm_eval.evaluator.evaluate)

# ---------------------------------------------------------------------- requests


def has_own_client(model: Any) -> bool:
    """Whether a model asks its server with this package's client: it neither tokenizes nor cuts."""
    return hasattr(model, "generate_answers")


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


def wrap_payloads(model: Any) -> None:
    """Have an API model of the harness send what `as_servers_take_it` returns."""
    create = getattr(model, "_create_payload", None)
    if create is not None and "_create_payload" not in vars(model):
        model._create_payload = lambda *args, **kwargs: as_servers_take_it(create(*args, **kwargs))


# ---------------------------------------------------------------------- decoding

# What the clean-up changes, if a tokenizer has these characters.
_SPACED = "a , b . c ? d ! e 's f"


def is_hf(model: Any) -> bool:
    """Whether a model of the harness decodes its answers with transformers, in this process."""
    stands_for = getattr(model, "stands_for", None)  # see `models.Unloaded`
    return stands_for == "hf" or any(base.__name__ == "HFLM" for base in type(model).__mro__)


def installed_cleans_up(model: Any) -> bool:
    """Whether the installed transformers cleans up what a model decodes: that is tried out."""
    if not is_hf(model):
        return False
    decode = functools.partial(model.tokenizer.decode, skip_special_tokens=True)
    ids = model.tokenizer(_SPACED, add_special_tokens=False)["input_ids"]
    return bool(decode(ids) != decode(ids, clean_up_tokenization_spaces=False))


@dataclass(frozen=True)
class Decoding:
    """How the answers of a model are decoded, and how they officially are.

    Officially an answer of v1 and E is `tokenizer.decode(ids, skip_special_tokens=True)` under a
    release of transformers that takes out spaces before punctuation; the installed one may leave
    them. What the model gave stays in the file of answers and under `resps` in the log; what was
    scored is under `filtered_resps`.

    Attributes:
        official: whether the official release cleans them up.
        installed: whether the installed release does.
    """

    official: bool = False
    installed: bool = False

    @classmethod
    def of(
        cls,
        model: Any,
        release: str,
        tokenizer: PreTrainedTokenizerBase | None,
        metadata: Mapping[str, Any],
    ) -> Decoding:
        """Return how a model's answers are decoded.

        Args:
            model: of the harness; None: it is not known.
            release: that officially decoded them; "": none did.
            tokenizer: the model's in memory; None: its name says it.
            metadata: of the task, with the model arguments.
        """
        if not release or not is_hf(model):
            return cls()
        if tokenizer is None:
            try:
                tokenizer = load_tokenizer(tokenizer_name(None, metadata), metadata)
            except TokenizerError:  # of weights that bring their own, such as GGUF
                tokenizer = model.tokenizer
        return cls(cleans_up(tokenizer, release), installed_cleans_up(model))

    @property
    def ingredient(self) -> str | None:
        """What a signature says of it; None: answers are what the backend decodes."""
        return CLEANED_UP if self.official or self.installed else None

    @contextlib.contextmanager
    def applied(self, instances: Sequence[Instance]) -> Iterator[None]:
        """While open, the responses of requests are officially decoded ones."""
        raw = [(one, one.resps) for one in instances] if self.official else []
        for one, given in raw:
            one.resps = [text if self._done(text) else clean_up(text) for text in given]
        try:
            yield
        finally:
            for one, given in raw:
                one.resps = given

    def _done(self, text: str) -> bool:
        """Whether a response is cleaned up; one that was kept may be of another release."""
        answer = answer_of(text)
        return self.installed if answer is None else answer.fingerprint == CLEANED_UP


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

        with replaced(self._model, tok_decode=tok_decode):
            yield

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
        reused = getattr(self._model, "reused_ids", None)  # see `harness.prefill`
        return {
            "prompt_tokens": len(encode(prompt)),
            "cached_tokens": reused.pop(0) if reused else None,
            "completion_tokens": number,
            "finish_reason": CAPPED if capped else _STOPPED,
            **self._decoding,
        }
