"""Warnings that must be seen once, however many tasks meet their cause."""

from __future__ import annotations

import logging

_said: set[str] = set()


def first_time(key: str) -> bool:
    """Return True the first time a key is asked about, False ever after."""
    if key in _said:
        return False
    _said.add(key)
    return True


def warn_once(logger: logging.Logger, key: str, message: str) -> None:
    """Log `message` as a warning unless a warning with this `key` was logged before."""
    if first_time(key):
        logger.warning(message)


def forget() -> None:
    """Forget what was said: for tests, each of which sees the warnings of a fresh process."""
    _said.clear()
