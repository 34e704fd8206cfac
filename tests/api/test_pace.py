"""Adaptive concurrency, waits and patience."""

import itertools
import time

import pytest

from lm_eval_longbench.api.pace import Flight, Pace


def test_429_halves_once_for_all_that_were_sent_before_it():
    pace = Pace(8, 900)
    wave = [Flight() for _ in range(8)]
    for flight in wave:
        pace.busy(flight, "HTTP 429", 0.0)
    assert pace.limit == 4
    pace.busy(Flight(), "HTTP 429", 0.0)
    assert pace.limit == 2
    for _ in range(5):
        pace.busy(Flight(), "HTTP 429", 0.0)
    assert pace.limit == 1


def test_it_grows_by_one_after_some_answers_and_never_above_the_most():
    pace = Pace(4, 900)
    pace.busy(Flight(), "HTTP 429", 0.0)
    grown = []
    for _ in range(60):
        pace.answered()
        grown.append(pace.limit)
    assert grown[0] == 2 and grown[-1] == 4
    assert {b - a for a, b in itertools.pairwise(grown)} == {0, 1}
    assert grown.index(3) >= 3


def test_retry_after_holds_everything():
    pace = Pace(4, 900)
    pace.busy(Flight(), "HTTP 429", 0.1)
    assert not pace.has_room(0)
    time.sleep(0.11)
    assert pace.has_room(0)


def test_waits_grow_and_have_jitter():
    pace = Pace(4, 900)
    waits = [[pace.backoff(attempts) for _ in range(20)] for attempts in range(1, 9)]
    assert all(len(set(own)) > 1 for own in waits)
    assert max(waits[0]) < min(waits[3])
    assert max(waits[-1]) <= 60


def test_after_failures_in_a_row_one_request_at_a_time_looks_for_the_server():
    pace = Pace(3, 0.001)  # which keeps the waits short
    for _ in range(3):
        pace.failed("reset", None)
    time.sleep(0.01)
    assert pace.has_room(0) and not pace.has_room(1)
    pace.answered()
    assert pace.has_room(2)


@pytest.mark.parametrize("kind", ["failed", "busy"])
def test_a_server_is_dead_when_patience_ends(kind):
    pace = Pace(2, 0.05)
    before = Flight()
    assert not pace.is_dead([])
    time.sleep(0.06)
    assert not pace.is_dead([])  # nothing has failed
    if kind == "failed":
        pace.failed("reset", None)
    else:
        pace.busy(Flight(), "HTTP 429", None)
    assert pace.is_dead([])
    assert not pace.is_dead([before])  # sent before the trouble began: it has its own time
    after = Flight()
    assert pace.is_dead([after])
    after.speak()
    assert not pace.is_dead([after])
    pace.answered()
    assert not pace.is_dead([])


def test_it_says_once_that_the_server_does_not_answer_and_that_it_does_again(caplog):
    pace = Pace(1, 0.04)
    pace.say()
    pace.failed("reset", None)
    time.sleep(0.03)
    for _ in range(5):
        pace.say()
    (said,) = caplog.messages
    assert "(reset)" in said and "patience" in said
    pace.answered()
    assert caplog.messages[-1] == "The server answers again."


def test_answers_that_are_cut_off_are_asked_for_one_at_a_time():
    pace = Pace(8, 900)
    for request in (1, 2, 3, 1, 2):
        pace.cut_off(request)
    assert pace.limit == 8
    pace.cut_off(3)
    assert pace.limit == 1
    pace.busy(Flight(), "HTTP 429", 0.0)
    for _ in range(100):
        pace.answered()
    assert pace.limit == 1
    for _ in range(2):
        pace.answered()
    assert pace.limit == 2


@pytest.mark.parametrize("requests", [(1,) * 20, (1, 2) * 10, range(5)])
def test_one_question_whose_answers_are_cut_off_shows_nothing(requests):
    pace = Pace(8, 900)
    for request in requests:
        pace.cut_off(request)
    assert pace.limit == 8


def test_a_third_of_the_answers_may_be_cut_off():
    pace = Pace(8, 900)
    for request in range(20):
        pace.cut_off(request)
        pace.answered()
        pace.answered()
    assert pace.limit == 8
