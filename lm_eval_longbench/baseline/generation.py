"""Generation arguments as the harness gives them, applied to the baseline's answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval_longbench.baseline.extractive import answer

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
