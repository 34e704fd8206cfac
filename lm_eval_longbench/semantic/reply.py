"""Read what an embedding server replied."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import numpy as np

from lm_eval_longbench.errors import EmbeddingError
from lm_eval_longbench.semantic.embedder import unit_vectors

_SHOWN = 300


def vectors_of(body: bytes, number: int, source: str) -> np.ndarray:
    """Return the vectors of a successful reply in the order of the inputs, shape (number, d).

    Args:
        body: JSON as in OpenAI's API: {"data": [{"index": 0, "embedding": [...]}, ...]}.
        number: texts that were sent.
        source: who replied, for messages.

    Raises:
        EmbeddingError: not such JSON, wrong or repeated indices, or unusable vectors.
    """
    try:
        data = json.loads(body)["data"]
        by_index = {item["index"]: item["embedding"] for item in data}
    except (ValueError, KeyError, TypeError) as error:
        raise EmbeddingError(
            f"{source} did not reply as an OpenAI-compatible /v1/embeddings server does: an object "
            'with "data", a list of objects with "index" and "embedding", is needed. Check the '
            "URL."
        ) from error
    if len(data) != number or set(by_index) != set(range(number)):
        raise EmbeddingError(
            f"{source} returned {len(data)} vectors with {len(by_index)} different indices for "
            f"{number} texts; each of 0 to {number - 1} is needed once."
        )
    return unit_vectors([by_index[index] for index in range(number)], number, source)


def error_text(body: bytes) -> str:
    """Return what the body of a failed reply says, in one line and not cut; "" if nothing."""
    text = body.decode("utf-8", "replace")
    with contextlib.suppress(ValueError):  # plain text, or a proxy's page
        text = _message(json.loads(text)) or text
    return " ".join(text.split())


def excerpt(text: str) -> str:
    """Return the beginning of a server's words, short enough for a message."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _message(value: Any) -> str:
    while isinstance(value, dict):
        value = value.get("error") or value.get("message") or value.get("detail")
    return value if isinstance(value, str) else ""
