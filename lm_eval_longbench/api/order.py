"""Which request goes out next: a question's repeats soon after its first one."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from lm_eval_longbench.api.client import Request, Taken


@dataclass(eq=False)
class OpenQuestion:
    """Requests that differ in their seeds alone.

    Attributes:
        left: indices of those that have not gone out, in the order of their seeds.
        known: whether the server has computed its prompt: one of them has been answered.
        flying: how many of its jobs are in flight.
        at: number of the job that last went out for it, from 1.
    """

    left: list[int]
    known: bool = False
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
        alone: how often in turn it failed while the server answered others.
        since: when it was first sent, or when it last failed.
    """

    question: OpenQuestion
    indices: list[int] = field(default_factory=list)
    attempts: int = 0
    refused: int = 0
    alone: int = 0
    since: float | None = None


def questions(requests: Sequence[Request]) -> list[list[int]]:
    """Return the indices of requests, question by question, those of one document together.

    A question is a prompt and its parameters; its requests differ in their seeds alone and are in
    the order of these.
    """
    documents: dict[str, dict[tuple[str, str], list[int]]] = {}
    for index, request in enumerate(requests):
        own = documents.setdefault(request.document or request.prompt, {})
        parameters = json.dumps(request.parameters, sort_keys=True, default=str)
        own.setdefault((request.prompt, parameters), []).append(index)
    for own in documents.values():
        for indices in own.values():
            indices.sort(key=lambda index: requests[index].seed or 0)
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
        if self._taken.knows_n:
            seeds = [self._requests[index].seed for index in left]
            # The seed of a further answer is, if anything, the next number.
            while number < len(seeds) and seeds[number] == (
                None if seeds[0] is None else seeds[0] + number
            ):
                number += 1
        job.indices, left[:number] = left[:number], []
