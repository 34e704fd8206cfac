"""Adaptive concurrency, waits and patience."""

import itertools

import pytest

from lm_eval_longbench.server import pace as module
from lm_eval_longbench.server.pace import Flight, Pace

SHOWN = "http://h/v1"


class Clock:
    """What the time is; it goes on when it is told to."""

    now = 1000.0

    def monotonic(self):
        return self.now


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


def flying(clock, **more):
    return Flight(clock.now, **more)


def test_429_halves_once_for_all_that_were_sent_before_it(clock):
    pace = Pace(8, 900)
    wave = [flying(clock) for _ in range(8)]
    clock.now += 1
    for request, flight in enumerate(wave):
        pace.busy(flight, request, "HTTP 429", 0.0)
    assert pace.limit == 4
    pace.busy(flying(clock), 8, "HTTP 429", 0.0)
    assert pace.limit == 2
    for _ in range(5):
        pace.busy(flying(clock), 9, "HTTP 429", 0.0)
    assert pace.limit == 1


def test_it_grows_by_one_after_some_answers_and_never_above_the_most():
    pace = Pace(4, 900)
    pace.busy(Flight(), 1, "HTTP 429", 0.0)
    grown = []
    for _ in range(60):
        pace.answered(Flight())
        grown.append(pace.limit)
    assert grown[0] == 2 and grown[-1] == 4
    assert {b - a for a, b in itertools.pairwise(grown)} == {0, 1}
    assert grown.index(3) >= 3


def test_retry_after_holds_everything_when_several_are_refused(clock):
    pace = Pace(4, 900)
    pace.busy(flying(clock), 1, "HTTP 429", 30.0)
    pace.busy(flying(clock), 1, "HTTP 429", 30.0)
    assert pace.has_room(0)
    pace.busy(flying(clock), 2, "HTTP 429", 30.0, own=True)
    assert pace.has_room(0)
    pace.busy(flying(clock), 3, "HTTP 429", 30.0)
    assert not pace.has_room(0)
    clock.now += 31
    assert pace.has_room(0)
    pace.answered(flying(clock))
    pace.busy(flying(clock), 4, "HTTP 429", 30.0)
    assert pace.has_room(0)


def test_after_failures_in_a_row_one_request_at_a_time_looks_for_the_server(clock):
    pace = Pace(3, 900)
    for request in range(3):
        pace.failed(request, "reset", None)
    assert not pace.has_room(0)
    clock.now += 1
    assert pace.has_room(0) and not pace.has_room(1)
    pace.answered(flying(clock))
    assert pace.has_room(2)


@pytest.mark.parametrize("kind", ["failed", "busy", "silent"])
def test_a_server_is_dead_when_patience_ends(clock, kind):
    pace = Pace(2, 900)
    flight = flying(clock)
    clock.now += 500
    pace.heard(False)
    if kind == "failed":
        pace.failed(1, "reset", None)
    elif kind == "busy":
        pace.busy(flight, 1, "HTTP 429", None)
    clock.now += 890
    assert not pace.why_dead([flight], SHOWN)
    pace.heard(False)
    clock.now += 20
    # Once a request has failed, comments are no sign of life.
    dead = pace.why_dead([flight], SHOWN)
    assert bool(dead) == (kind != "silent")
    clock.now += 900
    assert "900 s (patience)" in pace.why_dead([], SHOWN)
    assert not pace.why_dead([flying(clock, allowance=1000.0)], SHOWN)
    pace.heard(True)
    assert not pace.why_dead([], SHOWN)
    clock.now += 901
    assert pace.why_dead([], SHOWN)
    pace.answered(flight)
    assert not pace.why_dead([], SHOWN)


def test_where_nothing_ever_came_from_a_minute_is_enough(clock):
    pace = Pace(2, 900)
    clock.now += 61
    assert not pace.why_dead([], SHOWN, reached=False)  # nothing has failed
    pace.failed(1, "no connection", None)
    assert SHOWN in pace.why_dead([], SHOWN, reached=False)
    assert not pace.why_dead([], SHOWN, reached=True)
    old = flying(clock)
    clock.now += 4
    assert not pace.why_dead([old], SHOWN, reached=False)  # somebody has taken it


def test_it_says_once_a_minute_that_no_answer_comes_and_that_one_does_again(clock, caplog):
    pace = Pace(1, 900)
    for seconds in range(125):
        clock.now += 1
        if seconds == 70:
            pace.failed(1, "reset", None)
            pace.hold(200.0)
        pace.alive(0.0)  # of a tiny request, which is no answer
        pace.say(0, clock.now)
    first, second = caplog.messages
    assert first.startswith("No answer for 60 s; requests on their way: 0.")
    assert second.startswith("No answer for 120 s (reset); requests on their way: 0. The next one")
    assert "sent in 151 s" in second and "900 s without a sign of the server (patience)" in second
    pace.answered(flying(clock))
    assert caplog.messages[-1] == "The server answers again."


def test_answers_that_are_cut_off_are_asked_for_one_at_a_time():
    pace = Pace(8, 900)
    for request in (1, 2, 3, 1, 2):
        pace.cut_off(request)
    assert pace.limit == 8
    pace.cut_off(3)
    assert pace.limit == 1
    pace.busy(Flight(), 1, "HTTP 429", 0.0)
    for _ in range(100):
        pace.answered(Flight())
    assert pace.limit == 1
    for _ in range(2):
        pace.answered(Flight())
    assert pace.limit == 2
