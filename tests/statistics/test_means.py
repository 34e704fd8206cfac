"""Means that depend neither on the interpreter nor, where they are exact, on the order."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_longbench.statistics.figure import RELATIVE, Figure
from lm_eval_longbench.statistics.means import (
    mean,
    mean_if_all_known,
    mean_of_known,
    question_means,
    running_mean,
    running_total,
)
from lm_eval_longbench.statistics.tree import Leaf

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
    assert running_total(np.array(values)) == total


def test_nothing_has_no_mean():
    assert math.isnan(running_mean([]))
    assert running_total(np.array([])) == 0.0
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


def test_an_unknown_value_leaves_no_mean():
    for own in (mean, mean_if_all_known):
        assert own([1.0, 0.0]) == 0.5
        for values in ([1.0, None], [None], []):
            assert math.isnan(own(values))


# ---------------------------------------------------------------------- exact means

VALUES = st.lists(st.floats(-1e9, 1e9) | st.floats(0, 1), min_size=1)


def exact(values):
    keys = np.array([b"%16d" % number for number in range(len(values))])
    return Figure("", "", Leaf("", keys, np.array(values)), RELATIVE).official


@given(VALUES)
def test_an_exact_mean_is_the_rounded_true_sum_over_the_number(values):
    true = float(sum(map(Fraction, values), Fraction(0)))
    assert exact(values) == true / len(values)


@given(VALUES, st.randoms(use_true_random=False))
def test_any_order_gives_the_same_exact_mean(values, random):
    assert exact(random.sample(values, len(values))) == exact(values)


def test_rounding_does_not_pile_up():
    assert exact([0.1] * 10) == 0.1
    assert exact([1e16, 1.0, -1e16]) == 1 / 3


# ---------------------------------------------------------------------- means of questions

ANSWERS = st.integers(1, 5).flatmap(
    lambda repeats: st.lists(
        st.lists(
            st.one_of(st.floats(0, 1), st.just(math.nan), st.none()),
            min_size=repeats,
            max_size=repeats,
        ),
        min_size=1,
        max_size=6,
    )
)


@given(ANSWERS, st.booleans())
def test_means_of_questions_over_the_answers_that_count(rows, exactly):
    """None: does not count; NaN: is not known."""
    counted = np.array([[value is not None for value in row] for row in rows])
    values = np.array([[7.0 if value is None else value for value in row] for row in rows])
    for row, found in zip(rows, question_means(values, counted, exact=exactly), strict=True):
        known = [value for value in row if value is not None]
        if not known or any(map(math.isnan, known)):
            assert math.isnan(found)
        else:
            expected = exact(known) if exactly else running_mean(known)
            assert found == expected
