"""Keep keys out of logs: errors of HTTP libraries carry the headers of their requests."""

from __future__ import annotations

import logging
import os
import re

# What stands behind these in a text is a key.
_MARKED = re.compile(
    r"((?:authorization|api[-_]?key|x-api-key)[\"']?\s*[:=]\s*[\"']?(?:bearer\s+)?)[^\s\"',;)}]+"
    r"|(bearer\s+)[^\s\"',;)}]{8,}",
    re.IGNORECASE,
)
# Environment variables whose names end so hold keys; shorter values are no keys but words.
_VARIABLES = ("_API_KEY", "_TOKEN", "_SECRET")
_SHORTEST = 8


def without_keys(text: str) -> str:
    """Return a text with *** in the place of keys: those of the environment, and marked ones."""
    for name, value in os.environ.items():
        if name.endswith(_VARIABLES) and len(value.strip()) >= _SHORTEST:
            text = text.replace(value.strip(), "***")
    return _MARKED.sub(lambda found: f"{found[1] or found[2]}***", text)


class _WithoutKeys(logging.Filter):
    """Rewrites records; it drops none."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Take keys out of a record's message and of its traceback."""
        try:
            message = record.getMessage()
        except (TypeError, ValueError):  # logging itself will say what is wrong with the record
            return True
        record.msg, record.args = without_keys(message), ()
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = without_keys(record.exc_text)
        return True


def hide_keys() -> None:
    """Have every handler of the root logger write no keys, once."""
    for handler in logging.getLogger().handlers:
        if not any(isinstance(own, _WithoutKeys) for own in handler.filters):
            handler.addFilter(_WithoutKeys())
