"""Chinese word segmentation with jieba's default mode and default dictionary."""

from __future__ import annotations

import functools
import logging

import jieba


@functools.cache
def _tokenizer() -> jieba.Tokenizer:
    """Build a tokenizer of our own once.

    The module-wide one may carry words that a user added; scores must not depend on them.
    """
    logger = logging.getLogger("jieba")
    level = logger.level
    logger.setLevel(logging.WARNING)  # jieba prints its loading steps to stderr
    try:
        tokenizer = jieba.Tokenizer()
        tokenizer.initialize()
    finally:
        logger.setLevel(level)
    return tokenizer


# A prediction meets each of its gold answers: remember it for that long.
@functools.lru_cache(maxsize=64)
def words(text: str) -> tuple[str, ...]:
    """Return jieba's default-mode tokens of `text`, whitespace tokens included."""
    return tuple(_tokenizer().cut(text, cut_all=False))
