"""Tell the values in decoded JSON that scoring can use."""

from __future__ import annotations

from typing import Any


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
