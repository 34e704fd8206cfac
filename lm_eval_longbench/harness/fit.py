"""Make sure that the harness never cuts a request on the left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lm_eval_longbench.errors import OverlengthError
from lm_eval_longbench.harness.limit import Limit
from lm_eval_longbench.prompts.prepare import Prompt, prepare
from lm_eval_longbench.prompts.truncation import count_tokens, halves_decoded_apart

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

# A cut prompt can grow by a few tokens when it is tokenized again; each round takes them off.
_ROUNDS = 8
# Tokens that may merge or split where a prompt meets its chat template.
_SEAMS = 2


@dataclass(frozen=True)
class Request:
    """The two ends of a prompt's way.

    Attributes:
        whole: the uncut prompt of the document with a given position.
        sent: a prompt as the backend gets it, chat template included.
    """

    whole: Callable[[int], str]
    sent: Callable[[str], str]


def fit_to_room(
    prompts: list[Prompt],
    kept: list[bool],
    limit: Limit,
    request: Request,
    load_tokenizer: Callable[[], PreTrainedTokenizerBase],
    *,
    may_cut: bool,
    task: str,
) -> list[Prompt]:
    """Return the prompts such that each request, as sent, fits the model.

    Args:
        prompts: prompts cut to the limit.
        kept: which of them are sent.
        limit: the task's limit; nothing is checked if its `room` is None.
        request: how to get at the whole prompt and at the request.
        load_tokenizer: the model's tokenizer.
        may_cut: whether a prompt that does not fit may be cut further. Not with `truncate_to`:
            then the length is the user's, and official.
        task: the task's name, for errors.

    Raises:
        OverlengthError: a request does not fit.
    """
    if limit.room is None or limit.tokens is None:
        return prompts
    tokenizer = load_tokenizer()
    template = count_tokens(tokenizer, request.sent("?")) - count_tokens(tokenizer, "?") + _SEAMS

    def excess(prompt: Prompt) -> int:
        if not prompt.truncated and (prompt.tokens or 0) + template <= limit.room:
            return 0
        text = request.sent(prompt.text)
        # Backends leave out the beginning-of-text token where the template has written it.
        bos = tokenizer.bos_token
        special = not (bos and text.startswith(bos))
        return count_tokens(tokenizer, text, special=special) - limit.room

    fitted = list(prompts)
    for number, (prompt, keep) in enumerate(zip(prompts, kept, strict=True)):
        over = excess(prompt) if keep else 0
        if over > 0 and not may_cut:
            raise OverlengthError(
                f"{task}: with {limit.source} a request is {over} tokens longer than the "
                f"{limit.room} that the model takes before its answer, and the harness would cut "
                "it on the left. Lower truncate_to, or give the model's real length with "
                "max_length=TOKENS in --model_args."
            )
        target = limit.tokens
        for _ in range(_ROUNDS):
            target -= max(over, 0)
            if over <= 0 or target < 2:
                break
            (cut,) = prepare(
                [request.whole(number)], target, lambda: tokenizer, halves_decoded_apart
            )
            fitted[number] = cut
            over = excess(cut)
        if over > 0:
            raise OverlengthError(
                f"{task}: a prompt cannot be made to fit the {limit.room} tokens that the model "
                "takes before its answer; the chat template leaves too little room."
            )
    return fitted
