"""Run a function over many items in threads, in order and with few items in memory."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

# Tokenizing scales no further: its threads share the interpreter between calls.
_MOST = 16


def usable_cores() -> int:
    """Return the number of processor cores this process may use, at least 1."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_order(
    function: Callable[[Item], Result], items: Iterable[Item], threads: int | None = None
) -> Iterator[Result]:
    """Yield `function(item)` for each item, in order, computed ahead in threads.

    Items are taken only as fast as results are: at most twice as many as threads are under way.
    The threads end with the iteration, so that a later fork meets none.

    Args:
        function: must release the interpreter lock for its main work, or threads do not help.
        items: taken in the caller's thread.
        threads: how many; None: one for each core, 16 at most.
    """
    threads = min(usable_cores(), _MOST) if threads is None else threads
    if threads < 2:
        yield from map(function, items)
        return
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="longbench-tokenize") as pool:
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) >= 2 * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
