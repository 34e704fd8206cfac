"""Models that a Python caller has in memory, as models of the harness."""

from __future__ import annotations

import contextlib
import inspect
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import lm_eval.models  # noqa: F401  the harness registers its own models only into an empty registry
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from tqdm.auto import tqdm

from lm_eval_longbench.errors import OptionError, RunStopped, TokenizerError
from lm_eval_longbench.harness.backend import is_hf
from lm_eval_longbench.prompts.tokenizer import lent, load_tokenizer, tokenizer_name
from lm_eval_longbench.prompts.tokens.fast import tokenizer_sha256
from lm_eval_longbench.signature.ingredients import BEGIN, BESIDE, STOP, THINK_END

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

# The name of our model without weights, see `harness.baseline`.
BASELINE = "longbench-extractive"
# What the files of answers call the backend of such a model.
IN_MEMORY = "python"
# What a function may ask for beside the prompts, by the names of its parameters.
GENERATION, QUESTION_AT = "generation", "question_at"
Answer = Callable[..., Sequence[str]]

logger = logging.getLogger(__name__)


class TextModel(LM):
    """A model of the harness that gives texts alone."""

    def loglikelihood(self, requests: list[Instance], **kwargs: Any) -> NoReturn:
        """Raise NotImplementedError: there are no probabilities."""
        raise NotImplementedError(
            f"{type(self).__name__} has no probabilities; use it with tasks that generate text "
            "(generate_until)."
        )

    loglikelihood_rolling = loglikelihood


class CallableModel(TextModel):
    """A function from a list of prompts to a list of answers, as a model of the harness.

    Args:
        answer: the function. If it has a parameter `generation` it gets the generation arguments
            of each prompt, a list of mappings with `max_gen_toks`, `until` and others; if it has
            one called `question_at`, the character of each prompt where its question begins.
        batch_size: prompts in a call at most; None: all of a task at once.
        tokenizer: applies the chat template; None: there is none.
    """

    def __init__(
        self,
        answer: Answer,
        batch_size: int | None = 1,
        tokenizer: PreTrainedTokenizerBase | None = None,
    ) -> None:
        super().__init__()
        self._answer, self._size, self._tokenizer = answer, batch_size, tokenizer
        try:
            known = set(inspect.signature(answer).parameters)
        except (TypeError, ValueError):  # of some functions in C nothing is known
            known = set()
        self._more = [name for name in (GENERATION, QUESTION_AT) if name in known]

    @property
    def tokenizer_name(self) -> str:
        """The name that the harness's request cache files this model's prompts under."""
        return IN_MEMORY

    def chat_template(self, chat_template: bool | str = False) -> str:
        """Return the template of the tokenizer; "" without one."""
        return str(getattr(self._tokenizer, "chat_template", None) or "")

    def apply_chat_template(
        self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True
    ) -> str:
        """Return messages in the tokenizer's template.

        Raises:
            OptionError: there is no tokenizer that has one.
        """
        if not self.chat_template():
            raise OptionError(
                "apply_chat_template needs the template: give the model's tokenizer, by name or "
                "as an object, with the option 'tokenizer'. Or leave apply_chat_template out, and "
                "wrap prompts in your function."
            )
        assert self._tokenizer is not None  # it has a template
        text = self._tokenizer.apply_chat_template(
            chat_history, tokenize=False, add_generation_prompt=add_generation_prompt
        )
        return str(text)

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        """Return one answer a request, in order, each up to the first stop string of its task.

        Raises:
            RunStopped: the function returns something else than one text a prompt.
        """
        answers: list[str] = []
        size = self._size or max(1, len(requests))
        with tqdm(
            total=len(requests),
            desc="Running generate_until requests",
            disable=disable_tqdm or self.rank != 0,
        ) as bar:
            for start in range(0, len(requests), size):
                piece = requests[start : start + size]
                for request, text in zip(piece, self._asked(piece), strict=True):
                    until = request.args[1].get("until") or ()
                    for stop in [until] if isinstance(until, str) else until:
                        text = text.partition(stop)[0] if stop else text
                    self.cache_hook.add_partial("generate_until", request.args, text)
                    answers.append(text)
                    bar.update()
        return answers

    def _asked(self, requests: Sequence[Instance]) -> list[str]:
        more = {
            GENERATION: [dict(one.args[1]) for one in requests],
            QUESTION_AT: [(one.doc.get("prompt") or {}).get(QUESTION_AT) for one in requests],
        }
        prompts = [one.args[0] for one in requests]
        found = self._answer(prompts, **{name: more[name] for name in self._more})
        texts = list(found) if isinstance(found, Sequence) and not isinstance(found, str) else None
        if texts is None or len(texts) != len(prompts):
            what = type(found).__name__ if texts is None else f"{len(texts)} answers"
            raise RunStopped(
                f"The function returned {what} for {len(prompts)} prompts. It must return a list "
                "with one text a prompt."
            )
        for text in texts:
            if not isinstance(text, str):
                raise RunStopped(
                    f"The function returned {type(text).__name__} as an answer. Each must be a "
                    'text; "" is one that failed.'
                )
        return texts


def has_template(model: Any) -> bool:
    """Whether a chat template may be applied for a model: a function, and our baseline, have none.

    Args:
        model: the harness's name of a backend, or a model.
    """
    if isinstance(model, CallableModel):
        return bool(model.chat_template())
    return bool(model != BASELINE)


def as_model(
    model: Any,
    tokenizer: PreTrainedTokenizerBase | None,
    batch_size: int | str | None,
    max_batch_size: int | None,
) -> LM:
    """Return a model in memory as one of the harness.

    Args:
        model: a model of the harness, a transformers model and its tokenizer, or a function.
        tokenizer: for the chat template of a function; None: there is none.
        batch_size: as the harness takes it; of a function "auto" is all prompts of a task.
        max_batch_size: of "auto", for transformers models.

    Raises:
        OptionError: it is none of these.
    """
    if isinstance(model, LM):
        return model
    if isinstance(model, tuple | list) and len(model) == 2 and hasattr(model[0], "generate"):
        from lm_eval.models.huggingface import HFLM

        own, its_tokenizer = model
        most = {} if max_batch_size is None else {"max_batch_size": max_batch_size}
        return HFLM(pretrained=own, tokenizer=its_tokenizer, batch_size=batch_size or 1, **most)
    if callable(model) and not hasattr(model, "generate"):
        size = str(batch_size or 1)
        if not size.isdecimal() and not size.startswith("auto"):
            raise OptionError(f'batch_size must be a whole number or "auto", not {batch_size!r}.')
        return CallableModel(model, int(size) if size.isdecimal() else None, tokenizer)
    raise OptionError(
        f"A model of the type {type(model).__name__} cannot be evaluated. Give a model of the "
        "harness, the name of one with model_args, a transformers model and its tokenizer as "
        "(model, tokenizer), or a function from a list of prompts to a list of answers."
    )


def _is_named(tokenizer: Any) -> bool:
    """Whether the files that a tokenizer in memory names give the same tokenizer."""
    try:
        own = load_tokenizer(str(tokenizer.name_or_path or ""), {})
    except TokenizerError:
        return False
    return bool(own.get_vocab() == tokenizer.get_vocab())


@contextlib.contextmanager
def lent_tokenizer(tokenizer: Any) -> Iterator[str]:
    """While open, a tokenizer in memory can be loaded by the name that is given.

    That is its own, where its files give the same tokenizer.
    """
    if isinstance(tokenizer, str) or _is_named(tokenizer):
        yield tokenizer if isinstance(tokenizer, str) else str(tokenizer.name_or_path)
        return
    name = f"{tokenizer.name_or_path or type(tokenizer).__name__} in memory"
    with lent(name, tokenizer):
        yield name


def _told(model: Any, name: str) -> Any:
    """Return what a model has under a name; None where it has nothing or fails to tell it."""
    try:
        return getattr(model, name, None)
    except Exception:  # such as a tokenizer that is loaded when it is asked for, from a hub
        logger.debug(f"{type(model).__name__}.{name} cannot be read.", exc_info=True)
        return None


def tokenizer_of(model: LM) -> Any:
    """Return the tokenizer that a model in this process has; None: it has none that cuts."""
    own = _told(model, "tokenizer")
    return own if hasattr(own, "get_vocab") and hasattr(own, "name_or_path") else None


def known_of(model: LM) -> dict[str, Any]:
    """Return what is known of a model in memory, as the model arguments that say it."""
    known: dict[str, Any] = {}
    length = _told(model, "max_length")
    if _told(model, "base_url"):
        known = {"base_url": str(model.base_url), "model": str(model.model)}
        length = length + 1 if isinstance(length, int) else None  # the harness takes one off
    if isinstance(length, int):
        known["max_length"] = length
    beside = _told(_told(model, "server"), "extra")
    settings = {
        STOP: _told(model, "_eos_string") or _told(model, "_eos"),
        THINK_END: _told(model, "think_end_token"),
        BESIDE: dict(beside) if isinstance(beside, Mapping) else None,
    }
    if is_hf(model):  # others have a default
        settings[BEGIN] = _told(model, "add_bos_token")
    kinds = str | int | dict
    return known | {k: v for k, v in settings.items() if isinstance(v, kinds) and v not in ("", {})}


def check_tokenizer(option: str | None, metadata: Mapping[str, Any], own: Any) -> None:
    """Refuse to cut prompts with another tokenizer than the model's, where that is in this process.

    The model counts with its own: it would cut again, on the left, what is too long for it.

    Args:
        option: the option `tokenizer`; None: prompts are cut with the model's.
        metadata: of the task, with the model arguments.
        own: the model's tokenizer in memory; None: its name says it.

    Raises:
        OptionError: they are different tokenizers.
    """
    name = tokenizer_name(None, metadata)
    named = metadata.get("pretrained") and not metadata.get("base_url")
    if option in (None, name) or not (named or own is not None):
        return
    try:
        theirs = load_tokenizer(name, metadata) if own is None else own
    except TokenizerError:  # then nothing tells
        return
    if tokenizer_sha256(load_tokenizer(option, metadata)) != tokenizer_sha256(theirs):
        raise OptionError(
            f"Option 'tokenizer' names {option!r}, and the model in this process has another "
            f"tokenizer, {name!r}. Officially the model's own cuts prompts: leave the option out."
        )


def leaves_out_begin(model: Any, tokenizer: PreTrainedTokenizerBase, sent: str) -> bool:
    """Whether a model feeds a request without the beginning-of-text token that its tokenizer adds.

    The harness's clients of text endpoints do, which send ids, and its sglang model.

    Args:
        model: of the harness; None: it is not known.
        tokenizer: of the model.
        sent: a request as the model gets it.
    """
    if _told(model, "add_bos_token") is not False or (
        _told(model, "base_url") and not _told(model, "tokenized_requests")
    ):
        return False
    begin, ids = tokenizer.bos_token, tokenizer("?")["input_ids"]
    adds = bool(begin) and ids[:1] == [tokenizer.bos_token_id]
    return adds and not sent.startswith(str(begin))


# Model arguments that name a model: it was not made before the call, and they say all of it.
_NAMED = ("pretrained", "model", "path", "engine", "base_url")


def known_of_call(model: Any, metadata: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """Return what a task is not told of a model that the harness was given as an object.

    Its length decides where prompts are cut: without it the model would cut them on the left.

    Args:
        model: that is evaluated; None: it is not known.
        metadata: of the task, with the model arguments.

    Returns:
        What is known, as the model arguments that say it, and the model's tokenizer or None.
    """
    if not isinstance(model, LM) or any(metadata.get(name) for name in _NAMED):
        return {}, None
    known, tokenizer = known_of(model), tokenizer_of(model)
    if "base_url" in known and not _told(model, "tokenized_requests"):
        known.pop("max_length", None)  # nothing cuts what is sent
    if metadata.get("tokenizer"):
        tokenizer = None
    elif tokenizer is not None:
        known["tokenizer"] = str(tokenizer.name_or_path or f"{type(tokenizer).__name__} in memory")
    return {name: value for name, value in known.items() if name not in metadata}, tokenizer
