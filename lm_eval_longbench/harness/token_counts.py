"""How many tokens an answer of a model in this process has, and whether it ended at its budget."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from lm_eval_longbench.answers.answer import CAPPED

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
        """Return `prompt_tokens`, `completion_tokens` and `finish_reason` of an answer; or {}."""
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
        }
