"""The lines on the limit and on longer prompts."""

import pytest

from lm_eval_longbench.doctor.model import limit_lines
from lm_eval_longbench.doctor.line import ERROR, OK, WARNING
from lm_eval_longbench.doctor.model import Lengths
from lm_eval_longbench.harness.limit import Limit


def truncate_to(tokens):
    return Limit(tokens, None, f"truncate_to={tokens}", official=True)


@pytest.fixture
def lines(a_backend, a_task):
    def make(counted=None, kind="text", **more):
        return list(limit_lines(a_backend(kind), a_task(**more), counted or Lengths(10)))

    return make


@pytest.mark.parametrize(
    ("limit", "status", "words"),
    [
        (truncate_to(31500), OK, "an official limit"),
        (truncate_to(1000), WARNING, "which no official run has"),
        (Limit(8000, 8064, "the model's config"), WARNING, "truncate_to is not set"),
        (Limit(1800, 1919, "default", assumed=True), WARNING, "nobody gave"),
        (Limit(None, None, "unknown"), WARNING, "prompts go out whole"),
    ],
)
def test_where_the_limit_comes_from(lines, limit, status, words):
    (line,) = lines(limit=limit)
    assert line.status == status
    assert words in line.found


def test_the_largest_official_limit_that_fits_is_proposed(lines):
    (line,) = lines(limit=Limit(16000, 16064, "the model's config"))
    assert '"truncate_to": 15500' in line.todo
    (line,) = lines(limit=Limit(1000, 1064, "the model's config"))
    assert "None of the official limits" in line.todo


@pytest.mark.parametrize(
    ("benchmark", "tokens"), [("v1", 3500), ("v2", 120_000), ("v2", 200_000), ("pro", 224_000)]
)
def test_official_limits_of_each_benchmark(lines, benchmark, tokens):
    (line,) = lines(benchmark=benchmark, limit=truncate_to(tokens))
    assert line.status == OK


def test_a_model_that_is_not_here_has_no_length_yet(lines):
    (line,) = lines(kind="local", limit=Limit(None, None, "unknown"))
    assert "config" in line.found


def test_no_limit_no_line(lines):
    assert lines(limit=None) == []


@pytest.mark.parametrize(
    ("overlength", "tokens", "status", "words"),
    [
        ("fail", 101, ERROR, "the run would stop"),
        ("fail", 100, OK, "short enough"),
        ("skip", 101, WARNING, "the first is one of them"),
        ("skip", 100, WARNING, "longer prompts are not asked"),
    ],
)
def test_overlength(lines, overlength, tokens, status, words):
    _, line = lines(Lengths(tokens), overlength=overlength, limit=truncate_to(100))
    assert (line.topic, line.status) == ("overlength", status)
    assert words in line.found


def test_overlength_without_a_limit_has_no_effect(lines):
    _, line = lines(overlength="skip", limit=Limit(None, None, "unknown"))
    assert line.status == WARNING
    assert "no effect" in line.found


def test_what_stops_the_run_is_said_once(lines):
    """The task's own problem says it already."""
    found = lines(Lengths(101), overlength="fail", limit=truncate_to(100), problem="too long")
    assert [line.topic for line in found] == ["limit"]
