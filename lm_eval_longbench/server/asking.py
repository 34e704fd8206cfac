"""Ask many requests: in which order, how many at a time, and what becomes of each."""

from __future__ import annotations

import asyncio
import heapq
import json
import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count
from typing import Any

from lm_eval_longbench.errors import Interrupted, LongBenchError, RunStopped, few
from lm_eval_longbench.records.answer import CAPPED, FAILED, FILTERED, Answer
from lm_eval_longbench.server import faults
from lm_eval_longbench.server.client import Client, Request, Taken
from lm_eval_longbench.server.faults import BUSY, TROUBLE, WITHHELD, Fault
from lm_eval_longbench.server.pace import Flight, Pace
from lm_eval_longbench.server.reply import CUT_OFF

# ---------------------------------------------------------------------- which request goes out next


@dataclass(eq=False)
class OpenQuestion:
    """Requests that differ in their seeds alone.

    Attributes:
        left: indices of those that have not gone out, in the order of their seeds.
        known: whether the server has computed its prompt: one of them has been answered.
        flying: how many of its jobs are in flight.
        at: number of the job that last went out for it, from 1.
        single: whether each request of it goes out alone.
    """

    left: list[int]
    known: bool = False
    single: bool = False
    flying: int = 0
    at: int = 0


@dataclass(eq=False)
class Job:
    """Requests that go out as one.

    Attributes:
        question: that they belong to.
        indices: of the requests; several are asked for with `n`.
        attempts: that have failed.
        refused: times that the server had too many requests.
        wait: seconds that it then asked for, the last time.
        waited: those of them all after which it refused this one again and had answered others.
        alone: how often in turn it failed while the server answered others.
        since: when it was first sent, or when it last failed; 0: it has not been sent.
    """

    question: OpenQuestion
    indices: list[int] = field(default_factory=list)
    attempts: int = 0
    refused: int = 0
    wait: float = 0.0
    waited: float = 0.0
    alone: int = 0
    since: float = 0.0


def questions(requests: Sequence[Request]) -> list[list[int]]:
    """Return the indices of requests, question by question, those of one document together.

    A question is a prompt and its parameters; its requests differ in their seeds alone and are in
    the order of these.
    """
    documents: dict[str, dict[tuple[str, str], list[int]]] = {}
    seeds: list[int] = []
    for index, request in enumerate(requests):
        prompt = sha256(request.prompt.encode("utf-8", "surrogatepass")).hexdigest()
        own = documents.setdefault(request.document or prompt, {})
        parameters = json.dumps(request.parameters, sort_keys=True, default=str)
        own.setdefault((prompt, parameters), []).append(index)
        seeds.append(request.seed or 0)
    for own in documents.values():
        for indices in own.values():
            indices.sort(key=seeds.__getitem__)
    return [indices for own in documents.values() for indices in own.values()]


class Order:
    """All that has not gone out.

    Repeats of questions whose prompt the server knows go before new questions. One whose first
    request is still in flight gets its next repeat before others have used twice as many prompts
    as requests may be in flight: a prefix cache would soon lose its prompt. As each job that goes
    out has such a time of its own, there is always room, and fewer questions are open than that.

    Args:
        requests: what is asked.
        concurrent: requests in flight at most.
        taken: what the server takes.
    """

    def __init__(self, requests: Sequence[Request], concurrent: int, taken: Taken) -> None:
        self._requests = requests
        self._taken = taken
        # Less than 2 x concurrent, as requests overtake each other on their way.
        self._furthest = max(1, 2 * concurrent - 1 - concurrent // 2)
        self._sent = 0
        self._new = deque(Job(OpenQuestion(indices)) for indices in questions(requests))
        # Questions with repeats left, the one first that went out longest ago: a dict has order.
        self._open: dict[OpenQuestion, None] = {}

    def __bool__(self) -> bool:
        return bool(self._new or self._open)

    @property
    def can_tell(self) -> bool:
        """Whether a request can go out that was not refused: it tells how the server is."""
        return self._due() is not None or not all(job.refused for job in self._new)

    def take(self) -> Job | None:
        """Return what goes out now; None: nothing before the next answer."""
        question = self._due()
        if question is not None:
            job = Job(question)
        elif self._new:
            job = self._new.popleft()
        else:
            return None
        self._fill(job)
        self._sent += 1
        job.question.at = self._sent
        job.question.flying += 1
        self._open.pop(job.question, None)
        if job.question.left:
            self._open[job.question] = None
        return job

    def landed(self, job: Job) -> None:
        """Note that a job is no more in flight."""
        job.question.flying -= 1

    def bring_back(self, job: Job, *, at_end: bool = False) -> None:
        """Let a job go out again: before new questions, or after all of them."""
        if at_end:
            self._new.append(job)
        else:
            self._new.appendleft(job)

    def settle(self, job: Job, missing: Sequence[int] = ()) -> None:
        """Note that a job has been answered or has failed for good.

        Args:
            job: that has ended.
            missing: its requests that have no answer; they are asked again.
        """
        job.question.known = True
        job.question.left[:0] = missing
        if job.question.left:
            self._open.setdefault(job.question)

    def _due(self) -> OpenQuestion | None:
        for question in self._open:
            late = self._sent + 1 - question.at >= self._furthest
            if question.known or (question.flying and late):
                return question
        return None

    def _fill(self, job: Job) -> None:
        """Give a job as many requests as one can ask for."""
        left = job.question.left
        left[:0], job.indices = job.indices, []
        number = 1
        if self._taken.knows_n and not job.question.single:
            seeds = [self._requests[index].seed for index in left]
            # The seed of a further answer is, if anything, the next number.
            while number < len(seeds) and seeds[number] == (
                None if seeds[0] is None else seeds[0] + number
            ):
                number += 1
        job.indices, left[:number] = left[:number], []


# ---------------------------------------------------------------------- many requests

logger = logging.getLogger(__name__)

# Seconds that requests in flight get to finish when a run stops.
GRACE = 10.0
# Requests that have failed for good before their share counts.
LEAST_FAILED = 6
# Times in turn that a request must fail while others are answered, to fail for good: once can
# happen to one that was sent the moment before a server came back.
_ALONE = 2
# Seconds between two looks at whether to stop.
_TICK = 0.1
_SHOWN = 3

Keep = Callable[[int, Answer], None]
Outcome = list[Answer | Fault] | Fault


@dataclass(frozen=True)
class Manners:
    """How a server is treated.

    Attributes:
        num_concurrent: requests in flight at most.
        patience: seconds without a sign of life after which the server counts as dead, and that a
            request may wait which it refuses while it answers others.
        max_failed: share of requests that may fail for good.
        tries: attempts of a request while others are answered.
    """

    num_concurrent: int = 8
    patience: float = 900.0
    max_failed: float = 0.05
    tries: int = 6


class Asker:
    """Asks all requests once.

    Args:
        client: that asks.
        requests: what is asked.
        manners: how the server is treated.
        keep: called with a request's index and its answer the moment that it is there.
        stopping: whether to send nothing more.
        bar: shows progress; a tqdm bar.
    """

    def __init__(
        self,
        client: Client,
        requests: Sequence[Request],
        manners: Manners,
        keep: Keep,
        stopping: Callable[[], bool],
        bar: Any,
    ) -> None:
        self._client = client
        self._requests = requests
        self._manners = manners
        self._keep = keep
        self._stopping = stopping
        self._bar = bar
        self._pace = Pace(manners.num_concurrent, manners.patience)
        self._answers: dict[int, Answer] = {}
        self._order = Order(requests, manners.num_concurrent, client.taken)
        self._waiting: list[tuple[float, int, bool, Job]] = []
        self._places = count()
        self._flying: dict[asyncio.Task[Outcome], tuple[Job, Flight]] = {}
        self._failed: Counter[str] = Counter()
        self._capped = 0
        self._stop: LongBenchError | None = None
        self._grace = GRACE
        self._proving = asyncio.Lock()
        self._proved = 0.0  # when a tiny request was last sent

    async def run(self) -> list[Answer]:
        """Open the client, and return one answer a request, in order.

        Raises:
            Interrupted: `stopping` said so; requests in flight had GRACE seconds to finish.
            RunStopped: the server is dead or refuses every request, or too many failed.
            Exception: what `keep` raised.
        """
        async with self._client:
            try:
                while self._order or self._waiting or self._flying:
                    self._look_whether_to_stop()
                    if self._stop is not None:
                        await self._finish(self._stop)
                    self._bring_back()
                    while self._pace.has_room(len(self._flying)):
                        job = self._order.take()
                        if job is None:
                            break
                        self._send(job)
                    await self._settle(_TICK)
            finally:
                for task in self._flying:
                    task.cancel()
                await asyncio.gather(*self._flying, return_exceptions=True)
        self._say_failures()
        return [self._answers[index] for index in range(len(self._requests))]

    # ------------------------------------------------------------------ what goes out

    def _send(self, job: Job) -> None:
        flight = Flight(allowance=self._client.allowance(self._requests[job.indices[0]]))
        job.since = job.since or flight.sent
        self._flying[asyncio.ensure_future(self._asked(job, flight))] = (job, flight)

    async def _asked(self, job: Job, flight: Flight) -> Outcome:
        """Return the answers to a job, or its fault."""
        request = self._requests[job.indices[0]]
        try:
            found = await self._client.ask(request, len(job.indices), self._pace.heard)
        except Fault as fault:
            return await self._with_proof(job, flight, fault)
        except Exception as error:  # a reply that nobody foresaw must not cost the others
            logger.debug("A reply cannot be read.", exc_info=True)
            odd = Fault(TROUBLE, f"a reply that cannot be read ({type(error).__name__})")
            return await self._with_proof(job, flight, odd)
        if not any(isinstance(one, Answer) for one in found) and isinstance(found[0], Fault):
            return await self._with_proof(job, flight, found[0])
        return found

    async def _with_proof(self, job: Job, flight: Flight, fault: Fault) -> Fault:
        """Return a fault, once it is known whether the server answers other requests.

        Where none is asked that could tell, as at the end of a run, a tiny one is.
        """
        late = job.attempts + _ALONE >= self._manners.tries or self._holds_up(flight, fault)
        if (fault.kind == TROUBLE and late) or (
            fault.kind == BUSY and job.refused and not self._order.can_tell
        ):
            async with self._proving:
                if not self._others_answered(job) and self._proved < flight.sent:
                    self._proved = time.monotonic()
                    if await self._client.is_alive(self._requests[job.indices[0]]):
                        self._pace.alive(self._proved)
        return fault

    def _holds_up(self, flight: Flight, fault: Fault) -> bool:
        """Whether a request that fails so would hold up the others, if it were sent before them."""
        took = time.monotonic() - flight.sent
        return fault.wait is not None or took > self._pace.at_most()

    def _others_answered(self, job: Job) -> bool:
        """Whether the server has answered another request since this one last failed."""
        return self._pace.last_answer > job.since

    def _bring_back(self) -> None:
        """Put the jobs whose time has come back into the queue."""
        while self._waiting and self._waiting[0][0] <= time.monotonic():
            _, _, at_end, job = heapq.heappop(self._waiting)
            self._order.bring_back(job, at_end=at_end)

    def _wait(self, job: Job, seconds: float, *, at_end: bool = False) -> None:
        due = time.monotonic() + self._pace.at_most(seconds)
        heapq.heappush(self._waiting, (due, next(self._places), at_end, job))

    # ------------------------------------------------------------------ what comes back

    async def _settle(self, seconds: float) -> None:
        """Wait for some seconds, or until a request ends, and see to those that have ended."""
        if self._waiting:
            seconds = min(seconds, max(0.0, self._waiting[0][0] - time.monotonic()) + 0.001)
        if not self._flying:
            await asyncio.sleep(seconds)
            return
        ended, _ = await asyncio.wait(
            self._flying, timeout=seconds, return_when=asyncio.FIRST_COMPLETED
        )
        for task in ended:
            job, flight = self._flying.pop(task)
            self._order.landed(job)
            outcome = task.result()
            if isinstance(outcome, Fault):
                self._see_to(job, flight, outcome)
            else:
                self._take(job, flight, outcome)

    def _take(self, job: Job, flight: Flight, found: list[Answer | Fault]) -> None:
        """Keep the answers of a request; what is missing is asked for one by one."""
        self._pace.answered(flight)
        missing = []
        for place, index in enumerate(job.indices):
            answer = found[place] if place < len(found) else None
            if isinstance(answer, Answer):
                self._file(index, answer)
            else:
                missing.append(index)
        if len(found) < len(job.indices):
            self._client.taken.leave_out(
                "n", f"It gave {len(found)} answers where {len(job.indices)} were asked for."
            )
        self._order.settle(job, missing)

    def _see_to(self, job: Job, flight: Flight, fault: Fault) -> None:
        """Decide what follows from a fault."""
        if fault.kind == BUSY:
            self._put_off(job, flight, fault)
        elif fault.kind == faults.TOO_MUCH:
            self._pace.answered(flight)
            self._give_up(job, fault.reason)
        elif fault.kind == faults.FATAL:
            self._stop = self._stop or RunStopped(f"The run stops. {fault.reason}")
            self._order.bring_back(job, at_end=True)
        elif fault.kind == faults.NOT_TAKEN:
            self._order.bring_back(job)
        elif fault.kind in (faults.REFUSED, WITHHELD):
            self._pace.answered(flight)
            self._fail(job, FILTERED if fault.kind == WITHHELD else FAILED, fault.reason)
        else:
            self._retry(job, flight, fault)

    def _put_off(self, job: Job, flight: Flight, fault: Fault) -> None:
        """Send a job that the server refuses for now again after all others.

        If it answers others all the while, the job fails for good when patience ends.
        """
        own = self._pace.served > job.since
        job.waited += job.wait if own else 0.0
        if own and job.refused and job.waited >= self._manners.patience:
            self._give_up(job, fault.reason)
            return
        job.refused += 1
        job.since = time.monotonic()
        job.wait = max(fault.wait or 0.0, self._pace.backoff(job.refused))
        self._pace.busy(flight, job.indices[0], fault.reason, fault.wait, own=own)
        self._wait(job, job.wait, at_end=True)

    def _give_up(self, job: Job, reason: str) -> None:
        """Let a job fail that a limit stands against; one with several answers asks for less."""
        if len(job.indices) > 1:
            job.question.single = True
            self._order.bring_back(Job(job.question, job.indices), at_end=True)
        else:
            self._fail(job, FAILED, reason)

    def _retry(self, job: Job, flight: Flight, fault: Fault) -> None:
        """Send a job again, now or once the server is back, or let it fail for good."""
        job.attempts += 1
        job.alone = job.alone + 1 if self._others_answered(job) else 0
        tried = job.attempts >= self._manners.tries
        if not tried or job.alone < min(_ALONE, self._manners.tries):
            job.since = time.monotonic()
            self._pace.failed(job.indices[0], fault.reason, fault.wait)
            if fault.reason == CUT_OFF:
                self._pace.cut_off(job.indices[0])
            wait = max(fault.wait or 0.0, self._pace.backoff(job.attempts))
            self._wait(job, wait, at_end=tried or self._holds_up(flight, fault))
        else:
            if len(job.indices) > 1:
                self._client.taken.leave_out("n", fault.reason)
            self._give_up(job, fault.reason)

    def _fail(self, job: Job, state: str, reason: str) -> None:
        for index in job.indices:
            if state == FAILED:
                self._failed[reason] += 1
            self._file(index, Answer("", state, reason, at=time.time()))
        self._order.settle(job)
        failed, asked = self._failed.total(), len(self._answers)
        if failed >= LEAST_FAILED and failed > self._manners.max_failed * asked:
            self._stop = self._stop or RunStopped(
                f"The run stops: {failed} of the {asked} requests so far have failed for good, "
                f"more than max_failed={self._manners.max_failed:g} allows. {self._reasons()}"
            )

    def _file(self, index: int, answer: Answer) -> None:
        self._keep(index, answer)
        self._answers[index] = answer
        self._capped += answer.finish_reason == CAPPED
        self._bar.set_postfix(failed=self._failed.total(), capped=self._capped, refresh=False)
        self._bar.update(1)

    # ------------------------------------------------------------------ the end

    def _look_whether_to_stop(self) -> None:
        flights = [flight for _, flight in self._flying.values()]
        reached = self._client.has_answered
        self._pace.say(len(flights), self._waiting[0][0] if self._waiting else 0.0, reached=reached)
        if self._stop is None and self._stopping():
            self._stop = Interrupted(
                f"Stopped by a signal; {len(self._answers)} of {len(self._requests)} requests are "
                "answered."
            )
        dead = self._pace.why_dead(flights, self._client.server.shown, reached=reached)
        if self._stop is None and dead:
            self._stop = RunStopped(
                f"The run stops. {dead} "
                f"{len(self._answers)} of {len(self._requests)} requests are answered."
            )
            self._grace = 0.0

    async def _finish(self, error: LongBenchError) -> None:
        """Give the requests in flight their time, then raise the error."""
        until = time.monotonic() + self._grace
        while self._flying and time.monotonic() < until:
            await self._settle(min(_TICK, max(0.0, until - time.monotonic())))
        raise error

    def _reasons(self) -> str:
        told = [f"{number} x {reason}" for reason, number in self._failed.most_common()]
        return few(told, _SHOWN, "; ")

    def _say_failures(self) -> None:
        if self._failed:
            logger.warning(
                f"{self._failed.total()} of {len(self._requests)} requests have failed for good: "
                f"{self._reasons()}."
            )
