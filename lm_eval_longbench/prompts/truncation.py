"""The official truncation rules: keep both ends of a prompt, drop its middle."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Decode = Callable[[Sequence[int]], str]
Rule = Callable[[Sequence[int], int, Decode], str]

# Prompts tokenized at a time: enough to keep a fast tokenizer busy, few enough for long ones.
_BATCH = 32


def halves_decoded_apart(ids: Sequence[int], limit: int, decode: Decode) -> str:
    """Cut as LongBench v1 and LongBench-E do: two halves of int(limit / 2), decoded separately.

    Args:
        ids: token ids of the prompt, special tokens included; longer than `limit`.
        limit: tokens to keep; for an odd limit one fewer is kept.
        decode: ids to text, special tokens skipped.
    """
    half = int(limit / 2)
    return decode(ids[:half]) + decode(ids[-half:])


def ends_decoded_together(ids: Sequence[int], limit: int, decode: Decode) -> str:
    """Cut as LongBench v2 and LongBench Pro do: one decode of both ends.

    For an odd limit the tail is one token longer. Arguments as in `halves_decoded_apart`.
    """
    return decode([*ids[: limit // 2], *ids[-limit // 2 :]])


@dataclass(frozen=True)
class Cut:
    """A prompt after truncation.

    Attributes:
        text: the prompt, cut or whole.
        tokens: length of the whole prompt in tokens, special tokens included.
        truncated: whether it was cut.
    """

    text: str
    tokens: int
    truncated: bool


def count_tokens(tokenizer: PreTrainedTokenizerBase, text: str, *, special: bool = True) -> int:
    """Return the number of tokens of `text`, with the default special tokens if `special`."""
    encoded = tokenizer(text, add_special_tokens=special, truncation=False, verbose=False)
    return len(encoded["input_ids"])


def truncate(
    prompts: Sequence[str], tokenizer: PreTrainedTokenizerBase, limit: int, rule: Rule
) -> Iterator[Cut]:
    """Yield each prompt, cut by `rule` if it is longer than `limit` tokens; tokenizes in batches.

    Args:
        prompts: finished prompts, before any chat template.
        tokenizer: the evaluated model's; its default special tokens count.
        limit: longest prompt in tokens, at least 2.
        rule: `halves_decoded_apart` or `ends_decoded_together`.
    """

    def decode(ids: Sequence[int]) -> str:
        return tokenizer.decode(ids, skip_special_tokens=True)

    for start in range(0, len(prompts), _BATCH):
        batch = list(prompts[start : start + _BATCH])
        encoded = tokenizer(batch, truncation=False, return_attention_mask=False, verbose=False)
        for text, ids in zip(batch, encoded["input_ids"], strict=True):
            longer = len(ids) > limit
            yield Cut(rule(ids, limit, decode) if longer else text, len(ids), longer)
