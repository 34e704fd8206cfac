"""A mean that does not depend on the order in which it is added up."""

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from lm_eval_longbench.aggregation.exact_mean import ExactMean

VALUES = st.lists(st.floats(-1e9, 1e9) | st.floats(0, 1), min_size=1)


def mean_of(values):
    mean = ExactMean()
    for value in values:
        mean.add(value)
    return mean.value


@given(VALUES)
def test_it_is_the_rounded_true_sum_over_the_number(values):
    true = float(sum(map(Fraction, values), Fraction(0)))
    assert mean_of(values) == true / len(values)
    assert mean_of(values) == math.fsum(values) / len(values)


@given(VALUES, st.randoms(use_true_random=False))
def test_any_order_gives_the_same(values, random):
    shuffled = random.sample(values, len(values))
    assert mean_of(shuffled) == mean_of(values)


def test_rounding_does_not_pile_up():
    assert mean_of([0.1] * 10) == 0.1
    assert mean_of([1e16, 1.0, -1e16]) == 1 / 3


def test_nothing_and_what_is_not_known():
    assert mean_of([]) is None
    assert mean_of([None]) is None
    assert mean_of([0.5, None, 1.0]) is None
    assert mean_of([0.0]) == 0.0


def test_a_million_values_take_no_room():
    mean = ExactMean()
    for number in range(100_000):
        mean.add(1 / (number + 1))
    assert len(mean._parts) < 5
