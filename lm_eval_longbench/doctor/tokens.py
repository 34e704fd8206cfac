"""Lengths in tokens of a task's first prompt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lm_eval_longbench.harness.preflight_facts import TaskFacts
from lm_eval_longbench.prompts.truncation import count_tokens

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


@dataclass(frozen=True)
class Lengths:
    """Tokens of the first prompt; each is None where it cannot be counted here.

    Attributes:
        whole: before it is cut, without a template.
        sent: as the backend gets it; None for chat messages, whose template the server applies.
        template: what the template adds.
    """

    whole: int | None = None
    sent: int | None = None
    template: int | None = None


def lengths(facts: TaskFacts) -> Lengths:
    """Count the first prompt of a task with the tokenizer that would cut it."""
    tokenizer = facts.tokenizer.tokenizer
    if tokenizer is None or facts.whole is None:
        return Lengths()
    whole = count_tokens(tokenizer, facts.whole)
    if facts.sent is None or facts.probe is None or facts.as_messages:
        return Lengths(whole)
    template = _as_sent(tokenizer, facts.probe) - _as_sent(tokenizer, "?")
    return Lengths(whole, _as_sent(tokenizer, facts.sent), max(0, template))


def _as_sent(tokenizer: PreTrainedTokenizerBase, text: str) -> int:
    """Count as backends do: without a beginning-of-text token where the template wrote one."""
    begin = tokenizer.bos_token
    return count_tokens(tokenizer, text, special=not (begin and text.startswith(begin)))


def is_cut(facts: TaskFacts, counted: Lengths) -> bool:
    """Whether the first prompt is longer than its limit."""
    limit = facts.limit.tokens if facts.limit is not None else None
    return limit is not None and counted.whole is not None and counted.whole > limit
