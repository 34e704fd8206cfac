"""Arguments of a model that are no part of it: they change requests, or what is left of answers.

They are stated in a signature as the ingredient `model_settings`.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

# What the harness's models and longbench-api add to the stop strings, take out of answers, put
# before prompts, and send beside them.
STOP, THINK_END, BEGIN = "eos_string", "think_end_token", "add_bos_token"
BESIDE, TEMPLATE = "extra_body", "chat_template_kwargs"
_NAMES = (STOP, THINK_END, BEGIN, BESIDE, TEMPLATE)
_EMPTY: tuple[Any, ...] = (None, "", {})
# What requests may hold beside the prompt without a departure from any protocol: how a model
# thinks, which belongs to it, and what servers are told about the request itself.
_HARMLESS = frozenset(
    {
        *(TEMPLATE, "reasoning", "reasoning_effort", "thinking", "enable_thinking"),
        *("user", "metadata", "store", "service_tier", "priority", "provider", "session_id"),
        *("request_id", "safety_identifier", "prompt_cache_key", "prompt_cache_retention"),
        *("cache_salt", "cache_prompt", "id_slot", "slot_id", "keep_alive"),
    }
)


def model_settings(arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return those of a model's arguments that are settings, objects in place of their JSON.

    None: there are none.
    """
    found: dict[str, Any] = {}
    for name in _NAMES:
        value = arguments.get(name)
        if name in (BESIDE, TEMPLATE) and isinstance(value, str):
            with contextlib.suppress(ValueError):  # the model refuses what is no JSON
                value = json.loads(value)
        if value not in _EMPTY:
            found[name] = value
    return found or None


def less_own(settings: Any) -> Any:
    """Return a value of `model_settings` without what departs from no protocol."""
    if not isinstance(settings, Mapping):
        return settings
    beside = settings.get(BESIDE)
    if isinstance(beside, Mapping):
        settings = {**settings, BESIDE: {k: v for k, v in beside.items() if k not in _HARMLESS}}
    own = {k: v for k, v in settings.items() if k != TEMPLATE and v not in _EMPTY}
    return own or None


def setting_departures(settings: Any) -> Iterator[str]:
    """Yield in what an ingredient `model_settings` departs from every official protocol."""
    if settings is None:
        return
    if not isinstance(settings, Mapping):
        yield f"model settings {settings!r}"
        return
    if settings.get(STOP):
        yield "stop strings (officially none)"
    if settings.get(THINK_END) is not None:
        yield "reasoning taken out of answers (officially scored with them)"
    if str(settings.get(BEGIN)).lower() == "false":
        yield "prompts without a beginning-of-text token (officially as the tokenizer has them)"
    beside = settings.get(BESIDE) or {}
    names = sorted(beside) if isinstance(beside, Mapping) else [beside]
    for name in names:
        if name not in _HARMLESS:
            yield f"the field {name} beside prompts (officially left out)"
