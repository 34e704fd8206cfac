"""What a server sends has an end here: in seconds, and in bytes."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

Value = TypeVar("Value")
# Bytes that are read, and unpacked, at a time.
_PIECE = 2**16


def within(seconds: float, work: Callable[[], Value]) -> Value:
    """Return what a function returns, whatever it waits for.

    Raises:
        TimeoutError: it takes longer.
    """
    done: queue.SimpleQueue[tuple[Value | None, BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            done.put((work(), None))
        except BaseException as error:  # raised again where it is waited for
            done.put((None, error))

    # A daemon, for a name that is looked up cannot be stopped.
    threading.Thread(target=run, daemon=True).start()
    try:
        value, error = done.get(timeout=max(seconds, 0.01))
    except queue.Empty:
        raise TimeoutError(f"no answer within {seconds:.0f} seconds") from None
    if error is not None:
        raise error
    return value  # type: ignore[return-value]  # there is one where there is no error


def body_of(reply: Any, most: int) -> bytes:
    """Return the body of a reply of `requests`, asked for with `stream=True`.

    One that is larger than `most` bytes is cut: no JSON, as a reader will find.
    """
    body = bytearray()
    for piece in reply.iter_content(_PIECE):
        body += piece
        if len(body) > most:
            break
    reply.close()
    return bytes(body[:most])
