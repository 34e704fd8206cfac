"""The lines on sampling and repeats."""

import pytest

from lm_eval_longbench.doctor.line import ERROR, OK, WARNING
from lm_eval_longbench.doctor.prompt import sampling_lines

GREEDY = {"temperature": 0.0, "do_sample": False}
PRO = {"benchmark": "pro", "official_repeats": 3, "official_generation": {"temperature": 1.0}}


@pytest.fixture
def one(a_backend, a_task):
    def make(generation, kind="text", **more):
        (line,) = sampling_lines(a_backend(kind), a_task(generation=generation, **more))
        return line

    return make


@pytest.mark.parametrize(
    ("generation", "more", "status"),
    [
        (GREEDY, {}, OK),
        ({"temperature": 0.7}, {}, WARNING),
        ({"temperature": 0.1}, {"official_generation": {"temperature": 0.1}}, OK),
        ({"temperature": 0.2}, {"official_generation": {"temperature": 0.1}}, WARNING),
        ({"temperature": 1.0}, {**PRO, "repeats": 3}, OK),
        ({"temperature": 0.6}, {**PRO, "repeats": 3}, OK),
        ({"temperature": 0.6}, {**PRO, "repeats": 2}, WARNING),
        (GREEDY, {**PRO, "repeats": 1}, WARNING),
    ],
)
def test_against_the_official_settings(one, generation, more, status):
    line = one(generation, **more)
    assert line.status == status
    if status == WARNING:
        assert "officially" in line.found


def test_greedy_repeats_are_an_error_unless_the_task_says_it(one, a_backend, a_task):
    assert one(GREEDY, repeats=3).status == ERROR
    facts = a_task(generation=GREEDY, repeats=3, problem="3 repeats with greedy decoding ...")
    assert list(sampling_lines(a_backend("text"), facts)) == []


@pytest.mark.parametrize(
    ("kind", "repeats", "status"),
    [("local", 1, ERROR), ("text", 1, WARNING), ("text", 3, ERROR)],
)
def test_sampling_at_temperature_zero(one, kind, repeats, status):
    line = one({"temperature": 0.0, "do_sample": True}, kind, repeats=repeats)
    assert line.status == status


def test_greedy_at_a_temperature_means_two_things(one):
    assert one({"temperature": 1.0, "do_sample": False}).status == WARNING


def test_a_temperature_that_is_none(one):
    assert one({"temperature": "warm"}).status == ERROR
