"""Prepare the prompts of many documents at once: render, cut, hash."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lm_eval_longbench.prompts.truncation import Rule, truncate

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

# Characters of a prompt's head and tail that the sample log keeps.
EXCERPT = 256


def text_sha256(text: str) -> str:
    """Return the sha256 of a text's UTF-8 bytes; lone surrogates count as Python encodes them."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Prompt:
    """A finished prompt, before any chat template.

    Attributes:
        text: what the model reads.
        tokens: tokens before it was cut; None where no tokenizer was needed.
        truncated: whether it was cut.
    """

    text: str
    tokens: int | None = None
    truncated: bool = False


def whole(texts: Iterable[str]) -> Iterator[Prompt]:
    """Yield prompts as they are, for models whose limit is not known."""
    return (Prompt(text) for text in texts)


def prepare(
    texts: Iterable[str],
    limit: int | None,
    load_tokenizer: Callable[[], PreTrainedTokenizerBase],
    rule: Rule,
) -> list[Prompt]:
    """Return the prompts in order, each cut by `rule` if longer than `limit` tokens.

    Args:
        texts: rendered prompts.
        limit: longest prompt in tokens; None: nothing is cut.
        load_tokenizer: called only if there is a limit.
        rule: the benchmark's truncation rule.
    """
    if limit is None:
        return list(whole(texts))
    cuts = truncate(list(texts), load_tokenizer(), limit, rule)
    return [Prompt(cut.text, cut.tokens, cut.truncated) for cut in cuts]
