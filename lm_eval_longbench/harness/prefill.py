"""Read the common beginning of two prompts once: models in this process.

Of `hf` with one prompt at a time, the keys and values of the last prompt are kept, and the next
prompt goes on from the longest beginning that both have. The requests of one document are asked one
after the other. With several prompts at a time, the answers to one prompt are generated together:
it is read once. Engines (vLLM, SGLang) keep prefixes by themselves: they get prompts in an order
that makes use of it.
"""

from __future__ import annotations

import contextlib
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from lm_eval.api.instance import Instance
from tqdm.auto import tqdm

from lm_eval_longbench.console import warn_once
from lm_eval_longbench.harness.backend import as_text, replaced

logger = logging.getLogger(__name__)

# Ids that two prompts must have in common, unless they are equal.
FEWEST = 1024
# Characters of a prompt that is worth to be read once for all of its answers.
_LONG = 4 * FEWEST
# Layers of a cache from which the last ids can be removed, with all that is held of them.
_LAYERS = frozenset({"DynamicLayer", "DynamicSlidingWindowLayer"})
# Scalings of places by the length of the whole prompt: keys of another prompt are other keys.
_BY_LENGTH = frozenset({"dynamic", "longrope", "su"})
# Generation arguments that change nothing of how a prompt is read.
_PLAIN = frozenset(
    {
        *("attention_mask", "do_sample", "temperature", "top_p", "top_k", "min_p", "typical_p"),
        *("repetition_penalty", "no_repeat_ngram_size"),
    }
)
_NOT_KEPT = "Each prompt is read from its beginning, whatever it shares with the last one: {}."
_ONE_AT_A_TIME = (
    "Questions on one document are asked in batches, and each prompt is read whole. With "
    "--batch_size 1 what they have in common is read once."
)


def document_of(request: Instance) -> str | None:
    """Return the hash of a request's document; None: it has none, or is another package's."""
    prompt = request.doc.get("prompt") if isinstance(request.doc, Mapping) else None
    return prompt.get("document_sha256") if isinstance(prompt, Mapping) else None


def grouped(requests: Sequence[Instance], key: Callable[[Instance], object]) -> list[list[int]]:
    """Return the numbers of requests in groups with equal keys.

    The group with the longest prompt comes first, so that a want of memory shows at once.

    Args:
        requests: to be asked.
        key: of a request; None: it is a group of its own.
    """
    groups: dict[object, list[int]] = {}
    lengths: dict[object, int] = {}
    for number, request in enumerate(requests):
        own = key(request)
        own = (number,) if own is None else own
        groups.setdefault(own, []).append(number)
        lengths[own] = max(lengths.get(own, 0), len(as_text(request.args[0])))
    return [groups[own] for own in sorted(groups, key=lambda own: -lengths[own])]


@contextlib.contextmanager
def reused_prefill(model: Any) -> Iterator[None]:
    """While open, a model in this process reads what prompts have in common once, where it can.

    Args:
        model: of the harness; servers, encoder-decoders and classes that generate in a way of their
            own are left as they are.
    """
    asks = getattr(type(model).generate_until, "__qualname__", "")
    if asks == "HFLM.generate_until" and model.backend == "causal":
        with _kept(model):
            yield
    elif asks in ("VLLM.generate_until", "SGLangLM.generate_until") and hasattr(
        model, "_model_generate"
    ):
        with _ordered(model):
            yield
    else:
        yield


# ---------------------------------------------------------------------- engines: the order


def by_beginning(prompts: Sequence[Sequence[int]]) -> list[int]:
    """Return the numbers of prompts as ids in an order that keeps equal beginnings together.

    The rest of the order stays: a beginning comes where its first prompt stood.
    """
    groups: dict[tuple[int, ...], list[int]] = {}
    for number, ids in enumerate(prompts):
        groups.setdefault(tuple(ids[:FEWEST]), []).append(number)
    return [number for own in groups.values() for number in own]


@contextlib.contextmanager
def _ordered(model: Any) -> Iterator[None]:
    """While open, an engine gets prompts on one document one after the other.

    The engine keeps prefixes by itself, as long as it has room. The harness sorts prompts by their
    length, so that documents of nearly equal length come mixed.
    """
    plain = model._model_generate

    def generate(requests: Any, generate: bool = False, sampling_params: Any = None) -> Any:
        alike = isinstance(sampling_params, list) and generate
        if not alike or (getattr(model, "data_parallel_size", None) or 1) > 1:
            return plain(requests, generate=generate, sampling_params=sampling_params)
        order = by_beginning(requests)
        made = plain(
            [requests[number] for number in order],
            generate=True,
            sampling_params=[sampling_params[number] for number in order],
        )
        found = dict(zip(order, made, strict=True))
        return [found[number] for number in range(len(order))]

    with replaced(model, _model_generate=generate):
        yield


# ---------------------------------------------------------------------- transformers: the cache


@contextlib.contextmanager
def _kept(model: Any) -> Iterator[None]:
    """While open, a model of transformers goes on from the keys and values of its last prompt.

    Its answers are those that it gives without; with less than 32 bits a number, the last bit of a
    score of a token may differ.

    Set on the model: `reused_ids`, for each answer of a batch that is not reported yet how many ids
    of its prompt were not read for it; and `reused_tasks`, the names of tasks with such answers.
    """
    ask, prefill = model.generate_until, _Prefill(model)

    def generate_until(requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        groups = _groups(requests, str(model.batch_size) == "1")
        texts: dict[int, str] = {}
        with tqdm(
            total=len(requests),
            desc="Running generate_until requests",
            disable=disable_tqdm or model.rank != 0,
        ) as bar:
            for group in groups:
                own = [requests[number] for number in group]
                prefill.is_on = all(document_of(one) is not None for one in own)
                prefill.reused = False
                texts.update(zip(group, ask(own, disable_tqdm=True), strict=True))
                if prefill.reused:
                    model.reused_tasks.update(str(one.task_name) for one in own)
                bar.update(len(group))
        prefill.forget()
        return [texts[number] for number in range(len(requests))]

    model.reused_tasks = set()
    with replaced(
        model, generate_until=generate_until, _model_generate=prefill.generate, reused_ids=[]
    ):
        yield


def _groups(requests: Sequence[Instance], alone: bool) -> list[list[int]]:
    """Return the numbers of the requests of each call of the model.

    Args:
        requests: to be asked.
        alone: whether the model takes one prompt at a time.
    """
    if alone:
        return grouped(requests, document_of)
    long = [one for one in requests if document_of(one) and len(as_text(one.args[0])) >= _LONG]
    prompts = Counter((document_of(one), as_text(one.args[0])) for one in long)
    if len({document for document, _ in prompts}) < len(prompts):
        warn_once(logger, "prefill of batches", _ONE_AT_A_TIME)

    def key(request: Instance) -> object:
        own = document_of(request), as_text(request.args[0])
        return own if prompts[own] > 1 else ""

    return grouped(requests, key)


class _Prefill:
    """The keys and values of the last prompt that a model has read.

    Attributes:
        is_on: whether prompts are those of documents.
        reused: whether an id was not read again since this was set to False.
    """

    def __init__(self, model: Any) -> None:
        self._model, self._plain = model, model._model_generate
        self._ids: Any = None
        self._cache: Any = None
        self.is_on = self.reused = False
        self._is_possible = True
        config = model.model.config.to_dict()
        if _BY_LENGTH.intersection(_scalings(config)):
            self._give_up("the model scales places by the length of the prompt")

    def forget(self) -> None:
        """Give the memory back."""
        self._ids = self._cache = None

    def _give_up(self, why: str) -> None:
        self.forget()
        self._is_possible = False
        warn_once(logger, f"prefill: {why}", _NOT_KEPT.format(why))

    def generate(self, context: Any, max_length: int, stop: list[str], **given: Any) -> Any:
        """Generate in place of `_model_generate`: prompts and answers as ids, a row each."""
        mask, rows = given["attention_mask"], len(context)
        self._model.reused_ids = []
        is_one = bool((context == context[:1]).all()) and bool(mask.all())
        beams = getattr(self._model.model.generation_config, "num_beams", None) or 1
        if self.is_on and self._is_possible and is_one and beams == 1 and given.keys() <= _PLAIN:
            try:
                return self._go_on(context, rows, max_length=max_length, stop=stop, **given)
            except RuntimeError as error:
                if "out of memory" not in str(error):
                    raise
                self._give_up("memory ran out while it was tried")
            _free()
            self._model.reused_ids = []
        self.forget()
        return self._plain(context=context, max_length=max_length, stop=stop, **given)

    def _go_on(self, context: Any, rows: int, **given: Any) -> Any:
        """Generate from the longest beginning of the prompt that is kept."""
        ids = context[0]
        there = self._cut_to(self._common(ids))
        self._model.reused_ids = [there]
        self.reused = self.reused or there > 0 or rows > 1
        if rows > 1:
            if there < len(ids) - 1:
                mask = {"attention_mask": given["attention_mask"][:1]}
                self._read(ids[None], max_length=len(ids) + 1, stop=[], do_sample=False, **mask)
            last = self._cut_to(len(ids) - 1)
            self._model.reused_ids += [last] * (rows - 1)
            if last:
                self._cache.batch_repeat_interleave(rows)
        return self._read(context, **given)

    def _common(self, ids: Any) -> int:
        """Return how many ids a prompt and the last one begin with that are worth to be kept."""
        if self._ids is None:
            return 0
        most = min(len(ids), len(self._ids))
        same = int((ids[:most] == self._ids[:most]).int().cumprod(0).sum())
        return min(same, len(ids) - 1) if same >= FEWEST or same == len(ids) else 0

    def _cut_to(self, length: int) -> int:
        """Remove all but the first ids from the cache; return how many there are now."""
        if not length or self._cache is None:
            self.forget()
            return 0
        try:
            self._cache.crop(length - self._cache.get_seq_length())
        except (RuntimeError, ValueError):  # such as a sliding window that is full
            self._give_up("its cache cannot be cut")
            return 0
        return length

    def _read(self, context: Any, **given: Any) -> Any:
        """Generate, going on from the cache if there is one, and keep the cache of the prompt."""
        cache = {} if self._cache is None else {"past_key_values": self._cache}
        self._cache = None  # while it grows: what fails leaves no half of it behind
        made = self._plain(context=context, return_dict_in_generate=True, **cache, **given)
        grown: Any = getattr(made, "past_key_values", None)
        layers = getattr(grown, "layers", None) or ()
        if type(grown).__name__ != "DynamicCache" or not all(
            type(layer).__name__ in _LAYERS for layer in layers
        ):
            self._give_up("it has no cache that can be cut")
        elif layers:
            if len(context) > 1:
                grown.batch_select_indices(context.new_zeros(1))
            self._ids, self._cache = context[0], grown
        return getattr(made, "sequences", made)


def _scalings(config: Any) -> Iterator[object]:
    """Yield how a configuration says that places are scaled, at any depth."""
    if isinstance(config, Mapping):
        yield config.get("rope_type", config.get("type"))
        for value in config.values():
            yield from _scalings(value)


def _free() -> None:
    import torch  # slow to import; a model of it is loaded here

    torch.cuda.empty_cache()
