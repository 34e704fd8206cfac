"""Make sure that the harness never cuts a request on the left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from lm_eval_longbench.errors import OverlengthError
from lm_eval_longbench.prompts.prepare import Prompt, prepare
from lm_eval_longbench.prompts.truncation import (
    Rule,
    count_many,
    count_tokens,
    counts_as_installed,
)

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

# A prompt as the backend gets it, chat template included.
Sent = Callable[[str], str]

# A cut prompt can grow by a few tokens when it is tokenized again; each round takes them off.
_ROUNDS = 8
# Tokens that may merge or split where a prompt meets its chat template.
_SEAMS = 2


def _lengths(texts: Sequence[str], tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """Return the length of each request in tokens, as backends count it."""
    # Backends leave out the beginning-of-text token where the template has written it.
    begin = tokenizer.bos_token
    return list(
        count_many(tokenizer, ((text, not (begin and text.startswith(begin))) for text in texts))
    )


def tokens_over(
    prompts: Sequence[Prompt],
    limit: int,
    room: int,
    sent: Sent,
    tokenizer: PreTrainedTokenizerBase,
) -> list[int]:
    """Return how many tokens each request is longer than the model takes; 0 where it fits.

    Args:
        prompts: prompts prepared for `limit`; one that was neither cut nor counted has at most
            that many tokens.
        limit: longest prompt in tokens.
        room: tokens that a request may have.
        sent: a prompt as the backend gets it.
        tokenizer: the model's tokenizer.
    """
    template = count_tokens(tokenizer, sent("?")) - count_tokens(tokenizer, "?") + _SEAMS
    over = [0] * len(prompts)
    # Where the backend's ids are not those that prompts were cut with, no count is known.
    known = counts_as_installed(tokenizer)
    doubtful = [
        number
        for number, prompt in enumerate(prompts)
        if not known
        or prompt.truncated
        or (limit if prompt.tokens is None else prompt.tokens) + template > room
    ]
    lengths = _lengths([sent(prompts[number].text) for number in doubtful], tokenizer)
    for number, length in zip(doubtful, lengths, strict=True):
        over[number] = max(0, length - room)
    return over


def cut_to_room(
    whole: str,
    over: int,
    target: int,
    room: int,
    sent: Sent,
    tokenizer: PreTrainedTokenizerBase,
    rule: Rule,
) -> Prompt:
    """Return a prompt cut so far that its request fits the model.

    Args:
        whole: the uncut prompt.
        over: tokens by which its request is too long when cut to `target`.
        target: tokens it was cut to.
        room: tokens that a request may have.
        sent: a prompt as the backend gets it.
        tokenizer: the model's tokenizer.
        rule: the benchmark's truncation rule.

    Raises:
        OverlengthError: the chat template leaves no room for a prompt.
    """
    for _ in range(_ROUNDS):
        target -= over
        if target < 2:
            break
        (cut,) = prepare([whole], target, lambda: tokenizer, rule)
        (over,) = tokens_over([cut], target, room, sent, tokenizer)
        if not over:
            return cut
    raise OverlengthError(
        f"A prompt cannot be made to fit the {room} tokens that the model takes before its answer: "
        "the chat template or the system instruction leaves too little of them."
    )
