"""How many requests are in flight, and how long to wait: adaptive concurrency and patience."""

from __future__ import annotations

import logging
import os
import random
import time
from collections import deque
from collections.abc import Collection
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
# Seconds between two lines of the log while no answer comes.
_SAID_EVERY = 60.0
# A server that nothing has ever come from: seconds until that is said, and until it is given up.
_NEVER_SAID, _NEVER = 3.0, 60.0
# The longest wait that a server can ask for, as a share of patience.
_LONGEST_ASKED = 0.25


@dataclass
class Flight:
    """One request on its way.

    Attributes:
        sent: when it was sent.
        allowance: seconds that it may be silent beyond `patience`, as its prompt is long.
    """

    sent: float = field(default_factory=time.monotonic)
    allowance: float = 0.0


class Pace:
    """Concurrency and waits.

    Args:
        most: requests in flight at most.
        patience: seconds without a sign of life after which a server counts as dead.

    Attributes:
        limit: requests in flight at present.
        last_answer: when the server last answered anything; -inf: it has not yet.
        served: when the latest request was sent that has been answered.
        reason: what last went wrong; "": nothing since the last answer.
    """

    def __init__(self, most: int, patience: float) -> None:
        self.most = most
        self.limit = most
        self.patience = patience
        self.last_answer = self.served = float("-inf")
        self.reason = ""
        self._since = self._news = time.monotonic()  # last sign of life, last answer; the beginning
        self._halved = 0.0
        self._answers = 0
        self._not_before = 0.0
        self._failures = self._waves = 0
        self._latest: deque[int | None] = deque(maxlen=_LATEST)  # requests cut off; None: answers
        self._trouble = False  # whether a request has failed since the last answer
        self._troubled: set[int] = set()  # requests that have
        self._said = float("-inf")
        # Processes that ask one server are not to come back all at one time.
        self._jitter = random.Random(os.getpid())  # noqa: S311  no secret

    # ------------------------------------------------------------------ what happens

    def alive(self, sent: float) -> None:
        """Note that the server answers, whatever it was asked, and when it was."""
        self.served = max(self.served, sent)
        self.last_answer = self._since = time.monotonic()
        self._failures = self._waves = 0
        self._trouble = False
        self._troubled.clear()

    def answered(self, flight: Flight) -> None:
        """Note the answer to a request; a refusal of that one alone is one too."""
        if self.reason and self._said > self._news:
            logger.warning("The server answers again.")
        self.alive(flight.sent)
        self._news = self._since
        self.reason = ""
        self._latest.append(None)
        self._answers += 1
        if self._answers >= _ROUNDS * self.limit and self.limit < self.most:
            self.limit += 1
            self._answers = 0

    def heard(self, part: bool) -> None:
        """Note bytes of a reply.

        Args:
            part: whether they are a part of an answer. Other bytes only show that the server is
                there; once a request has failed, that is not enough.
        """
        if part or not self._trouble:
            self._since = time.monotonic()

    def busy(
        self, flight: Flight, request: int, reason: str, wait: float | None, *, own: bool = False
    ) -> None:
        """Note that the server has too many requests: halve them, once for all sent before.

        Nothing is sent for a while if it refuses several requests and answers none between them.

        Args:
            flight: of the request.
            request: its index.
            reason: what the server says.
            wait: seconds that it asks for.
            own: whether it has answered others that were sent since it last refused this one.
        """
        if flight.sent >= self._halved:
            self.limit = max(1, self.limit // 2)
            self._halved = time.monotonic()
            self._answers = min(0, self._answers)
            self._waves += 1
        if self._all_troubled(request, reason) and not own:
            self.hold(self.backoff(self._waves) if wait is None else wait)

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

    def failed(self, request: int, reason: str, wait: float | None) -> None:
        """Note a failure that may be the server's: after some in a row few requests go out."""
        everyone = self._all_troubled(request, reason)
        self._failures += 1
        if self._failures >= self.limit:
            self.hold(self.backoff(self._failures // self.limit))
        if wait is not None and everyone:
            self.hold(wait)

    def hold(self, seconds: float) -> None:
        """Send nothing for some seconds, and not for longer than `at_most` allows."""
        self._not_before = max(self._not_before, time.monotonic() + self.at_most(seconds))

    def _all_troubled(self, request: int, reason: str) -> bool:
        """Note that a request failed; return whether others have since the last answer."""
        self.reason = reason
        self._trouble = True
        self._troubled.add(request)
        return len(self._troubled) > 1

    # ------------------------------------------------------------------ what follows

    def backoff(self, attempts: int) -> float:
        """Return the seconds to wait after some failed attempts, with jitter."""
        longest = min(_LONGEST_WAIT, self.patience / 10)
        wait = min(longest, FIRST_WAIT * 2.0 ** min(attempts - 1, 10))
        return wait * self._jitter.uniform(0.5, 1.0)

    def at_most(self, seconds: float = float("inf")) -> float:
        """Return the seconds to wait where a server asks for some: not all of the patience."""
        return min(seconds, self.patience * _LONGEST_ASKED)

    def has_room(self, in_flight: int) -> bool:
        """Whether one more request may go out now."""
        allowed = 1 if self._failures >= self.limit else self.limit
        return in_flight < allowed and time.monotonic() >= self._not_before

    def why_dead(self, flights: Collection[Flight], shown: str, *, reached: bool = True) -> str:
        """Return why a server counts as dead: no sign of life as long as there is patience.

        Args:
            flights: requests on their way; a long prompt has longer.
            shown: the server's address.
            reached: whether anything has ever come from it. Where nothing has, and a request has
                failed, and none is waited for, a minute is enough.

        Returns:
            A sentence or two; "" while it is waited for.
        """
        now = time.monotonic()
        last = f" Last: {self.reason}." if self.reason else ""
        waited_for = any(now - flight.sent >= _NEVER_SAID for flight in flights)
        if self._trouble and not (reached or waited_for):
            limit = min(_NEVER, self.patience)
            told = f"Nothing has ever come from {shown}, for {limit:g} s.{last}"
            told = f"{told} Make sure that it runs, and that base_url is right."
            return told if now - self._since > limit else ""
        longest = max((flight.allowance for flight in flights), default=0.0)
        told = f"{shown} has given no sign of life for {self.patience:g} s (patience).{last}"
        return told if now - self._since > self.patience + longest else ""

    def say(self, in_flight: int = 0, next_at: float = 0.0, *, reached: bool = True) -> None:
        """Say once a minute that no answer comes; the first time early where none ever came.

        Args:
            in_flight: requests on their way.
            next_at: when the first of those that wait is sent again.
            reached: as for `why_dead`.
        """
        now = time.monotonic()
        every = min(_SAID_EVERY, self.patience / 2)
        never = self._trouble and not reached
        if never and self._said < self._news:
            every = min(every, _NEVER_SAID)
        if now - max(self._news, self._said) < every:
            return
        self._said = now
        why = f" ({self.reason})" if self.reason else ""
        wait = max(self._not_before, next_at) - now
        then = f" The next one is sent in {wait:.0f} s." if not in_flight and wait >= 1 else ""
        limit = min(_NEVER, self.patience) if never else self.patience
        logger.warning(
            f"No answer for {now - self._news:.0f} s{why}; requests on their way: {in_flight}."
            f"{then} The run stops after {limit:g} s without a sign of the server (patience)."
        )
