"""Embed on an OpenAI-compatible server: its address, its key, its replies."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import random
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import SplitResult, urlsplit, urlunsplit

import numpy as np

from lm_eval_longbench.bounded import body_of, within
from lm_eval_longbench.errors import EmbeddingError
from lm_eval_longbench.secrets import has_user, secret_part
from lm_eval_longbench.semantic.embedder import OFFICIAL_MODEL, semantic_package, unit_vectors

# ---------------------------------------------------------------------- the key

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


# ---------------------------------------------------------------------- the address

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


# ---------------------------------------------------------------------- what a server replied

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


# ---------------------------------------------------------------------- the embedder

_log = logging.getLogger(__name__)
# Seconds between two tries at most; a server that asks for a longer pause gets this one.
_LONGEST_WAIT = 60.0
# Bytes that a reply may have for each vector, and of itself.
_VECTOR_BYTES = 2**20


class _TemporaryError(EmbeddingError):
    """Worth another try, after `pause` seconds at the least."""

    def __init__(self, message: str, pause: float = 0.0) -> None:
        super().__init__(message)
        self.pause = pause


class RemoteEmbedder:
    """A model on a /v1/embeddings server.

    The key comes from the environment variable LONGBENCH_EMBEDDING_API_KEY, else OPENAI_API_KEY,
    else none is sent.

    Args:
        url: of the server; "/v1/embeddings" may be left out.
        model: name the server knows the model by. That it is the model of this name is the
            user's word: the protocol has no proof of it.
        batch_size: texts in one request; some servers take no more than 32.
        timeout: seconds the server may be silent; a whole reply may take twice as long.
        attempts: tries of one request, for no connection, silence and statuses 429 and 5xx.
        first_wait: seconds before the second try; each further wait is twice as long, up to 60.

    Raises:
        EmbeddingError: the URL is unusable.
    """

    def __init__(
        self,
        url: str,
        model: str,
        batch_size: int = 32,
        timeout: float = 300.0,
        attempts: int = 6,
        first_wait: float = 1.0,
    ) -> None:
        self.name = model
        self.batch_size = batch_size
        self.timeout = timeout
        self.attempts = attempts
        self.first_wait = first_wait
        self._url = request_url(url)
        self.shown_url = shown_url(self._url)

    def __repr__(self) -> str:
        return f"RemoteEmbedder({self.shown_url!r}, {self.name!r})"

    @property
    def official(self) -> bool:
        """True if the server is asked for the official scorer's model."""
        return self.name == OFFICIAL_MODEL

    @property
    def identity(self) -> str:
        """The server's URL and the model's name."""
        return f"remote {self.shown_url} {self.name}"

    def check(self) -> None:
        """Embed one word.

        Raises:
            EmbeddingError: as `embed`.
        """
        self.embed(["check"])

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return one vector per text: float32 of shape (n, d), of length 1.

        Raises:
            EmbeddingError: the server cannot be reached, refuses, or replies with something else;
                the message has URL, status and what to do, and never the key.
        """
        requests = semantic_package("requests")
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        batches = []
        with requests.Session() as session:
            for start in range(0, len(texts), self.batch_size):
                batch = list(texts[start : start + self.batch_size])
                batches.append(self._retried(requests, session, batch))
        if len({batch.shape[1] for batch in batches}) > 1:
            raise EmbeddingError(
                f"{self.shown_url} returned vectors of different dimensions in one run: the model "
                "behind it changed. Run again."
            )
        return np.concatenate(batches)

    def _retried(self, requests: Any, session: Any, texts: list[str]) -> np.ndarray:
        """Return the vectors of one request, which is sent again after what may pass."""
        chance = random.Random()  # noqa: S311  no secret
        for number in range(1, self.attempts):
            try:
                return self._request(requests, session, texts)
            except _TemporaryError as error:
                # The random part keeps parallel runs from coming back all at once.
                wait = min(self.first_wait * 2 ** (number - 1), _LONGEST_WAIT)
                pause = max(wait + chance.uniform(0, self.first_wait), error.pause)
                _log.warning(
                    f"{error} Try {number} of {self.attempts} failed; next in {pause:.1f} s."
                )
            time.sleep(pause)
        return self._request(requests, session, texts)

    def _request(self, requests: Any, session: Any, texts: list[str]) -> np.ndarray:
        problem = None

        def posted() -> tuple[Any, bytes]:
            reply = session.post(
                self._url,
                json={"model": self.name, "input": texts},
                auth=authorize,
                timeout=self.timeout,
                # A redirect would turn the request into a GET, perhaps of another host.
                allow_redirects=False,
                stream=True,
            )
            return reply, body_of(reply, (len(texts) + 1) * _VECTOR_BYTES)

        try:
            reply, body = within(2 * self.timeout, posted)
        except (requests.RequestException, TimeoutError) as error:
            problem = error
        if problem is not None:
            # Raised outside, without the cause: that holds the request, and the request the key.
            raise self._no_reply(requests, problem)
        if reply.status_code == 200:
            return vectors_of(body, len(texts), self.shown_url)
        raise self._refusal(reply, body)

    def _no_reply(self, requests: Any, error: Exception) -> EmbeddingError:
        temporary = (
            TimeoutError,
            requests.ConnectionError,
            requests.Timeout,
            requests.exceptions.ChunkedEncodingError,
        )
        # Not the error's own words: they quote the URL with its query.
        message = (
            f"The embedding server {self.shown_url} cannot be reached or does not answer within "
            f"{self.timeout:g} s ({type(error).__name__}). Check that it runs, that "
            "'embedding_url' is right, and its log."
        )
        if isinstance(error, requests.exceptions.SSLError):
            return EmbeddingError(
                f"The certificate of the embedding server {self.shown_url} is not accepted "
                "(SSLError). Name your certificate authority's file with the environment variable "
                "REQUESTS_CA_BUNDLE."
            )
        return _TemporaryError(message) if isinstance(error, temporary) else EmbeddingError(message)

    def _refusal(self, reply: Any, body: bytes) -> EmbeddingError:
        status = reply.status_code
        head = f"The embedding server {self.shown_url} answered with status {status}"
        if status in (401, 403):
            # No word of the server's: it may quote a part of the key, which cannot be recognised.
            variable = key_variable()
            return EmbeddingError(
                f"{head}: it refuses the key in the environment variable {variable}. Set it, or "
                f"{VARIABLES[0]}, to a key of this server."
                if variable
                else f"{head}: it wants a key. Set the environment variable {VARIABLES[0]}."
            )
        words = excerpt(without_key(error_text(body)))
        told = f" and says: {words}" if words else ""
        if status == 429 or status >= 500:
            return _TemporaryError(
                f"{head}{told}. It is overloaded or failing: see its log, and run again later; "
                "texts that are done are cached.",
                _pause(reply.headers.get("Retry-After")),
            )
        return EmbeddingError(
            f"{head}{told}. Check 'embedding_url', that the server knows the model "
            f"{self.name!r}, and that it takes texts as long as these."
        )


def _pause(retry_after: str | None) -> float:
    try:
        seconds = float(retry_after or 0)
    except ValueError:  # a date
        return 0.0
    return min(seconds, _LONGEST_WAIT) if seconds > 0 else 0.0
