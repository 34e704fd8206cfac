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
from urllib.parse import urlunsplit

import numpy as np

from lm_eval_longbench.errors import EmbeddingError
from lm_eval_longbench.options import EMBEDDING_KEYS
from lm_eval_longbench.retrieval.vectors import OFFICIAL_MODEL, semantic_package, unit_vectors
from lm_eval_longbench.secrets import has_user, http_parts, masked, without_keys

_log = logging.getLogger(__name__)
# Seconds between two tries at most; a server that asks for a longer pause gets this one.
_LONGEST_WAIT = 60.0
# Characters of a server's words in a message.
_SHOWN = 300


def _key() -> tuple[str, str]:
    """Return the variable that holds the key, and the key; two empty texts without one."""
    for variable in EMBEDDING_KEYS:
        value = os.environ.get(variable, "").strip()
        if value:
            return variable, value
    return "", ""


def authorize(request: Any) -> Any:
    """Put the key, if there is one, into a request that `requests` is about to send.

    Given to `requests` as its `auth`, so that no object of ours holds the key, and no .netrc file
    replaces it.

    Raises:
        EmbeddingError: the key has characters that no HTTP header can carry.
    """
    variable, key = _key()
    # Checked here because the libraries below would quote the key in their own errors.
    if not all("!" <= char <= "~" for char in key):
        raise EmbeddingError(
            f"The environment variable {variable} holds blanks, line breaks or characters outside "
            "ASCII, which no API key has. Set it again."
        )
    if key:
        request.headers["Authorization"] = f"Bearer {key}"
    return request


def _request_url(url: str) -> str:
    """Return the URL to post to; "/v1/embeddings" or "/embeddings" may be left out."""
    parts = http_parts(url)
    # Neither message quotes the URL: it may hold a password, which may be why it cannot be read.
    if parts is None:
        raise EmbeddingError(
            "'embedding_url' is not an http or https URL such as "
            "http://localhost:8000/v1/embeddings."
        )
    if has_user(parts):
        raise EmbeddingError(
            "'embedding_url' holds a user name or password. Put the key into the environment "
            f"variable {EMBEDDING_KEYS[0]} instead."
        )
    path = parts.path.rstrip("/") or "/v1"
    return urlunsplit(
        parts._replace(path=f"{path}/embeddings" if path.endswith("/v1") else path, fragment="")
    )


def _vectors_of(body: bytes, number: int, source: str) -> np.ndarray:
    """Return the vectors of a successful reply in the order of the inputs, shape (number, d).

    `body` is JSON as in OpenAI's API: {"data": [{"index": 0, "embedding": [...]}, ...]}.
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


def _words_of(body: bytes) -> str:
    """Return what the body of a failed reply says, without the key; "" if nothing."""
    text = body.decode("utf-8", "replace")
    with contextlib.suppress(ValueError):  # plain text, or a proxy's page
        value = json.loads(text)
        while isinstance(value, dict):
            value = value.get("error") or value.get("message") or value.get("detail")
        text = value if isinstance(value, str) else text
    masked({"key": _key()[1]})  # remembered, however it is spelt
    text = " ".join(without_keys(text).split())
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


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
        timeout: seconds the server may be silent.
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
        self._url = _request_url(url)
        # Without its query, where some servers take a key.
        self.shown_url = self._url.partition("?")[0]

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
        try:
            reply = session.post(
                self._url,
                json={"model": self.name, "input": texts},
                auth=authorize,
                timeout=self.timeout,
                # A redirect would turn the request into a GET, perhaps of another host.
                allow_redirects=False,
            )
        except requests.RequestException as error:
            problem = error
        if problem is not None:
            # Raised outside, without the cause: that holds the request, and the request the key.
            raise self._no_reply(requests.exceptions, problem)
        if reply.status_code == 200:
            return _vectors_of(reply.content, len(texts), self.shown_url)
        raise self._refusal(reply)

    def _no_reply(self, kinds: Any, error: Exception) -> EmbeddingError:
        if isinstance(error, kinds.SSLError):
            return EmbeddingError(
                f"The certificate of the embedding server {self.shown_url} is not accepted "
                "(SSLError). Name your certificate authority's file with the environment variable "
                "REQUESTS_CA_BUNDLE."
            )
        passing = (kinds.ConnectionError, kinds.Timeout, kinds.ChunkedEncodingError)
        # Not the error's own words: they quote the URL with its query.
        return (_TemporaryError if isinstance(error, passing) else EmbeddingError)(
            f"The embedding server {self.shown_url} cannot be reached or does not answer within "
            f"{self.timeout:g} s ({type(error).__name__}). Check that it runs, that "
            "'embedding_url' is right, and its log."
        )

    def _refusal(self, reply: Any) -> EmbeddingError:
        status = reply.status_code
        head = f"The embedding server {self.shown_url} answered with status {status}"
        if status in (401, 403):
            # No word of the server's: it may quote a part of the key, which cannot be recognised.
            variable = _key()[0]
            return EmbeddingError(
                f"{head}: it refuses the key in the environment variable {variable}. Set it, or "
                f"{EMBEDDING_KEYS[0]}, to a key of this server."
                if variable
                else f"{head}: it wants a key. Set the environment variable {EMBEDDING_KEYS[0]}."
            )
        words = _words_of(reply.content)
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
    """Return the seconds that a server asks to wait, within bounds; 0 for a date."""
    with contextlib.suppress(ValueError):
        seconds = float(retry_after or 0)
        return min(seconds, _LONGEST_WAIT) if seconds > 0 else 0.0
    return 0.0
