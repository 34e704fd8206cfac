"""Answers of the model `hf` as the official release of transformers decoded them.

Officially an answer of v1 and E is `tokenizer.decode(ids, skip_special_tokens=True)` under a
release that takes out spaces before punctuation; the installed one may leave them. What the model
gave stays in the file of answers and under `resps` in the log; what was scored is under
`filtered_resps`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.answers.answer import answer_of
from lm_eval_longbench.errors import TokenizerError
from lm_eval_longbench.harness.backend import installed_cleans_up, is_hf
from lm_eval_longbench.prompts.tokenizer import load_tokenizer, tokenizer_name
from lm_eval_longbench.prompts.tokens.official import clean_up, cleans_up
from lm_eval_longbench.signature.signature import CLEANED_UP

if TYPE_CHECKING:
    from lm_eval.api.instance import Instance
    from transformers import PreTrainedTokenizerBase


@dataclass(frozen=True)
class Decoding:
    """How the answers of a model are decoded, and how they officially are.

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
