"""Answer a prompt from its own text: no weights, no randomness, no files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval_longbench.baseline.choices import choose
from lm_eval_longbench.baseline.strategies import (
    answer_last_paragraph,
    answer_question,
    count_paragraphs,
    find_paragraph,
    lead_summary,
    nearest_label,
    next_line,
)
from lm_eval_longbench.baseline.text import cut, strip_markup


def answer(prompt: str, max_words: int) -> str:
    """Return the baseline's answer to any prompt, the same at every call.

    The prompt's own cues, at its end, tell what it asks for; a prompt without known cues is taken
    as material with a question in its last paragraph. Text that a chat template put around the
    prompt does no harm. The answer has at most `max_words` words, or characters of Chinese
    (`budget.count_units`), and may be empty.

    Raises:
        ValueError: `max_words` is negative.
    """
    return cut(_answer(strip_markup(prompt), max_words), max_words)


def _answer(prompt: str, max_words: int) -> str:
    # First the one that goes by whole sentences of its own at the very end: its question may hold
    # the looser cues of the others.
    for strategy in (choose, next_line, count_paragraphs, find_paragraph, nearest_label):
        found = strategy(prompt)
        if found is not None:
            return found
    summary = lead_summary(prompt, max_words)
    if summary is not None:
        return summary
    found = answer_question(prompt)
    return answer_last_paragraph(prompt) if found is None else found


# ---------------------------------------------------------------------- within generation arguments

# The harness's own order of precedence, and its default.
_BUDGET_NAMES = ("max_gen_toks", "max_new_tokens", "max_tokens", "max_completion_tokens")
_DEFAULT_BUDGET = 256


def generate(prompt: str, gen_kwargs: Mapping[str, Any]) -> str:
    """Return the answer to `prompt` within the budget, cut before the first stop string.

    The budget counts words, or characters of Chinese; `until` is a string, a list or None. Other
    generation arguments have no meaning here and are ignored.

    Raises:
        ValueError: the budget is negative or no number.
    """
    return cut_at_stops(answer(prompt, read_budget(gen_kwargs)), gen_kwargs.get("until"))


def read_budget(gen_kwargs: Mapping[str, Any]) -> int:
    """Return the budget in words, under any of the harness's names for it; 256 if none is set.

    Raises:
        ValueError: the value is no number.
    """
    for name in _BUDGET_NAMES:
        if gen_kwargs.get(name) is not None:
            return int(gen_kwargs[name])
    return _DEFAULT_BUDGET


def cut_at_stops(text: str, until: str | Sequence[str] | None) -> str:
    """Return `text` up to the first of the stop strings in it; empty stop strings are ignored."""
    stops = [until] if isinstance(until, str) else (until or [])
    places = [text.find(stop) for stop in stops if stop]
    return text[: min((place for place in places if place >= 0), default=len(text))]
