"""Addresses of a model server: where it lists its models."""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

# What follows the base of an OpenAI-compatible address, the longest first.
_ENDPOINTS = ("/chat/completions", "/completions", "/messages", "/generate")


def endpoint_of(base_url: str) -> str | None:
    """Return the endpoint that an address ends in; None if it ends in none that is known."""
    path = urlsplit(base_url).path.rstrip("/")
    return next((endpoint for endpoint in _ENDPOINTS if path.endswith(endpoint)), None)


def models_url(base_url: str) -> str:
    """Return where the server lists its models: .../v1/chat/completions -> .../v1/models."""
    parts = urlsplit(base_url)
    path = parts.path.rstrip("/")
    endpoint = endpoint_of(base_url)
    if endpoint is not None:
        path = path.removesuffix(endpoint)
    if endpoint == "/generate" and not path.endswith("/v1"):  # sglang's own, beside /v1
        path += "/v1"
    return urlunsplit(parts._replace(path=f"{path}/models", fragment=""))
