"""Means that do not depend on the interpreter."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_longbench.figures.means import mean_of_known, running_mean

finite = st.floats(allow_nan=False, allow_infinity=False, width=32)


def test_known_means():
    assert running_mean([1.0]) == 1.0
    assert running_mean([0.0, 1.0]) == 0.5
    assert running_mean(iter([1, 2, 3, 4])) == 2.5
    assert running_mean(number / 10 for number in range(11)) == pytest.approx(0.5)


def test_values_are_added_from_the_left_without_compensation():
    # A compensated sum, as Python's own from 3.12 on, gives 2/4.
    assert running_mean([1.0, 1e100, 1.0, -1e100]) == 0.0
    assert math.fsum([1.0, 1e100, 1.0, -1e100]) == 2.0
    # The same with the figures of a real run: the last bit tells.
    assert running_mean([0.1] * 10) == 0.9999999999999999 / 10
    assert running_mean([0.1] * 10) != math.fsum([0.1] * 10) / 10


@given(st.lists(finite, min_size=1))
def test_any_values(values):
    total = 0.0
    for value in values:
        total = total + value
    assert running_mean(values) == total / len(values)


def test_nothing_has_no_mean():
    assert math.isnan(running_mean([]))
    assert math.isnan(mean_of_known([]))
    assert math.isnan(mean_of_known([None, None]))


def test_unknown_values_do_not_count():
    assert mean_of_known([None, 1.0, None, 0.0, 0.5]) == 0.5
    assert mean_of_known(iter([None, 0.25])) == 0.25
    # 0 is a value, and so is False.
    assert mean_of_known([0, 0.0, False, 1]) == 0.25


@given(st.lists(st.one_of(st.none(), finite)))
def test_any_known_values(values):
    known = [value for value in values if value is not None]
    expected = running_mean(known)
    found = mean_of_known(values)
    assert found == expected or (math.isnan(found) and not known)
