"""Keep keys and passwords out of logs, lock files and results, which are passed on.

`is_secret` decides by a name, `masked` does it in data, `masked_argument` in a word of a command
line, and `without_keys` in any text.
"""

from __future__ import annotations

import ast
import contextlib
import json
import logging
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any
from urllib.parse import SplitResult, quote, unquote, urlsplit, urlunsplit

MASK = "***"
# Parameters in a URL's query that servers know and that hold no key. Any other may be one: there
# is no list of the names that keys have.
_HARMLESS = frozenset({"api-version", "api_version", "version", "model", "deployment", "region"})
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'<>`\\]+")
# What texts are called that are keys, and all that is below such a name.
_SECRET = frozenset(
    {
        *("key", "apikey", "token", "secret", "password", "auth", "authorization"),
        *("credential", "credentials", "passwd", "passphrase", "pwd", "cookie", "cookies"),
        *("header", "headers"),
    }
)
# "eos_token", "think_end_token", "token_ids": tokens of a tokenizer.
_BEFORE = frozenset({"bos", "eos", "eot", "pad", "unk", "sep", "cls", "mask", "end", "start"})
_AFTER = frozenset({"id", "ids", "length"})
# Of names that end in one of these all know that it is for the server alone.
_OPENS = _SECRET - {"token", "auth"}
_TOKENS = frozenset({"auth", "access", "api", "bearer", "hf", "refresh", "session"})
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# A name and a value in a text, as JSON, Python, a command line or a header has them.
_NAMED = re.compile(
    r"([\w.-]+)(\\*[\"']\s*:\s*\\*[\"']?|=\\*[\"']?|\s*:\s*)"
    r"((?:(?:bearer|basic)\s+)?[^\s\"',;(){}\[\\]+)",
    re.IGNORECASE,
)
_BEARER = re.compile(r"\b(bearer\s+)[^\s\"',;)}]{8,}", re.IGNORECASE)
_NUMBER = re.compile(r"[\d.]+|true|false|none|null", re.IGNORECASE)
_HASHED = re.compile(r"\*\*\* \(sha256 [0-9a-f]{8}\)")
# Environment variables whose names end so hold keys; shorter values are no keys but words.
_VARIABLES = ("_API_KEY", "_TOKEN", "_SECRET")
_SHORTEST = 8

Hide = Callable[[str], str]
# What was hidden in data, which `without_keys` therefore knows in every text of this process.
_hidden: set[str] = set()


def _remember(secret: str) -> None:
    for own in (secret, secret.rpartition(" ")[2]):
        if len(own) >= _SHORTEST and not own.startswith(MASK):
            # Also as JSON, Python and URLs spell it.
            _hidden.update((own, json.dumps(own)[1:-1], repr(own)[1:-1], quote(own, safe="")))


# ---------------------------------------------------------------------- names


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]


def is_secret(name: str) -> bool:
    """Return whether a text under this name is one that nobody may read."""
    words = ["", *_words(name), ""]
    return any(
        word in _SECRET
        and not (word == "token" and (words[at - 1] in _BEFORE or words[at + 1] in _AFTER))
        for at, word in enumerate(words)
    )


def _is_for_server(name: str) -> bool:
    """Whether a secret changes no answer: it only opens the server."""
    *before, last = _words(name)
    if last == "token":
        return not before or before[-1] in _TOKENS
    return last in _OPENS


def _mask(text: str) -> str:
    return MASK


def _hashed(text: str) -> str:
    """Return what two different texts differ in."""
    import hashlib  # --help needs none

    if _HASHED.fullmatch(text):
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{MASK} (sha256 {digest[:8]})"


def _hide(name: str) -> Hide | None:
    """Return what hides the texts under a name; None: they are no secrets."""
    if not is_secret(name):
        return None
    return _mask if _is_for_server(name) else _hashed


# ---------------------------------------------------------------------- addresses


def http_parts(url: str) -> SplitResult | None:
    """Return the parts of an http or https address; None: it is none."""
    with contextlib.suppress(ValueError):
        parts = urlsplit(url)
        # Reading the port checks it.
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return parts
    return None


def secret_part(url: str) -> str | None:
    """Return which part of a URL may hold a secret, in words that do not quote it; None: none.

    Raises:
        ValueError: it is no URL.
    """
    parts, shown = urlsplit(url), urlsplit(masked_url(url))
    said = {
        "netloc": "a user name or password",
        "query": "a query with other parameters than api-version, any of which may be a key",
        "path": "a key in its path",
        "fragment": "a part after '#'",
    }
    found = (text for name, text in said.items() if getattr(parts, name) != getattr(shown, name))
    return next(found, None)


def _masked_path(path: str) -> str:
    """Return a path without what follows the name of a secret: /key/VALUE, /;token=VALUE."""
    parts = re.split("([/;])", path)
    for at, part in enumerate(parts):
        name, is_named, _ = part.partition("=")
        before = parts[at - 2] if at > 1 else ""
        if is_named and is_secret(name):
            parts[at] = f"{name}={MASK}"
        elif len(part) >= _SHORTEST and is_secret(before):
            parts[at] = MASK
    return "".join(parts)


def masked_url(url: str) -> str:
    """Return a URL with everything that may be a secret replaced."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return MASK
    place = f"{parts.netloc}{parts.path}"
    if "@" in place:  # in the path it comes from a password with a slash
        place = f"{MASK}@{place.rpartition('@')[2]}"
    query = re.sub(
        "(?=[^&;])([^&;=]*)(=?)[^&;]*",
        lambda one: one[0] if one[1] in _HARMLESS else (one[2] and f"{one[1]}=") + MASK,
        parts.query,
    )
    netloc, slash, path = place.partition("/")
    fragment = MASK if parts.fragment else ""
    return urlunsplit((parts.scheme, netloc, _masked_path(slash + path), query, fragment))


# ---------------------------------------------------------------------- data


def masked(value: Any, hide: Hide | None = None) -> Any:
    """Return JSON-like data with what names or URLs say to be secret replaced.

    A secret that only opens a server becomes MASK. Any other text becomes its hash: it may be a
    setting that changes answers, and two settings must stay two. What is replaced is remembered:
    `without_keys` finds it in every text from now on.

    Args:
        value: the data; numbers and truth values stay.
        hide: what hides every text of it; None: its names say which ones are secrets.
    """
    if isinstance(value, Mapping):
        return {key: masked(own, hide or _hide(str(key))) for key, own in value.items()}
    if isinstance(value, list | tuple):
        return [masked(own, hide) for own in value]
    if not isinstance(value, str) or not value:
        return value
    inner = _parsed(value)
    if hide is not None:
        masked(inner, hide)  # each of its texts is a secret, too
        _remember(value)
        return hide(value)
    if inner is None:
        return _URL.sub(_noted_url, value)
    shown = masked(inner)
    return value if shown == inner else json.dumps(shown, ensure_ascii=False)


def _noted_url(found: re.Match[str]) -> str:
    shown = masked_url(found[0])
    for part in re.split("[/?&;=#@:]", found[0]):
        if part not in shown:
            _remember(unquote(part))
            _remember(part)
    return shown


def _parsed(text: str) -> Any:
    """Return the object or list that a text spells in JSON or Python; None: it spells none."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    for parse in (json.loads, ast.literal_eval):
        with contextlib.suppress(ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            return parse(text.strip())
    return None


# ---------------------------------------------------------------------- command lines


def _pieces(word: str) -> Iterator[str]:
    """Yield what commas part in a word, as the harness does: outside of brackets and quotes."""
    piece, depth, quoted = "", 0, ""
    for char in word:
        if quoted:
            quoted = "" if char == quoted else quoted
        elif char in "\"'":
            quoted = char
        else:
            depth = max(0, depth + (char in "[({") - (char in "])}"))
        if char == "," and not depth and not quoted:
            yield piece
            piece = ""
        else:
            piece += char
    yield piece


def _argument(word: str) -> str:
    """Return a word of a command line, such as model=m,api_key=x or {"api_key": "x"}, masked."""
    if _URL.match(word) or _parsed(word) is not None or "=" not in word:
        return str(masked(word))
    shown = []
    for piece in _pieces(word):
        name, is_named, value = piece.partition("=")
        if not is_named:
            shown.append(_argument(name))
        elif is_secret(name) and not _NUMBER.fullmatch(value):
            shown.append(f"{name}={masked(value, _mask)}")
        else:
            shown.append(f"{name}={_argument(value)}")
    return ",".join(shown)


def masked_command(words: Sequence[str]) -> str:
    """Return a command line, quoted for a shell, with MASK for keys."""
    shown = [
        masked(word, _mask) if before.startswith("--") and is_secret(before) else _argument(word)
        for before, word in pairwise(["", *words])
    ]
    return without_keys(_HASHED.sub(MASK, shlex.join(shown)))


# ---------------------------------------------------------------------- any text


def _named(found: re.Match[str]) -> str:
    name, between, value = found.groups()
    if not is_secret(name) or _NUMBER.fullmatch(value):
        return found[0]
    quoted = '"' in between or "'" in between
    words = not quoted and name.lower() in ("key", "token", "header", "headers", "auth")
    if words or (between.strip() == ":" and not _is_for_server(name)):
        return found[0]  # "key=value", "Unknown key: x", "KeyError: x"
    return f"{name}{between}{MASK}"


def without_keys(text: str) -> str:
    """Return a text with MASK for keys: of the environment, of addresses, remembered and named."""
    for value in sorted(_hidden, key=len, reverse=True):
        text = text.replace(value, MASK)
    for name, value in os.environ.items():
        if name.endswith(_VARIABLES) and len(value.strip()) >= _SHORTEST:
            text = text.replace(value.strip(), MASK)
    text = _URL.sub(lambda found: masked_url(found[0]), text)
    return _BEARER.sub(rf"\1{MASK}", _NAMED.sub(_named, text))


def _rewrite(record: logging.LogRecord) -> bool:
    """Take keys out of a record's message and of its traceback; drop none."""
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
    """Have every handler that any logger has by now write no keys.

    Not the root logger's alone: a program that sets a logger of its own up, as the harness does
    with "lm_eval", keeps its records from the root.
    """
    loggers = [logging.getLogger(), *logging.root.manager.loggerDict.values()]
    for logger in loggers:
        for handler in logger.handlers if isinstance(logger, logging.Logger) else ():
            handler.addFilter(_rewrite)  # once is enough, and it takes no more


def hush_requests() -> None:
    """Have HTTP libraries log no requests: their addresses may have a key in the query."""
    for name in ("httpx", "httpx2", "openai"):
        own = logging.getLogger(name)
        if own.level in (logging.NOTSET, logging.INFO, logging.DEBUG):
            own.setLevel(logging.WARNING)
