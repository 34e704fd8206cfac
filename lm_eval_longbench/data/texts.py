"""Tell the values in decoded JSON that can be stored as texts."""

from __future__ import annotations

from typing import Any


def is_text(value: Any) -> bool:
    """Whether a value is a text that UTF-8 can hold: JSON can spell half a surrogate pair."""
    if not isinstance(value, str):
        return False
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def is_texts(value: Any) -> bool:
    """Whether a value is a list of nothing but such texts."""
    return isinstance(value, list) and all(map(is_text, value))
