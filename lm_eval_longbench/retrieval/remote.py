"""Embed on an OpenAI-compatible server: its address, its key, its replies."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Sequence
from urllib.parse import urlunsplit

import numpy as np

from lm_eval_longbench.errors import EmbeddingError
from lm_eval_longbench.options import EMBEDDING_KEYS
from lm_eval_longbench.retrieval.vectors import semantic_package, unit_vectors
from lm_eval_longbench.secrets import http_parts, hush_requests, masked, without_keys

# What servers that need no key get.
_NO_KEY = "EMPTY"
# Texts in one request: some servers take no more.
_BATCH = 32
# Characters of a server's words in a message.
_SHOWN = 300


def _key() -> tuple[str, str]:
    """Return the variable that holds the key, and the key; two empty texts without one."""
    keys = ((variable, os.environ.get(variable, "").strip()) for variable in EMBEDDING_KEYS)
    return next((own for own in keys if own[1]), ("", ""))


def _sent_key() -> str:
    """Return the key that is sent; without one a word, for an empty key is no valid header.

    Raises:
        EmbeddingError: it has characters that no HTTP header can carry.
    """
    variable, key = _key()
    # Checked here because the libraries below would quote the key in their own errors.
    if not all("!" <= char <= "~" for char in key):
        raise EmbeddingError(
            f"The environment variable {variable} holds blanks, line breaks or characters outside "
            "ASCII, which no API key has. Set it again."
        )
    return key or _NO_KEY


def _request_url(url: str) -> str:
    """Return the URL to post to; "/v1/embeddings" or "/embeddings" may be left out."""
    parts = http_parts(url)
    if parts is None or "@" in parts.netloc + parts.path:
        # Not quoted: it may hold a password, which may be why it cannot be read.
        raise EmbeddingError(
            "'embedding_url' is not an http or https URL such as "
            "http://localhost:8000/v1/embeddings, without user and password. Put a key into the "
            f"environment variable {EMBEDDING_KEYS[0]}."
        )
    path = parts.path.rstrip("/") or "/v1"
    return urlunsplit(
        parts._replace(path=f"{path}/embeddings" if path.endswith("/v1") else path, fragment="")
    )


def _vectors_of(reply: bytes, number: int, source: str) -> np.ndarray:
    """Return the vectors of a successful reply in the order of the inputs, shape (number, d).

    `reply` is JSON as in OpenAI's API: {"data": [{"index": 0, "embedding": [...]}, ...]}.
    """
    try:
        data = json.loads(reply)["data"]
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


def _words_of(text: str) -> str:
    """Return what the body of a failed reply says, without the key; "" if nothing."""
    with contextlib.suppress(ValueError):  # plain text, or a proxy's page
        value = json.loads(text)
        while isinstance(value, dict):
            value = value.get("error") or value.get("message") or value.get("detail")
        text = value if isinstance(value, str) else text
    masked({"key": _key()[1]})  # remembered, however it is spelt
    text = " ".join(without_keys(text).split())
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


class RemoteEmbedder:
    """A model on a /v1/embeddings server.

    The key comes from the environment variable LONGBENCH_EMBEDDING_API_KEY, else OPENAI_API_KEY,
    else "EMPTY" is sent.

    Args:
        url: of the server; "/v1/embeddings" may be left out.
        model: name the server knows the model by. That it is the model of this name is the
            user's word: the protocol has no proof of it.
        timeout: seconds the server may be silent.
        attempts: tries of one request, for no connection, silence and statuses 429 and 5xx.

    Raises:
        EmbeddingError: the URL is unusable.
    """

    def __init__(self, url: str, model: str, timeout: float = 300.0, attempts: int = 9) -> None:
        self.name = model
        self.timeout = timeout
        self.attempts = attempts
        self._url = _request_url(url)
        # Without its query, where some servers take a key.
        self.shown_url = self._url.partition("?")[0]

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
        openai, key = semantic_package("openai"), _sent_key()
        hush_requests()
        batches, failure = [], None
        try:
            with openai.OpenAI(
                api_key=key,
                base_url=self._url,
                max_retries=self.attempts - 1,
                timeout=self.timeout,
                # Another host has no business with the key.
                http_client=openai.DefaultHttpxClient(follow_redirects=False),
            ) as client:
                for start in range(0, len(texts), _BATCH):
                    batch = list(texts[start : start + _BATCH])
                    body = {"model": self.name, "input": batch}
                    # Not decoded by the package, which asks the header first what it is.
                    reply = client.post(self._url, cast_to=bytes, body=body)
                    batches.append(_vectors_of(reply, len(batch), self.shown_url))
        except EmbeddingError:
            raise
        except Exception as error:  # openai's own, or of the HTTP library beneath it
            failure = self._failure(error)
        if failure is not None:
            # Raised outside, without the cause: that holds the request, and the request the key.
            raise failure
        if len({batch.shape[1] for batch in batches}) > 1:
            raise EmbeddingError(
                f"{self.shown_url} returned vectors of different dimensions in one run: the model "
                "behind it changed. Run again."
            )
        return np.concatenate(batches)

    def _failure(self, error: Exception) -> EmbeddingError:
        status = getattr(error, "status_code", None)
        if status is None:
            # Not the error's own words: they quote the URL with its query.
            name = type(error.__cause__ or error).__name__
            if "CERTIFICATE" in str(error.__cause__):
                return EmbeddingError(
                    f"The certificate of the embedding server {self.shown_url} is not accepted "
                    f"({name}). Name your certificate authority's file with the environment "
                    "variable SSL_CERT_FILE."
                )
            return EmbeddingError(
                f"The embedding server {self.shown_url} cannot be reached or does not answer "
                f"within {self.timeout:g} s ({name}). Check that it runs, that 'embedding_url' is "
                "right, and its log."
            )
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
        words = _words_of(error.response.text)  # type: ignore[attr-defined]
        told = f" and says: {words}" if words else ""
        if status == 429 or status >= 500:
            return EmbeddingError(
                f"{head}{told}. It is overloaded or failing: see its log, and run again later; "
                "texts that are done are cached."
            )
        return EmbeddingError(
            f"{head}{told}. Check 'embedding_url', that the server knows the model "
            f"{self.name!r}, and that it takes texts as long as these."
        )
