"""The address of an embedding server, as requested and as shown."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit, urlunsplit

from lm_eval_longbench.errors import EmbeddingError
from lm_eval_longbench.secrets import has_user, secret_part
from lm_eval_longbench.semantic.api_key import VARIABLES

_EXAMPLE = "http://localhost:8000/v1/embeddings"


def request_url(url: str) -> str:
    """Return the URL to post to; "/v1/embeddings" or "/embeddings" may be left out.

    Raises:
        EmbeddingError: it is no http(s) URL, or it holds a user name or password.
    """
    parts = _split(url)
    path = parts.path.rstrip("/")
    if not path:
        path = "/v1"
    if path.endswith("/v1"):
        path += "/embeddings"
    return urlunsplit(parts._replace(path=path, fragment=""))


def check_recorded(url: str) -> None:
    """Refuse a URL that may hold a secret: options are written into lock files and results.

    A masked one could not be used again by who reads the lock, and the harness writes the options
    into the results by itself.

    Raises:
        EmbeddingError: as `request_url`, and for a parameter that may be a key.
    """
    _split(url)
    secret = secret_part(url)
    if secret:
        raise EmbeddingError(
            f"'embedding_url' holds {secret}; lock files and results would show it. Leave it out, "
            f"and put the key into the environment variable {VARIABLES[0]}."
        )


def shown_url(url: str) -> str:
    """Return the URL without its query, where some servers take a key."""
    return urlunsplit(_split(url)._replace(query="", fragment=""))


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname)
        # Reading the port checks it.
        valid = valid and parts.port != 0
    except ValueError:
        valid = False
    # Neither message quotes the URL: it may hold a password, which may be why it cannot be read.
    if not valid:
        raise EmbeddingError(f"'embedding_url' is not an http or https URL such as {_EXAMPLE}.")
    if has_user(parts):
        raise EmbeddingError(
            f"'embedding_url' holds a user name or password. Put the key into the environment "
            f"variable {VARIABLES[0]} instead."
        )
    return parts
