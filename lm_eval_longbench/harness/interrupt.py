"""End a run in good order: by a signal, or where it cannot go on.

What is in flight may be finished: for at most 10 s after a signal, and as long as it takes where
there is no signal. A second signal ends at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from lm_eval_longbench.errors import RunStopped
from lm_eval_longbench.harness.backend import replaced

# How long answers in flight are waited for after a signal, in seconds.
PATIENCE = 10.0
# A model that answers in batches reports all answers of one at once: so long after the last of them
# the batch is over.
_BATCH_IS_OVER = 0.5
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_HAS_TIMER = hasattr(signal, "setitimer")
# The harness logs each request that is cancelled, and asyncio what nobody waits for.
_NOISY = ("lm_eval.models.api_models", "asyncio")


class Stopped(KeyboardInterrupt):
    """Raised in the main thread where a run ends; nothing that catches errors catches it."""


class Stopping:
    """Whether a run is to stop; calling it says so.

    Attributes:
        signal: the first that came; None: none did.
        fault: why the run cannot go on; None: it can.
        answering: whether a model is being asked whose answers are kept.
        held: whether an answer is being written, which is waited for.
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        self.fault: RunStopped | None = None
        self.answering = False
        self.held = False
        self._deadline = 0.0
        self._watched = False
        self._process = os.getpid()

    def __call__(self) -> bool:
        """Whether nothing new is to be asked."""
        return self.signal is not None or self.fault is not None

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """While open, signals stop the run in good order. Only the main thread can be watched."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        handlers: dict[int, Callable[[int, Any], None]] = dict.fromkeys(_SIGNALS, self._on_signal)
        if _HAS_TIMER:
            handlers[signal.SIGALRM] = self._on_alarm
        before = {number: signal.signal(number, own) for number, own in handlers.items()}
        self._watched = True
        try:
            yield
        finally:
            self._watched = False
            if _HAS_TIMER and self():
                signal.setitimer(signal.ITIMER_REAL, 0)
            for number, own in before.items():
                signal.signal(number, own)

    def _on_signal(self, number: int, frame: Any) -> None:
        if os.getpid() != self._process:  # a child that was forked: the signal is for it alone
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        again = self.signal is not None
        self.signal = self.signal or number
        if again or not self.answering:
            self._raise()
        said = f"\nStopping: answers in flight are waited for, at most {PATIENCE:.0f} s. "
        os.write(2, f"{said}The next signal stops at once.\n".encode())
        self._deadline = time.monotonic() + PATIENCE
        self._alarm(PATIENCE)

    def _on_alarm(self, number: int, frame: Any) -> None:
        if self():
            self._raise()

    def _raise(self) -> None:
        if self.held and _HAS_TIMER:
            signal.setitimer(signal.ITIMER_REAL, 0.05)
        else:
            raise Stopped

    def _alarm(self, seconds: float) -> None:
        if _HAS_TIMER and threading.current_thread() is threading.main_thread():
            signal.setitimer(signal.ITIMER_REAL, seconds)

    def after_batch(self) -> None:
        """Stop when the batch is over, of which an answer has just come: if the run is to stop."""
        if self():
            left = self._deadline - time.monotonic() if self.signal is not None else _BATCH_IS_OVER
            self._alarm(max(0.01, min(_BATCH_IS_OVER, left)))

    def stop(self, fault: RunStopped) -> None:
        """Stop the run, which cannot go on."""
        self.fault = self.fault or fault

    def interrupt(self, fault: RunStopped) -> None:
        """Stop the run, which cannot go on, from another thread than that which waits."""
        self.stop(fault)
        if _HAS_TIMER and self._watched:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGALRM)


class _Gate:
    """A semaphore of the harness that lets no new request through once a run is to stop."""

    def __init__(self, own: asyncio.Semaphore, stopping: Stopping) -> None:
        self._own, self._stopping = own, stopping
        self._in_flight = 0

    async def acquire(self) -> bool:
        await self._own.acquire()
        if not self._stopping():
            self._in_flight += 1
            return True
        self._own.release()
        while self._in_flight:
            await asyncio.sleep(0.02)
        raise Stopped

    def release(self) -> None:
        self._in_flight -= 1
        self._own.release()


@contextlib.contextmanager
def gated(model: Any, stopping: Stopping) -> Iterator[None]:
    """While open, an API model of the harness asks nothing new once a run is to stop.

    Args:
        model: any other model is left as it is.
        stopping: says whether the run is to stop.
    """
    from lm_eval.models.api_models import TemplateAPI

    if not isinstance(model, TemplateAPI):
        yield
        return
    one, many = model.model_call, model.amodel_call
    gates: dict[asyncio.Semaphore, _Gate] = {}

    def model_call(*args: Any, **kwargs: Any) -> Any:
        if stopping():
            raise Stopped
        return one(*args, **kwargs)

    async def amodel_call(*args: Any, sem: asyncio.Semaphore, **kwargs: Any) -> Any:
        gate = gates.setdefault(sem, _Gate(sem, stopping))
        return await many(*args, sem=gate, **kwargs)

    def quiet(record: logging.LogRecord) -> bool:
        return not stopping()

    loggers = [logging.getLogger(name) for name in _NOISY]
    for logger in loggers:
        logger.addFilter(quiet)
    try:
        with replaced(model, model_call=model_call, amodel_call=amodel_call):
            yield
    finally:
        if not stopping():  # asyncio still says at the end of the process what nobody waits for
            for logger in loggers:
                logger.removeFilter(quiet)
