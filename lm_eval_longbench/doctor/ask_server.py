"""Ask a server for the list of its models: one GET, nothing is generated."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lm_eval_longbench.errors import LongBenchError

# Seconds without an answer.
TIMEOUT = 10.0
# Where servers tell a model's length: vLLM and sglang; OpenRouter; LM Studio; Groq; others.
_LENGTHS = (
    "max_model_len",
    "context_length",
    "max_context_length",
    "context_window",
    "max_sequence_length",
)


@dataclass(frozen=True)
class Reply:
    """What came of it.

    Attributes:
        status: HTTP status; None: there was no answer.
        problem: why there was none, or why it cannot be read; "": none.
        models: objects that describe the models, each with an "id"; None: no such list.
    """

    status: int | None
    problem: str = ""
    models: tuple[Mapping[str, Any], ...] | None = None


def get_models(
    url: str, headers: Mapping[str, str], verify: bool | str = True, timeout: float = TIMEOUT
) -> Reply:
    """Return a server's answer to one GET.

    Args:
        url: of the list.
        headers: as the backend sends them; they are neither kept nor shown.
        verify: whether, or with which file, the certificate is checked.
        timeout: seconds without an answer.

    Raises:
        LongBenchError: the package `requests` is missing.
    """
    try:
        import requests
    except ImportError as error:
        raise LongBenchError(
            'Asking a server needs the package requests: pip install "lm-eval-longbench[api]"'
        ) from error
    try:
        reply = requests.get(
            url,
            headers=dict(headers),
            verify=verify,
            timeout=timeout,
            allow_redirects=False,  # perhaps to another host, which has no business with the key
        )
    except (requests.RequestException, UnicodeError, OSError) as error:
        # Not the error's own words: they may quote a header or the address with its query.
        return Reply(None, type(error).__name__)
    if reply.status_code != 200:
        return Reply(reply.status_code)
    models = _models(reply.content)
    return Reply(200, "" if models is not None else "no list of models", models)


def _models(body: bytes) -> tuple[Mapping[str, Any], ...] | None:
    """Read {"data": [{"id": ...}, ...]}; None if it is something else."""
    try:
        data = json.loads(body)["data"]
    except (ValueError, KeyError, TypeError):
        return None
    if not isinstance(data, list):
        return None
    objects = (item for item in data if isinstance(item, dict))
    return tuple(item for item in objects if isinstance(item.get("id"), str))


def length_of(model: Mapping[str, Any]) -> int | None:
    """Return the longest request in tokens, answer included, that a server tells of a model."""
    for name in _LENGTHS:
        value = model.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None
