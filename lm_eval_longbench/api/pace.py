"""How many requests are in flight, and how long to wait: adaptive concurrency and patience."""

from __future__ import annotations

import logging
import os
import random
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

logger = logging.getLogger(__name__)

# Answers in a row, in units of the present concurrency, after which one more request goes out.
_ROUNDS = 2
# Seconds before a request is sent a second time; each further wait is twice as long.
FIRST_WAIT = 1.0
_LONGEST_WAIT = 60.0
# Some servers end an answer in its middle when the next request comes. They show by so many answers
# that were cut off, of so many requests, among the latest outcomes.
_LATEST, _CUT_OFF, _CUT_REQUESTS = 12, 6, 3
# Answers for which requests then go out one at a time.
_ONE_BY_ONE = 100
# Seconds between two lines of the log on a server that does not answer.
_SAID_EVERY = 60.0


@dataclass
class Flight:
    """One request on its way.

    Attributes:
        sent: when it was sent.
        speaks: whether a part of its answer has come.
    """

    sent: float = field(default_factory=time.monotonic)
    speaks: bool = False

    def speak(self) -> None:
        """Note that a part of the answer has come."""
        self.speaks = True


class Pace:
    """Concurrency and waits.

    Args:
        most: requests in flight at most.
        patience: seconds without an answer after which a server counts as dead.

    Attributes:
        limit: requests in flight at present.
        last_answer: when the server last answered anything; None: it has not yet.
    """

    def __init__(self, most: int, patience: float) -> None:
        self.most = most
        self.limit = most
        self.patience = patience
        self.last_answer: float | None = None
        self._since = time.monotonic()  # the last answer, or the beginning
        self._halved = 0.0
        self._answers = 0
        self._not_before = 0.0
        self._failures = self._waves = 0
        self._latest: deque[int | None] = deque(maxlen=_LATEST)  # requests cut off; None: answers
        self._trouble_since: float | None = None
        self._reason = ""
        self._said = float("-inf")
        # Processes that ask one server are not to come back all at one time.
        self._jitter = random.Random(os.getpid())  # noqa: S311  no secret

    # ------------------------------------------------------------------ what happens

    def answered(self) -> None:
        """Note an answer; a refusal of one request is one too."""
        if self._said > self._since:
            logger.warning("The server answers again.")
        self.last_answer = self._since = time.monotonic()
        self._failures = self._waves = 0
        self._trouble_since = None
        self._latest.append(None)
        self._answers += 1
        if self._answers >= _ROUNDS * self.limit and self.limit < self.most:
            self.limit += 1
            self._answers = 0

    def busy(self, flight: Flight, reason: str, wait: float | None) -> None:
        """Note that the server has too many requests: halve them, once for all sent before."""
        now = time.monotonic()
        self._note(now, reason)
        if flight.sent >= self._halved:
            self.limit = max(1, self.limit // 2)
            self._halved = now
            self._answers = min(0, self._answers)
            self._waves += 1
            self.hold(self.backoff(self._waves) if wait is None else wait)
        elif wait is not None:
            self.hold(wait)

    def cut_off(self, request: int) -> None:
        """Note that a request's answer ended in its middle: after some, ask one at a time."""
        self._latest.append(request)
        cut = [own for own in self._latest if own is not None]
        if self.limit > 1 and len(cut) >= _CUT_OFF and len(set(cut)) >= _CUT_REQUESTS:
            self.limit = 1
            self._answers = -_ONE_BY_ONE
            self._latest.clear()
            logger.warning(
                "The server ends answers in their middle while others are in flight. For the next "
                f"{_ONE_BY_ONE} answers it is asked for one at a time (num_concurrent=1)."
            )

    def failed(self, reason: str, wait: float | None) -> None:
        """Note a failure that may be the server's: after some in a row few requests go out."""
        self._note(time.monotonic(), reason)
        self._failures += 1
        if self._failures >= self.limit:
            self.hold(self.backoff(self._failures // self.limit))
        if wait is not None:
            self.hold(wait)

    def hold(self, seconds: float) -> None:
        """Send nothing for some seconds."""
        self._not_before = max(self._not_before, time.monotonic() + seconds)

    def _note(self, now: float, reason: str) -> None:
        self._reason = reason
        if self._trouble_since is None:
            self._trouble_since = now

    # ------------------------------------------------------------------ what follows

    def backoff(self, attempts: int) -> float:
        """Return the seconds to wait after some failed attempts, with jitter."""
        longest = min(_LONGEST_WAIT, self.patience / 10)
        wait = min(longest, FIRST_WAIT * 2 ** min(attempts - 1, 10))
        return wait * self._jitter.uniform(0.5, 1.0)

    def has_room(self, in_flight: int) -> bool:
        """Whether one more request may go out now."""
        allowed = 1 if self._failures >= self.limit else self.limit
        return in_flight < allowed and time.monotonic() >= self._not_before

    def is_dead(self, flights: Iterable[Flight]) -> bool:
        """Whether the server has answered nothing for as long as there is patience.

        A request that was sent before the trouble began, or whose answer is coming, is waited for.
        """
        began = self._trouble_since
        if began is None or time.monotonic() - self._since <= self.patience:
            return False
        return not any(flight.speaks or flight.sent < began for flight in flights)

    def say(self) -> None:
        """Say once a minute that the server does not answer, and how long it is waited for."""
        now = time.monotonic()
        silent = now - self._since
        if self._trouble_since is None or silent < min(_SAID_EVERY, self.patience / 2):
            return
        if now - self._said < _SAID_EVERY:
            return
        self._said = now
        logger.warning(
            f"The server has not answered for {silent:.0f} s ({self._reason}). It is "
            f"waited for until that is {self.patience:g} s (patience)."
        )

    @property
    def reason(self) -> str:
        """What last went wrong."""
        return self._reason
