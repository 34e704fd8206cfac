"""A model of transformers whose cache is compressed once a document: a base for methods.

class Mine(CompressedCacheLM):
    def compress(self, past_key_values, document_ids): ...
"""

from __future__ import annotations

import logging
from typing import Any

import torch
import transformers
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM
from packaging.version import Version
from tqdm.auto import tqdm
from transformers import DynamicCache

from lm_eval_longbench.console import warn_once
from lm_eval_longbench.errors import MissingDependencyError, OptionError
from lm_eval_longbench.harness.prefill import document_of, grouped
from lm_eval_longbench.prompts.tokenizer import is_true

logger = logging.getLogger(__name__)

_OLDEST = "4.57"  # whose `generate` takes a loop of ours


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
        if Version(transformers.__version__) < Version(_OLDEST):
            raise MissingDependencyError(
                f"A compressed cache needs transformers {_OLDEST}; {transformers.__version__} is "
                f"here. Install it with: pip install 'transformers>={_OLDEST}'"
            )
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
        if not place:  # no place is known, or there is no document to compress
            return 1 if place is None else len(request.args[0].encode()) + 1
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

    def _model_generate(
        self, context: torch.Tensor, max_length: int, stop: list[str], **given: Any
    ) -> torch.Tensor:
        """Return a prompt and its answer, 1 x ids, chosen as transformers chooses them."""
        return super()._model_generate(
            context, max_length, stop, custom_generate=self._decode, **given
        )

    def _decode(
        self,
        model: Any,
        input_ids: torch.Tensor,
        logits_processor: Any,
        stopping_criteria: Any,
        generation_config: Any,
        **_: Any,
    ) -> torch.Tensor:
        """Read the question and write the answer; called by `generate` of transformers."""
        if (generation_config.num_beams or 1) > 1:
            raise OptionError("A compressed cache has one answer at a time: no num_beams.")
        ids, place = input_ids, input_ids.shape[1] - 1
        if not self.query_aware:
            place = max(0, ids.shape[1] - self._question)
        cache = self._of_document(ids[:, :place])
        while True:
            # Places are those of the whole prompt, whatever was dropped before them.
            places = torch.arange(place, ids.shape[1], device=ids.device)[None]
            new = ids[:, place:]
            out = model(new, past_key_values=cache, position_ids=places, logits_to_keep=1)
            self._grown += new.shape[1]
            place = ids.shape[1]
            scores = logits_processor(ids, out.logits[:, -1].float())
            if generation_config.do_sample:
                chosen = torch.multinomial(scores.softmax(-1), 1)
            else:
                chosen = scores.argmax(-1, keepdim=True)
            ids = torch.cat([ids, chosen], dim=1)
            if bool(torch.as_tensor(stopping_criteria(ids, None)).all()):
                return ids
