"""The embedding server's key: read from the environment when needed, kept and shown nowhere."""

from __future__ import annotations

import json
import os
from typing import Any

from lm_eval_longbench.errors import EmbeddingError

# First one set wins.
VARIABLES = ("LONGBENCH_EMBEDDING_API_KEY", "OPENAI_API_KEY")


def key_variable() -> str | None:
    """Return the name of the environment variable that holds the key, or None without a key."""
    for variable in VARIABLES:
        if os.environ.get(variable, "").strip():
            return variable
    return None


def authorize(request: Any) -> Any:
    """Put the key, if there is one, into a request that `requests` is about to send.

    Given to `requests` as its `auth`, so that no object of ours holds the key, and no .netrc file
    replaces it.

    Raises:
        EmbeddingError: the key has characters that no HTTP header can carry.
    """
    key = _key()
    if key:
        # Checked here because the libraries below would quote the key in their own errors.
        if not all("!" <= char <= "~" for char in key):
            raise EmbeddingError(
                f"The environment variable {key_variable()} holds blanks, line breaks or "
                "characters outside ASCII, which no API key has. Set it again."
            )
        request.headers["Authorization"] = f"Bearer {key}"
    return request


def without_key(text: str) -> str:
    """Return the text with the key, if it occurs, replaced by ***: servers quote keys in errors."""
    key = _key()
    if not key:
        return text
    return text.replace(key, "***").replace(json.dumps(key)[1:-1], "***")


def _key() -> str:
    variable = key_variable()
    return os.environ[variable].strip() if variable else ""
