"""What goes wrong with a request, and what follows: asked again, failed for good, or the run ends.

All of it is read from statuses, from the words that servers use, and from the errors beneath a
broken connection.
"""

from __future__ import annotations

import contextlib
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any

from lm_eval_longbench.records.answer import FILTER, TOO_LONG

# The server has too many requests: later, and fewer at a time.
BUSY = "busy"
# Nobody knows whether it would work again: a few more times.
TROUBLE = "trouble"
# The server will not answer this request, however often it is asked.
REFUSED = "refused"
# The request needs more at once than the server ever allows.
TOO_MUCH = "too much"
# The server withholds the answer to this request.
WITHHELD = "withheld"
# The server does not take one parameter of the request.
NOT_TAKEN = "not taken"
# No request will be answered.
FATAL = "fatal"


class Fault(Exception):
    """Why there is no answer to a request.

    Attributes:
        kind: BUSY, TROUBLE, REFUSED, TOO_MUCH, WITHHELD, NOT_TAKEN or FATAL.
        reason: in one line; it may quote the server.
        wait: seconds that the server asks to wait; None: it does not.
        parameter: of the request that is not taken; "": none.
    """

    def __init__(
        self, kind: str, reason: str, wait: float | None = None, parameter: str = ""
    ) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason
        self.wait = wait
        self.parameter = parameter


# ---------------------------------------------------------------------- what servers say

_SHOWN = 300
_NO_MODEL = re.compile(
    r"model_not_found|unknown[ _]model|invalid[ _]model"
    r"|model\b.{0,200}\b(?:not exist|not found|no access|not available)",
    re.IGNORECASE | re.DOTALL,
)
_NO_CREDIT = re.compile(r"insufficient[ _](?:quota|credit|balance|funds)", re.IGNORECASE)
_NOT_SUPPORTED = re.compile(
    r"support|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed|forbidden|extra "
    r"|not accept|not implement|additional propert|invalid (?:param|arg|field)|not available",
    re.IGNORECASE,
)
# As OpenAI says it of a prompt that is longer than the tokens that may be asked for in a minute.
_TOO_LARGE = re.compile(
    r"request (?:is )?too large|tokens must be reduced"
    r"|reduce (?:the|your) (?:message|prompt|input|length)",
    re.IGNORECASE,
)
_LIMIT = re.compile(
    r"\blimit:? ?([\d,]{1,20}).{0,80}?\brequested:? ?([\d,]{1,20})", re.IGNORECASE | re.DOTALL
)
# Parameters that a request can do without, and how a server names one that it does not take.
# Without the first three an answer stays what it is, so that any complaint will do.
_NAMED = {
    "n": r"[\"'`]n[\"'`]|\bn\s*(?:=|>|must|is\b|should)|\bparameter:? n\b|\bbest_of\b"
    r"|\bmultiple (?:choices|completions)",
    "stop": r"[\"'`]stop[\"'`]|\bstop (?:sequence|string|word|parameter|is\b|must)",
    "stream_options": r"\bstream_options\b",
    "stream": r"[\"'`]stream[\"'`]|\bstreaming\b|\bstream (?:parameter|is\b|must)",
    "seed": r"\bseed\b",
    "temperature": r"\btemperature\b",
    "max_tokens": r"\bmax_tokens\b",
}
_ANY_COMPLAINT = frozenset({"n", "stop", "stream_options"})


def shortened(text: str) -> str:
    """Return a text in one line, short enough for a message."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}..."


def told_by(body: Any) -> tuple[str, str, str]:
    """Return what the body of an error says: its message, its code and type, the parameter."""
    if isinstance(body, bytes | str):
        text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
        return ("an HTML page" if text.lstrip().startswith("<") else text), "", ""
    if not isinstance(body, Mapping):
        return "", "", ""
    inner = body.get("error")
    if isinstance(inner, Mapping):
        body = inner
    elif isinstance(inner, str):
        body = {"message": inner, **body}
    said, parameter = body.get("message") or body.get("detail") or "", str(body.get("param") or "")
    if isinstance(said, list):  # as FastAPI says it
        items = [item for item in said if isinstance(item, Mapping)]
        places = [str((item.get("loc") or [""])[-1]) for item in items]
        said = "; ".join(
            f"'{place}': {item.get('msg')}" for place, item in zip(places, items, strict=True)
        )
        parameter = parameter or (places[0] if places else "")
    code = " ".join(str(body[key]) for key in ("code", "type") if body.get(key))
    return str(said), code, parameter


def _not_taken(message: str, parameter: str, sent: Mapping[str, Any]) -> str:
    """Return the parameter of a request that a server's words refuse; "": none."""
    for name, pattern in _NAMED.items():
        if name not in sent or not (parameter == name or re.search(pattern, message)):
            continue
        if name in _ANY_COMPLAINT or _NOT_SUPPORTED.search(message):
            return name
    return ""


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a reply asks to wait, from 0; None: it does not ask, or unreadably.

    Args:
        headers: with `retry-after-ms`, or `retry-after` in seconds or as an HTTP date.
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        with contextlib.suppress(TypeError, ValueError):
            seconds = float(headers.get(name, "")) / unit
            return max(0.0, seconds) if seconds < float("inf") else None
    with contextlib.suppress(TypeError, ValueError, IndexError, OverflowError):
        date = parsedate_to_datetime(headers.get("retry-after", ""))
        if date.tzinfo is None:
            date = date.replace(tzinfo=timezone.utc)
        return max(0.0, (date - datetime.now(timezone.utc)).total_seconds())
    return None


# ---------------------------------------------------------------------- faults of replies


def of_status(status: int, body: Any, headers: Mapping[str, str], sent: Mapping[str, Any]) -> Fault:
    """Return the fault that a reply with an error status is.

    Args:
        status: HTTP status.
        body: decoded JSON, the error within it, or a text.
        headers: of the reply.
        sent: the request's body.
    """
    message, code, parameter = told_by(body)
    whole = f"{code} {message}"
    told = f"HTTP {status}" + (f": {message}" if message else "")
    if status in (400, 403, 451) and FILTER.search(whole):
        return Fault(WITHHELD, told)
    if status in (401, 403):  # not the server's words: they may quote a part of the key
        return Fault(
            FATAL,
            f"HTTP {status}: it refuses the key. Set the environment variable OPENAI_API_KEY to a "
            "key of this server.",
        )
    if status == 402 or _NO_CREDIT.search(whole):
        return Fault(FATAL, f"{told}. Nothing is left to pay for requests with.")
    if 300 <= status < 400 or status == 405:
        return Fault(FATAL, f"{told}. It takes no requests at this address: correct base_url.")
    if status == 429:
        return _too_many(message, told, retry_after(headers))
    known_model = str(sent.get("model") or "")
    if status == 404 and (not message or message == "Not Found" or message == "an HTML page"):
        return Fault(FATAL, f"{told}. It has no such address: correct base_url.")
    if status in (400, 404) and (
        _NO_MODEL.search(whole) or (status == 404 and known_model and known_model in message)
    ):
        return Fault(FATAL, f"{told}. It does not know the model {known_model!r}: correct model.")
    if status in (400, 422, 500, 501) and not TOO_LONG.search(whole):
        name = _not_taken(message, parameter, sent)
        if name:
            return Fault(NOT_TAKEN, told, parameter=name)
    if status >= 500 or status in (408, 409, 425):
        return Fault(TROUBLE, told, retry_after(headers))
    return Fault(REFUSED, told)


def of_error(body: Mapping[str, Any], sent: Mapping[str, Any]) -> Fault:
    """Return the fault that an error object in a reply with status 200 is.

    Args:
        body: the object, or what it lies in.
        sent: the request's body.
    """
    message, code, _ = told_by(body)
    whole = f"{code} {message}"
    told = f"an error with status 200: {whole.strip()}"
    if FILTER.search(whole):
        return Fault(WITHHELD, told)
    if TOO_LONG.search(whole):
        return Fault(REFUSED, told)
    status = re.match(r"[45]\d\d\b", code)
    if status:  # the one that the server, or another one behind it, would have replied with
        fault = of_status(int(status[0]), body, {}, sent)
        fault.reason = f"an error with status 200: {fault.reason}"
        return fault
    if re.search(r"\b429\b|rate.?limit", whole, re.IGNORECASE):
        return _too_many(message, told, None)
    return Fault(TROUBLE, told)


def _too_many(message: str, told: str, wait: float | None) -> Fault:
    """Return the fault of a request that a limit of a server stands against."""
    found = _LIMIT.search(message)
    limit, asked = (int(f"0{own}".replace(",", "")) for own in found.groups()) if found else (0, 0)
    if asked > limit or _TOO_LARGE.search(message):
        return Fault(TOO_MUCH, told)
    return Fault(BUSY, told, wait)


# ---------------------------------------------------------------------- faults of connections


def _beneath(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and those that it came from."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def of_connection(error: BaseException, *, has_answered: bool) -> Fault:
    """Return the fault that a broken or impossible connection is.

    Args:
        error: of the HTTP library; its words are not quoted, as they may hold a header.
        has_answered: whether the server has answered any request: then a name that cannot be
            resolved is a passing fault.
    """
    name = type(error).__name__
    for one in _beneath(error):
        if isinstance(one, ssl.SSLCertVerificationError):
            return Fault(
                FATAL,
                f"its certificate is not accepted ({one.verify_message}). Give ca_cert_path=FILE "
                "in model_args, or verify_certificate=False.",
            )
        if isinstance(one, ssl.SSLError) and "WRONG_VERSION_NUMBER" in str(one):
            return Fault(FATAL, "it does not speak https: correct base_url.")
        if isinstance(one, socket.gaierror) and not has_answered:
            return Fault(FATAL, "its host name cannot be resolved: correct base_url.")
        if isinstance(one, OSError) and not isinstance(one, ssl.SSLError):
            name = type(one).__name__
    return Fault(TROUBLE, f"no connection, or a broken one ({name})")
