"""Generation arguments of requests, and several answers to one question."""

import pytest

from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.harness.generation import (
    check_generation,
    check_sampling,
    fold_budget,
    is_greedy,
    kept_apart,
    seeded,
)
from lm_eval_longbench.options import MOST_REPEATS


@pytest.mark.parametrize("name", ["max_new_tokens", "max_tokens", "max_completion_tokens"])
def test_an_alias_replaces_the_official_budget(name):
    generation = {"until": [], "max_gen_toks": 64, name: "2000"}
    fold_budget("a task", generation)
    assert generation == {"until": [], "max_gen_toks": 2000}


@pytest.mark.parametrize("value", ["abc", None, 0, -5, 1.5, True, ""])
def test_a_budget_that_is_no_number_is_an_error(value):
    with pytest.raises(OptionError, match="a task: max_gen_toks must be a whole number"):
        fold_budget("a task", {"max_gen_toks": value})


def test_two_aliases_are_an_error():
    with pytest.raises(OptionError, match="max_new_tokens and max_tokens"):
        fold_budget("a task", {"max_new_tokens": 5, "max_tokens": 6})


def test_kept_apart_is_unequal_and_leaves_the_users_values():
    generation = {"until": [], "max_gen_toks": 64}
    assert kept_apart(generation) == {**generation, "top_p": 1.0}
    own = {**generation, "top_p": 0.5}
    assert kept_apart(own) == {**own, "repetition_penalty": 1.0}
    assert own == {**generation, "top_p": 0.5}


# ---------------------------------------------------------------------- repeats


@pytest.mark.parametrize(
    ("generation", "greedy"),
    [
        ({}, True),
        ({"temperature": 0.0}, True),
        ({"temperature": 0}, True),
        ({"temperature": 1.0}, False),
        ({"temperature": 1.0, "do_sample": False}, True),
        ({"temperature": 1.0, "do_sample": True}, False),
        ({"do_sample": True}, False),
    ],
)
def test_is_greedy(generation, greedy):
    assert is_greedy(generation) is greedy


@pytest.mark.parametrize(
    ("generation", "said"),
    [
        ({"temperature": "0.7"}, "temperature must be a number, not '0.7'"),
        ({"temperature": True}, "temperature must be a number"),
        ({"do_sample": "False"}, "do_sample must be true or false, not 'False'"),
        ({"temperature": 0.7, "do_sample": False}, "servers sample at this temperature"),
        ({"model": "other"}, "model is no generation argument"),
        ({"messages": []}, "messages is no generation argument"),
        ({"until": ""}, "a stop string of 'until' is empty"),
        ({"until": ["x", ""]}, "a stop string of 'until' is empty"),
    ],
)
def test_what_backends_read_in_different_ways_is_refused(generation, said):
    with pytest.raises(OptionError, match=said):
        check_generation("a task", generation)


def test_sampling_at_temperature_0_is_said_once(caplog):
    """transformers decodes greedily then: nothing of what was asked for happens."""
    for task in ("a task", "another"):
        check_generation(task, {"temperature": 0.0, "do_sample": True})
    (said,) = [one.getMessage() for one in caplog.records]
    assert "do_sample=True with temperature 0 is greedy decoding" in said


def test_greedy_repeats_are_refused_with_the_reason():
    with pytest.raises(OptionError, match="3 times the same answer"):
        check_sampling("a task", 3, {"temperature": 0.0})
    check_sampling("a task", 1, {"temperature": 0.0})
    check_sampling("a task", 3, {"temperature": 0.5})


def test_each_repeat_has_a_seed_of_its_own_and_can_be_cached():
    generation = {"temperature": 1.0, "do_sample": True, "until": []}
    arguments = seeded(generation, 3)
    assert [own.pop("seed") for own in arguments] == [1234, 1235, 1236]
    assert arguments == [{"temperature": 1.0, "until": []}] * 3
    assert generation["do_sample"] is True


def test_no_more_answers_are_asked_for_than_are_scored():
    check_sampling("task", MOST_REPEATS, {"temperature": 1.0})
    with pytest.raises(OptionError, match=f"task: 257 repeats; at most {MOST_REPEATS} are scored"):
        check_sampling("task", MOST_REPEATS + 1, {"temperature": 1.0})
