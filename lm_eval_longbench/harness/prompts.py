"""Prepare the prompts of a task so that the harness never cuts a request on the left."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.errors import OptionError, OverlengthError
from lm_eval_longbench.harness.limit import Limit
from lm_eval_longbench.once import warn_once
from lm_eval_longbench.prompts.prepare import Prompt, prepare
from lm_eval_longbench.prompts.truncation import (
    Rule,
    count_many,
    count_tokens,
    counts_as_installed,
)

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

logger = logging.getLogger(__name__)

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


def sender(
    chat_template: Callable[..., Any] | None, system_instruction: str | None
) -> Callable[[str], Any]:
    """Return what makes of a prompt what the backend gets: a text, or chat messages."""

    def sent(text: str) -> Any:
        if chat_template is None:
            return (system_instruction or "") + text
        system = [{"role": "system", "content": system_instruction}] if system_instruction else []
        return chat_template([*system, {"role": "user", "content": text}])

    return sent


def warn_of(limit: Limit) -> None:
    """Say once what a user must know of a limit that nobody set."""
    if limit.tokens is None:
        warn_once(
            logger,
            "no limit",
            "The model's length limit is not known: prompts go out whole, and whatever serves "
            "the model may cut or refuse them. To cut them in the middle as officially, add "
            '--metadata \'{"longbench": {"truncate_to": TOKENS}}\' or give max_length=TOKENS '
            "in --model_args.",
        )
    elif limit.assumed:
        warn_once(
            logger,
            "assumed length",
            "No max_length in --model_args: the harness assumes 2048 tokens for this API model "
            "and would cut prompts on the left, so they are cut in the middle to that length. "
            "Give the model's real length with max_length=TOKENS.",
        )


def fitting_prompts(
    task: str,
    indices: Sequence[int],
    render: Callable[[int], str],
    *,
    limit: Limit,
    sent: Sent,
    tokenizer: Callable[[], PreTrainedTokenizerBase],
    rule: Rule,
    source: str,
    overlength: str,
    ranks: int,
) -> tuple[list[Prompt], list[bool]]:
    """Return the prompts of documents, cut so far that requests fit, and whether each one stays.

    Args:
        task: name of the task, for errors.
        indices: row numbers of the documents.
        render: gives a document's whole prompt.
        limit: of prompts.
        sent: a prompt as the backend gets it.
        tokenizer: gives the model's tokenizer; called only if there is a limit.
        rule: the benchmark's truncation rule.
        source: names the prompts, to remember the cuts between runs.
        overlength: the option.
        ranks: that share the documents.

    Raises:
        OverlengthError: a request does not fit and may not be cut, or too little is left.
    """
    prompts = prepare(map(render, indices), limit.tokens, tokenizer, rule, source=source)
    if limit.tokens is None or limit.room is None:
        return prompts, _kept(task, indices, prompts, [0] * len(prompts), limit, overlength, ranks)
    over = tokens_over(prompts, limit.tokens, limit.room, sent, tokenizer())
    kept = _kept(task, indices, prompts, over, limit, overlength, ranks)
    for number, index in enumerate(indices):
        if kept[number] and over[number]:
            prompts[number] = cut_to_room(
                render(index), over[number], limit.tokens, limit.room, sent, tokenizer(), rule
            )
    return prompts, kept


def check_ranks(task: str, questions: int, ranks: int) -> None:
    """Raise OptionError if there are fewer questions than ranks, which would end obscurely."""
    if questions < ranks:
        raise OptionError(
            f"{task}: {questions} questions for {ranks} ranks. Each rank needs a question: run "
            "fewer ranks, or ask for more questions."
        )


def _kept(
    task: str,
    indices: Sequence[int],
    prompts: Sequence[Prompt],
    over: Sequence[int],
    limit: Limit,
    overlength: str,
    ranks: int,
) -> list[bool]:
    """Decide which documents stay, by the option `overlength`."""
    if limit.official and any(over):
        raise OverlengthError(
            f"{task}: with {limit.source} a request is {max(over)} tokens longer "
            f"than the {limit.room} that the model takes before its answer, and the harness "
            "would cut it on the left. Lower truncate_to, or give the model's real length with "
            "max_length=TOKENS in --model_args."
        )
    fits = [not prompt.truncated and not more for prompt, more in zip(prompts, over, strict=True)]
    if overlength == "truncate" or all(fits):
        return [True] * len(indices)
    if overlength == "fail":
        longer = [index for index, fit in zip(indices, fits, strict=True) if not fit]
        shown = ", ".join(map(str, longer[:5])) + (", ..." if len(longer) > 5 else "")
        raise OverlengthError(
            f"{task}: {len(longer)} of {len(indices)} prompts are longer than "
            f"{limit.tokens} tokens ({limit.source}); documents {shown}. Raise the limit, or "
            'set the option overlength to "truncate" or "skip".'
        )
    logger.warning(
        f"{task}: kept {sum(fits)} of {len(fits)} documents (overlength: skip, "
        f"limit {limit.tokens} tokens, {limit.source}). The score is not comparable with one "
        "over all documents."
    )
    if sum(fits) < ranks:
        fewer = f", fewer than the {ranks} ranks" if any(fits) else ""
        raise OverlengthError(
            f"{task}: of {len(fits)} prompts {sum(fits)} are within {limit.tokens} "
            f"tokens ({limit.source}){fewer}: nothing is left to evaluate. Raise the limit."
        )
    return fits
