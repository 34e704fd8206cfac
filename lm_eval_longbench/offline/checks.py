"""Tell the values in decoded JSON that scoring can use."""

from __future__ import annotations

import json
from hashlib import blake2b, sha256
from typing import Any

# Hexadecimal digits of a sha256 that tell one document from another.
_DOCUMENT_DIGITS = 16


def is_texts(value: Any) -> bool:
    """Whether a value is a list of one or more texts."""
    return isinstance(value, list) and set(map(type, value)) == {str}


def is_whole(value: Any, least: int, most: int) -> bool:
    """Whether a value is a whole number from `least` to `most`; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def text_id(value: Any) -> str | None:
    """Return a question's id as text; None for what is no id: only texts and numbers are."""
    if isinstance(value, str) and value:
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def content_hash(*parts: Any) -> bytes:
    """Return eight bytes that tell one question from another.

    Args:
        parts: decoded JSON: all that makes the question and its gold answers what they are.
    """
    return blake2b(json.dumps(parts).encode("ascii"), digest_size=8).digest()


def document_of_text(text: Any) -> str | None:
    """Return the short hash of a document; None for what is no text, or an empty one."""
    if not isinstance(text, str) or not text:
        return None
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DOCUMENT_DIGITS]


def document_of_hash(digest: Any) -> str | None:
    """Return the short form of a document's sha256; None for what is none."""
    if not isinstance(digest, str) or len(digest) != 64 or set(digest) - set("0123456789abcdef"):
        return None
    return digest[:_DOCUMENT_DIGITS]
