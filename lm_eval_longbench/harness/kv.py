"""A model of transformers whose cache is compressed once a document: a base for methods.

class Mine(CompressedCacheLM):
    def compress(self, past_key_values, document_ids): ...
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import torch
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM
from lm_eval.models.utils_hf import stop_sequences_criteria
from tqdm.auto import tqdm
from transformers import (
    DynamicCache,
    MinPLogitsWarper,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from lm_eval_longbench.console import warn_once
from lm_eval_longbench.errors import UnknownNameError
from lm_eval_longbench.harness.prefill import document_of, grouped
from lm_eval_longbench.prompts.tokenizer import is_true

logger = logging.getLogger(__name__)

_WARPERS: dict[str, Callable[[Any], Any]] = {
    "temperature": TemperatureLogitsWarper,
    "top_k": TopKLogitsWarper,
    "top_p": TopPLogitsWarper,
    "min_p": MinPLogitsWarper,
}


class CompressedCacheLM(HFLM):
    """The model `hf` that reads a document, compresses its cache, and then reads each question.

    The questions on a document, and the repeats of each, share one compressed cache. One prompt is
    answered at a time, whatever the batch size.

    Args:
        query_aware: whether the question is read before the cache is compressed, so that a method
            may look at it; then each question compresses anew.
        args, kwargs: as for `hf`.

    Attributes:
        compressions: how often `compress` was called.
    """

    def __init__(self, *args: Any, query_aware: bool | str = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.query_aware, self.compressions = is_true(query_aware), 0
        self._question = 0
        self._forget()

    def compress(self, past_key_values: DynamicCache, document_ids: torch.Tensor) -> None:
        """Change the keys and values of a document in place: a method's own work.

        Args:
            past_key_values: what the model made of the document; each layer has `keys` and
                `values`, batch x heads x ids x size. A layer may keep any number of ids.
            document_ids: all that stands before the question, 1 x ids; with `query_aware` all but
                the last id of the prompt.
        """
        raise NotImplementedError("A method of compression defines `compress`.")

    def read(self, ids: torch.Tensor, cache: DynamicCache) -> None:
        """Read a document into an empty cache, and compress it."""
        self.model(ids, past_key_values=cache, logits_to_keep=1)
        self.compress(cache, ids)

    # ------------------------------------------------------------------ one prompt after another

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        """Return an answer to each request, those on one document one after the other."""
        if self.query_aware:
            warn_once(
                logger,
                "query_aware",
                "query_aware: the question is read before the cache is compressed, so that each "
                "question compresses its document anew.",
            )
        texts: dict[int, str] = {}
        with tqdm(total=len(requests), disable=disable_tqdm or self.rank != 0) as bar:
            for group in grouped(requests, document_of):
                # Repeats of a prompt stand together, too: with query_aware they share their cache.
                for number in sorted(group, key=lambda own: requests[own].args[0]):
                    self._question = self._question_ids(requests[number])
                    (texts[number],) = super().generate_until([requests[number]], True)
                    bar.update()
        self._forget()
        return [texts[number] for number in range(len(requests))]

    def _question_ids(self, request: Instance) -> int:
        """Return how many ids at the end of a prompt are not of the document alone."""
        place = (request.doc.get("prompt") or {}).get("question_at")
        if place is None:
            return 1
        encoded = self.tokenizer(
            request.args[0], return_offsets_mapping=True, add_special_tokens=False
        )
        return max(1, sum(end > place for _, end in encoded["offset_mapping"]))

    def _forget(self) -> None:
        self._ids: torch.Tensor | None = None
        self._cache = DynamicCache()
        self._grown = 0

    def _of_document(self, ids: torch.Tensor) -> DynamicCache:
        """Return the compressed cache of a document, without what followed it last time."""
        if self._ids is None or not torch.equal(ids, self._ids):
            self._forget()  # before the next one is made
            if ids.shape[1]:
                self.compressions += 1
                self.read(ids, self._cache)
            self._ids = ids
        elif self._grown:
            self._cache.crop(-self._grown)
        self._grown = 0
        return self._cache

    @torch.inference_mode()
    def _model_generate(
        self, context: torch.Tensor, max_length: int, stop: list[str], **given: Any
    ) -> torch.Tensor:
        """Return a prompt and its answer, 1 x ids."""
        choose = _chooser(given)
        ids, ends = context, self._ends()
        place = ids.shape[1] - 1
        if not self.query_aware:
            place = max(0, ids.shape[1] - self._question)
        stops = stop_sequences_criteria(self.tokenizer, stop, ids.shape[1], 1)
        with torch.autocast(
            device_type=self.device.type,
            dtype=self.mixed_precision_dtype,
            enabled=self.mixed_precision_dtype is not None,
        ):
            cache = self._of_document(ids[:, :place])
            while ids.shape[1] < max_length:
                # Places are those of the whole prompt, whatever was dropped before them.
                places = torch.arange(place, ids.shape[1], device=ids.device)[None]
                new = ids[:, place:]
                out = self.model(new, past_key_values=cache, position_ids=places, logits_to_keep=1)
                self._grown += new.shape[1]
                place = ids.shape[1]
                ids = torch.cat([ids, choose(ids, out.logits[:, -1].float())], dim=1)
                if int(ids[0, -1]) in ends or bool(torch.as_tensor(stops(ids, None)).all()):
                    break
        return ids

    def _ends(self) -> set[int]:
        """Return the ids that end an answer."""
        named = self.model.generation_config.eos_token_id
        return {self.eot_token_id, *(named if isinstance(named, list) else [named])}


def _chooser(
    given: dict[str, Any],
) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    """Return what chooses the next id by generation arguments, greedily or by chance."""
    sampling = {name: value for name, value in given.items() if name != "attention_mask"}
    is_sampled = sampling.pop("do_sample", None) and sampling.get("temperature") != 0
    for name in sampling:
        if name not in _WARPERS:
            raise UnknownNameError("generation argument of a compressed cache", name, _WARPERS)
    if not is_sampled:
        return lambda ids, scores: scores.argmax(-1, keepdim=True)
    warpers = [
        warper(sampling[name])
        for name, warper in _WARPERS.items()
        if sampling.get(name) not in (None, 0)
    ]

    def choose(ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        for warper in warpers:
            scores = warper(ids, scores)
        return torch.multinomial(scores.softmax(-1), 1)

    return choose
