"""Length of an answer: words for space-separated text, characters for Chinese."""

from __future__ import annotations

import re
from itertools import islice

# Chinese and Japanese script with its punctuation and full-width forms: one unit a character.
_WIDE = r"\u3001-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uffef\U00020000-\U0003ffff"
_UNIT = re.compile(rf"[{_WIDE}]|[^\s{_WIDE}]+")


def count_units(text: str) -> int:
    """Return the length of `text` in units, 0 or more.

    A unit is one character of Chinese or Japanese script, or a run of other characters without
    white space.
    """
    return sum(1 for _ in _UNIT.finditer(text))


def cut(text: str, max_units: int) -> str:
    """Return the longest beginning of `text` of at most `max_units` units.

    White space at the start is kept (it is a code line's indentation), at the end it is dropped.

    Raises:
        ValueError: `max_units` is negative.
    """
    if max_units < 0:
        raise ValueError(f"max_units must be 0 or more, not {max_units}")
    end = 0
    for unit in islice(_UNIT.finditer(text), max_units):
        end = unit.end()
    return text[:end]
