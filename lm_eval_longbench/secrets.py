"""Keep keys and passwords out of logs, lock files and results, which are passed on."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import SplitResult, urlsplit, urlunsplit

MASK = "***"
# Parameters in a URL's query that servers know and that hold no key. Any other may be one: there
# is no list of the names that keys have.
_HARMLESS = frozenset({"api-version", "api_version", "version", "model", "deployment", "region"})
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
# Names of arguments that hold keys; "tokenizer", "eos_token" and the like do not.
_KEY_NAME = re.compile(
    r"(?:^|[_.-]|api)key$|(?:^|auth|access|api|bearer|hf|refresh|session)[_-]?token$"
    r"|(?:^|[_.-])(?:secret|password|passwd|passphrase|pwd|authorization|cookie|credentials?)$",
    re.IGNORECASE,
)
# What stands behind these in a text is a key.
_MARKED = re.compile(
    r"((?:authorization|(?:auth|access)[-_]?token|password|api[-_]?key|x-api-key)"
    r"[\"']?\s*[:=]\s*[\"']?(?:bearer\s+)?)[^\s\"',;)}]+"
    r"|(bearer\s+)[^\s\"',;)}]{8,}",
    re.IGNORECASE,
)
# The user and the password of an address.
_USER = re.compile(r"(?<=://)[^\s/@\"']+(?=@)")
# Environment variables whose names end so hold keys; shorter values are no keys but words.
_VARIABLES = ("_API_KEY", "_TOKEN", "_SECRET")
_SHORTEST = 8
_HEADERS = re.compile(r"(?:^|[_.-])headers?$", re.IGNORECASE)


def has_user(parts: SplitResult) -> bool:
    """Return whether a URL holds a user name or password."""
    # In the path it comes from a password with a slash.
    return "@" in parts.netloc + parts.path


def secret_part(url: str) -> str | None:
    """Return which part of a URL may hold a secret, in words that do not quote it; None: none.

    Raises:
        ValueError: it is no URL.
    """
    parts = urlsplit(url)
    if has_user(parts):
        return "a user name or password"
    if any(name not in _HARMLESS for name, _, _ in _parameters(parts.query)):
        return "a query with other parameters than api-version, any of which may be a key"
    if parts.fragment:
        return "a part after '#'"
    return None


def _parameters(query: str) -> list[tuple[str, str, str]]:
    """Return name, "=" and value of each parameter; of one without a name all is its name."""
    return [part.partition("=") for part in re.split("[&;]", query) if part]


def masked_url(url: str) -> str:
    """Return a URL with everything that may be a secret replaced."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return MASK
    place = f"{parts.netloc}{parts.path}"
    if "@" in place:
        place = f"{MASK}@{place.rpartition('@')[2]}"
    query = "&".join(
        f"{name}={value if name in _HARMLESS else MASK}" if is_named else MASK
        for name, is_named, value in _parameters(parts.query)
    )
    netloc, slash, path = place.partition("/")
    fragment = MASK if parts.fragment else ""
    return urlunsplit((parts.scheme, netloc, slash + path, query, fragment))


def masked(value: Any, name: str = "") -> Any:
    """Return JSON-like data, under a name, with what names or URLs say to be secret replaced."""
    if isinstance(value, Mapping):
        every = bool(_HEADERS.search(name))
        return {key: MASK if every else masked(own, str(key)) for key, own in value.items()}
    if isinstance(value, list | tuple):
        return [masked(own, name) for own in value]
    if not isinstance(value, str) or not value:
        return value
    if _HEADERS.search(name) or _KEY_NAME.search(name):
        return MASK
    return masked_url(value) if _URL.match(value) else value


# Values that arguments of this run say to be secret.
_given: set[str] = set()


def _secrets(value: Any, shown: Any) -> Iterator[str]:
    """Yield the texts of JSON-like data that are masked in what is shown of it."""
    if isinstance(value, Mapping):
        for key, own in value.items():
            yield from _secrets(own, shown[key])
    elif isinstance(value, list | tuple):
        for own, other in zip(value, shown, strict=True):
            yield from _secrets(own, other)
    elif isinstance(value, str) and shown == MASK:
        with contextlib.suppress(ValueError):  # JSON of headers: each of them
            value = json.loads(value)
        for own in value.values() if isinstance(value, Mapping) else [value]:
            yield from (str(own), str(own).rpartition(" ")[2])


def remember_secrets(arguments: Mapping[str, Any]) -> None:
    """Have `without_keys` know the values that arguments of a run say to be secret."""
    _given.update(one for one in _secrets(arguments, masked(arguments)) if len(one) >= _SHORTEST)


def without_keys(text: str) -> str:
    """Return a text with MASK for keys: of the environment, of addresses, remembered and marked."""
    for value in _given:
        text = text.replace(value, MASK)
    for name, value in os.environ.items():
        if name.endswith(_VARIABLES) and len(value.strip()) >= _SHORTEST:
            text = text.replace(value.strip(), MASK)
    text = _USER.sub(MASK, text)
    return _MARKED.sub(lambda found: f"{found[1] or found[2]}{MASK}", text)


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
    """Have every handler that any logger has by now write no keys, once each.

    Not the root logger's alone: a program that sets a logger of its own up, as the harness does
    with "lm_eval", keeps its records from the root.
    """
    loggers = [logging.getLogger(), *logging.root.manager.loggerDict.values()]
    for logger in loggers:
        for handler in logger.handlers if isinstance(logger, logging.Logger) else ():
            if not any(isinstance(own, _WithoutKeys) for own in handler.filters):
                handler.addFilter(_WithoutKeys())
