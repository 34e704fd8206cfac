"""Where requests go: address, endpoint, headers, and the package that sends them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlunsplit

from lm_eval_longbench.errors import LongBenchError, OptionError
from lm_eval_longbench.secrets import http_parts, masked, masked_url, without_keys

CHAT, COMPLETIONS = "chat", "completions"
PATHS = {CHAT: "/chat/completions", COMPLETIONS: "/completions"}
KEY_VARIABLE = "OPENAI_API_KEY"
# What servers that need no key get: an empty one is no valid header.
NO_KEY = "EMPTY"


def openai_package() -> Any:
    """Return the package `openai`.

    Raises:
        LongBenchError: it is not installed; has the line that installs it.
    """
    try:
        import openai
    except ImportError as error:
        raise LongBenchError(
            'longbench-api needs the package openai: pip install "lm-eval-longbench[api]"'
        ) from error
    return openai


@dataclass(frozen=True)
class Server:
    """Where requests go, and what each of them has.

    Attributes:
        base: address without the endpoint and without a query.
        endpoint: CHAT or COMPLETIONS.
        model: name that the server knows the model by.
        query: parameters of the address's query.
        header: sent with each request; they may hold a key.
        verify: whether, or with which file, a certificate is checked.
        timeout: seconds that a server may be silent; before an answer begins, one more for each
            thousand characters of the prompt.
        extra: what each request's body has beside the usual.
    """

    base: str
    endpoint: str
    model: str
    query: Mapping[str, str] = field(default_factory=dict, repr=False)
    header: Mapping[str, str] = field(default_factory=dict, repr=False)
    verify: bool | str = True
    timeout: float = 600.0
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """The address that requests are posted to, without its query."""
        return self.base + PATHS[self.endpoint]

    @property
    def whole(self) -> str:
        """The address that requests are posted to, with its query, which may hold a key."""
        return self.url + (f"?{urlencode(self.query)}" if self.query else "")

    @property
    def shown(self) -> str:
        """That address for messages."""
        return masked_url(self.url)

    def hide(self, text: str) -> str:
        """Return a text without the keys that this server gets."""
        masked([{"header": self.header}, self.whole, self.extra])  # what it hides is remembered
        return without_keys(text)


def read_address(base_url: str, endpoint: str | None) -> tuple[str, str, dict[str, str]]:
    """Return address without endpoint and query, the endpoint, and the query's parameters.

    Args:
        base_url: may end in /chat/completions or /completions.
        endpoint: CHAT or COMPLETIONS; None: as the address says.

    Raises:
        OptionError: it is no http(s) address, or nothing says the endpoint, or both say another.
    """
    parts = http_parts(base_url)
    if parts is None:  # not quoted: it may hold a password
        raise OptionError("base_url is no http or https address such as http://localhost:8000/v1.")
    if endpoint not in (None, *PATHS):
        raise OptionError(f"endpoint must be {CHAT} or {COMPLETIONS}, not {endpoint!r}.")
    path = parts.path.rstrip("/")
    named = next((name for name, end in PATHS.items() if path.endswith(end)), None)
    if named and endpoint not in (None, named):
        raise OptionError(
            f"base_url ends in {PATHS[named]}, and endpoint={endpoint}. Leave one of them out."
        )
    chosen = named or endpoint
    if chosen is None:
        raise OptionError(
            f"Say how the model is asked: endpoint={CHAT} for chat messages, endpoint="
            f"{COMPLETIONS} for text; or let base_url end in {PATHS[CHAT]} or "
            f"{PATHS[COMPLETIONS]}."
        )
    if named:
        path = path.removesuffix(PATHS[named])
    base = urlunsplit((parts.scheme, parts.netloc, path, "", ""))
    return base, chosen, dict(parse_qsl(parts.query, keep_blank_values=True))


def api_key() -> str:
    """Return the key of the environment; "" without one."""
    return os.environ.get(KEY_VARIABLE, "").strip()


def headers(server: Server) -> dict[str, str]:
    """Return the headers of a server's requests: the key, and those that are given.

    Raises:
        OptionError: the key, or a header, has characters that no header can carry.
    """
    key = api_key()
    if not all("!" <= char <= "~" for char in key):
        raise OptionError(
            f"The environment variable {KEY_VARIABLE} holds blanks, line breaks or characters "
            "outside ASCII, which no API key has. Set it again."
        )
    for name, value in server.header.items():
        if not all(" " <= char <= "~" for char in name + value):
            raise OptionError(
                f"header: the value of {name!r} holds line breaks or characters outside ASCII."
            )
    own = (
        {}
        if any(name.lower() == "authorization" for name in server.header)
        else {"Authorization": f"Bearer {key or NO_KEY}"}
    )
    return {**own, **server.header}
