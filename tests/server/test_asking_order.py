"""The order of requests, in a simulation whose answers take random times."""

import heapq
import itertools
import random

import pytest
from api_asking import request

from lm_eval_longbench.server.asking import Order, questions
from lm_eval_longbench.server.client import Taken

TIMES = {
    "all alike": lambda rnd: 1.0,
    "little apart": lambda rnd: rnd.uniform(0.8, 1.2),
    "far apart": lambda rnd: rnd.lognormvariate(0, 2),
    "some hang": lambda rnd: rnd.choice([1.0] * 9 + [1000.0]),
}


def repeated(number, repeats, **more):
    """Requests as the harness orders them: a whole pass of questions for each seed."""
    return [
        request(f"question {index}", "completions", seed=1234 + seed, **more)
        for seed in range(repeats)
        for index in range(number)
    ]


def taking(*left_out):
    taken = Taken()
    taken.left_out = set(left_out)
    return taken


class Simulated:
    """A server that answers each request after its own time, and what it was sent."""

    def __init__(self, order, concurrent, seconds):
        self.order = order
        self.sent = []  # the question of each request
        self.indices = []
        self.unused = 0  # times that a place was free though some question had not been asked
        self.open = 0
        flying, now, number = [], 0.0, itertools.count()
        while order or flying:
            while len(flying) < concurrent and (job := order.take()):
                self.sent.append(job.question)
                self.indices += job.indices
                heapq.heappush(flying, (now + seconds(), next(number), job))
            self.open = max(self.open, len(order._open))
            self.unused += len(flying) < concurrent and bool(order._new)
            now, _, job = heapq.heappop(flying)
            order.landed(job)
            order.settle(job)

    def distances(self):
        """How many requests later the same question was sent again."""
        places = {}
        for place, own in enumerate(self.sent):
            places.setdefault(own, []).append(place)
        return [b - a for own in places.values() for a, b in itertools.pairwise(own)]


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("repeats", [2, 3, 8])
@pytest.mark.parametrize("concurrent", [1, 2, 3, 8, 32])
def test_a_prompt_is_used_again_before_twice_as_many_others(concurrent, repeats, times):
    rnd = random.Random(f"{concurrent} {repeats} {times}")
    requests = repeated(150, repeats)
    order = Order(requests, concurrent, taking("n"))
    told = Simulated(order, concurrent, lambda: TIMES[times](rnd))
    assert sorted(told.indices) == list(range(len(requests)))
    assert len(told.distances()) == 150 * (repeats - 1)
    assert max(told.distances()) < 2 * concurrent
    assert told.unused == 0
    assert told.open <= 2 * concurrent


def test_repeats_wait_for_the_first_answer_where_times_are_alike():
    order = Order(repeated(3, 3), 8, taking("n"))
    first, second = order.take(), order.take()
    assert (first.indices, second.indices) == ([0], [1])
    order.landed(first)
    order.settle(first)
    # Nothing of the second question is known, and the third one is new.
    assert [order.take().indices for _ in range(3)] == [[3], [6], [2]]
    assert order.take() is None
    order.landed(second)
    order.settle(second)
    assert [order.take().indices for _ in range(2)] == [[4], [7]]


def test_a_repeat_goes_out_in_time_though_the_first_has_no_answer():
    order = Order(repeated(10, 2), 2, taking("n"))
    assert [order.take().indices for _ in range(3)] == [[0], [1], [10]]


def test_one_question_does_not_go_out_before_its_first_answer():
    order = Order(repeated(1, 3), 8, taking("n"))
    job = order.take()
    assert order.take() is None and order
    order.landed(job)
    order.settle(job)
    assert [order.take().indices for _ in range(2)] == [[1], [2]]
    assert order.take() is None and not order


def test_n_that_is_refused_splits_the_job():
    taken = taking()
    order = Order(repeated(2, 3), 2, taken)
    job = order.take()
    order.landed(job)
    taken.left_out.add("n")
    order.bring_back(job)
    assert order.take().indices == [0]
    order.settle(job)
    assert [order.take().indices for _ in range(3)] == [[2], [4], [1]]


def test_questions_of_a_document_are_neighbours_and_repeats_together():
    requests = [
        request(text, "completions", seed=seed, document=document)
        for seed in (8, 7)
        for text, document in (("a1", "A"), ("b1", "B"), ("a2", "A"), ("no document", None))
    ]
    assert questions(requests) == [[4, 0], [6, 2], [5, 1], [7, 3]]
