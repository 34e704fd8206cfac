"""The sha256 of a text."""

from __future__ import annotations

import hashlib


def text_sha256(text: str) -> str:
    """Return the sha256 of a text's UTF-8 bytes; lone surrogates count as Python encodes them."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
