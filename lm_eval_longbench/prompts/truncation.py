"""The official truncation rules: keep both ends of a prompt, drop its middle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lm_eval_longbench.prompts.fast_tokenizer import Tokenized, fast_tokenizer
from lm_eval_longbench.prompts.parallel import in_order

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Decode = Callable[[Sequence[int]], str]
Rule = Callable[[Sequence[int], int, Decode], str]


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
        tokens: length of the whole prompt in tokens, special tokens included; None where the
            decision did not need it. A prompt that was not cut has at most `limit` tokens.
        truncated: whether it was cut.
    """

    text: str
    tokens: int | None
    truncated: bool


def count_tokens(tokenizer: PreTrainedTokenizerBase, text: str, *, special: bool = True) -> int:
    """Return the number of tokens of `text`, with the default special tokens if `special`."""
    encoded = tokenizer(text, add_special_tokens=special, truncation=False, verbose=False)
    return len(encoded["input_ids"])


def count_many(
    tokenizer: PreTrainedTokenizerBase, texts: Iterable[tuple[str, bool]]
) -> Iterator[int]:
    """Yield what `count_tokens` returns for each text and `special`, several at a time."""
    fast = fast_tokenizer(tokenizer)
    if fast is None:
        for text, special in texts:
            yield count_tokens(tokenizer, text, special=special)
    else:
        yield from in_order(lambda item: fast.count(*item), texts)


def truncate(
    prompts: Iterable[str], tokenizer: PreTrainedTokenizerBase, limit: int, rule: Rule
) -> Iterator[Cut]:
    """Yield each prompt, cut by `rule` if it is longer than `limit` tokens.

    The result is that of `rule` on `tokenizer(prompt)`, but no more is tokenized than is needed to
    know it: see `tokenizer_rules`. Several prompts are worked on at a time, in threads, where the
    tokenizer is one of the `tokenizers` library.

    Args:
        prompts: finished prompts, before any chat template; taken one after the other.
        tokenizer: the evaluated model's; its default special tokens count.
        limit: longest prompt in tokens, at least 2.
        rule: `halves_decoded_apart`, `ends_decoded_together` or another that looks at no ids but
            the first and the last (limit + 1) // 2.
    """

    def decode(ids: Sequence[int]) -> str:
        return tokenizer.decode(ids, skip_special_tokens=True)

    def cut(text: str, tokenized: Tokenized) -> Cut:
        known = len(tokenized.ids) if tokenized.whole else None
        longer = len(tokenized.ids) > limit
        return Cut(rule(tokenized.ids, limit, decode) if longer else text, known, longer)

    fast = fast_tokenizer(tokenizer)
    if fast is None:
        for text in prompts:
            ids = tokenizer(text, truncation=False, return_attention_mask=False, verbose=False)
            yield cut(text, Tokenized(ids["input_ids"], whole=True))
        return

    def cut_fast(text: str) -> Cut:
        if fast.surely_within(text, limit):
            return Cut(text, None, False)
        return cut(text, fast.tokenize(text, limit))

    yield from in_order(cut_fast, prompts)
