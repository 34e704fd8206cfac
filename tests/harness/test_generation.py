"""The output budget under any of its names, and arguments that keep batches apart."""

import pytest

from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.harness.generation import fold_budget, kept_apart


@pytest.mark.parametrize("name", ["max_new_tokens", "max_tokens", "max_completion_tokens"])
def test_an_alias_replaces_the_official_budget(name):
    generation = {"until": [], "max_gen_toks": 64, name: "2000"}
    fold_budget("a task", generation)
    assert generation == {"until": [], "max_gen_toks": 2000}


def test_the_official_budget_stays():
    generation = {"max_gen_toks": 64}
    fold_budget("a task", generation)
    assert generation == {"max_gen_toks": 64}


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
