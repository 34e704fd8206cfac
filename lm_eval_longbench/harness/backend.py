"""What a task can learn about the backend that will answer its requests."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

ChatTemplate = Callable[..., Any]


def only_messages(chat_template: ChatTemplate) -> bool:
    """Whether the backend takes chat messages and no text, so that no template can be withheld."""
    return not isinstance(chat_template([{"role": "user", "content": "?"}]), str)


def as_text(sent: Any) -> str:
    """Return a prompt as the backend gets it as one text: chat messages as their JSON."""
    if isinstance(sent, str):
        return sent
    return getattr(sent, "prompt", None) or json.dumps(sent, ensure_ascii=False)


def takes_seed(model_args: Mapping[str, Any], chat_template: ChatTemplate | None) -> bool:
    """Whether requests go to an API server that takes a `seed` with each of them.

    The harness sends the same seed with every request of such a backend unless the generation
    arguments hold another: servers that honour it answer all repeats alike. Backends that run the
    model in this process reject the argument.
    """
    model = getattr(chat_template, "__self__", None)
    classes = {base.__name__ for base in type(model).__mro__}
    if "AnthropicChat" in classes:  # built on the OpenAI classes, but its API knows no seed
        return False
    return bool(model_args.get("base_url")) or "LocalCompletionsAPI" in classes
