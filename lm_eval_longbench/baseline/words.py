"""Tokens for retrieval."""

from __future__ import annotations

import re

# Scripts written without spaces, as a character class; here neighbouring characters stand in for
# words.
UNSPACED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_RUN = re.compile(rf"([{UNSPACED}]+)|[^\W{UNSPACED}]+")
_CODE = re.compile(r"\w+|[^\w\s]")


def words(text: str) -> list[str]:
    """Return the lower-cased words of `text`; Chinese and Japanese runs as character pairs.

    A run of one such character is a token by itself. Punctuation gives no tokens.
    """
    tokens: list[str] = []
    for run in _RUN.finditer(text.lower()):
        token = run.group()
        if run.group(1) and len(token) > 1:
            tokens.extend(token[at : at + 2] for at in range(len(token) - 1))
        else:
            tokens.append(token)
    return tokens


def code_words(line: str) -> list[str]:
    """Return the words of a code line, case kept, and each mark of punctuation as a token."""
    return _CODE.findall(line)
