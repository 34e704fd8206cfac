"""The body of a reply: its bytes, unpacked and bounded, and the events of a stream."""

from __future__ import annotations

import contextlib
import functools
import json
import zlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

from lm_eval_longbench.server.faults import REFUSED, TROUBLE, Fault

# Bytes of a reply with an error status that are read.
_ERROR = 2**16
# Bytes that are unpacked at a time.
_PIECE = 2**16
# What zlib needs to be told to unpack gzip and deflate alike.
_EITHER = 32 + zlib.MAX_WBITS


class Body:
    """The bytes of a reply, unpacked, and no more of them than there is room for.

    Of a reply with an error status the rest is left out; any other is refused.

    Attributes:
        room: bytes that may still come.
        why: what the bound comes from, for the message.
    """

    def __init__(self, own: Any, encoding: str, *, is_error: bool) -> None:
        self.room = _ERROR
        self.why = ""
        self._own = own
        self._is_error = is_error
        packed = encoding.strip().lower() in ("gzip", "x-gzip", "deflate")
        self._packed = zlib.decompressobj(_EITHER) if packed else None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async with contextlib.aclosing(aiter(self._own)) as coming:
            async for raw in coming:
                for piece in self._unpacked(raw):
                    if len(piece) > self.room and not self._is_error:
                        raise Fault(REFUSED, f"the reply is larger than {self.why}")
                    yield piece[: self.room]
                    self.room -= len(piece)
                    if self.room <= 0 and self._is_error:
                        return

    async def aclose(self) -> None:
        """Close the reply's connection."""
        await self._own.aclose()

    def _unpacked(self, raw: bytes) -> Iterator[bytes]:
        if self._packed is None:
            yield raw
            return
        while raw and not self._packed.eof:
            try:
                piece = self._packed.decompress(raw, _PIECE)
            except zlib.error:
                raise Fault(TROUBLE, "a compressed reply that cannot be unpacked") from None
            raw = self._packed.unconsumed_tail
            if piece:
                yield piece


async def bound(response: Any) -> None:
    """Give a response of the HTTP package, of which nothing has been read yet, a `Body`."""
    encoding = response.headers.pop("content-encoding", "")
    own: Any = type(response.stream)
    response.stream = _body_that_is_a(own)(response.stream, encoding, is_error=response.is_error)


@functools.cache
def _body_that_is_a(stream: type) -> Any:
    """Return `Body` as a kind of stream of the HTTP package, which takes no other."""
    return type("Body", (Body, stream), {})


class Events:
    """The events of a stream, as its bytes come in.

    Attributes:
        done: whether the stream has said that it is at its end.
    """

    def __init__(self) -> None:
        self.done = False
        self._line: list[bytes] = []  # parts of one that is not at its end
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> Iterator[Any]:
        """Yield what the events that end with some bytes hold; comments hold nothing."""
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            line = b"".join([*self._line, line]).removesuffix(b"\r")
            self._line = []
            name, _, value = line.partition(b":")
            if name == b"data":
                self._data.append(value.strip())
            if line:
                continue
            data, self._data = b"\n".join(self._data), []
            if data.startswith(b"[DONE]"):
                self.done = True
                return
            if data:
                yield decoded(data)
        self._line.append(rest)


def decoded(raw: bytes) -> Any:
    """Return what JSON of a reply with status 200 holds.

    Raises:
        Fault: it is none.
    """
    try:
        return json.loads(raw)
    except ValueError:
        page = raw.lstrip()[:1] == b"<"
        what = "an HTML page" if page else "no JSON" if raw.strip() else "empty"
        raise Fault(TROUBLE, f"the reply with status 200 is {what}") from None
