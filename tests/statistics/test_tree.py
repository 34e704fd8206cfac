"""Contrasts of means over different questions, against their definition."""

import numpy as np
import pytest

from lm_eval_longbench.statistics.tree import Contrast, Leaf, Mean, Pairing, estimate


def leaf(name, values):
    keys = np.array([f"{name}{i:04}".encode() for i in range(len(values))])
    return Leaf(name, keys, np.array(values, float))


def draws(name, number, share):
    generator = np.random.default_rng(len(name) + number)
    return leaf(name, generator.random(number) < share)


ONE, OTHER = draws("one", 300, 0.7), draws("other", 500, 0.4)


def test_a_difference_and_a_ratio():
    gap, ratio = Contrast(ONE, OTHER), Contrast(ONE, OTHER, ratio=True)
    assert gap.value == pytest.approx(ONE.value - OTHER.value)
    assert ratio.value == pytest.approx(ONE.value / OTHER.value - 1)
    assert np.allclose(gap.resamples, ONE.resamples - OTHER.resamples)
    assert np.allclose(ratio.resamples, ONE.resamples / OTHER.resamples - 1)
    assert gap.n == 800


def test_the_interval_is_about_that_of_two_independent_means():
    found = estimate(Contrast(ONE, OTHER))
    error = np.sqrt(ONE.values.var() / 300 + OTHER.values.var() / 500)
    assert (found.high - found.low) == pytest.approx(2 * 1.96 * error, rel=0.1)
    assert found.low < found.value < found.high


@pytest.mark.parametrize("ratio", [False, True])
def test_influences_are_the_derivative(ratio):
    """A question's move is what the value changes by as the question's weight grows."""
    found = Contrast(Mean((ONE, OTHER)), OTHER, ratio=ratio)
    step = 1e-6
    values, n = ONE.values, len(ONE.values)
    grown = (values.sum() + step * values[0]) / (n + step)
    part = (grown + OTHER.value) / 2
    value = part / OTHER.value - 1 if ratio else part - OTHER.value
    assert found.influence[0].moves[0] == pytest.approx((value - found.value) / step, rel=1e-3)
    # A question of the other is in both: its moves add up.
    values, n = OTHER.values, len(OTHER.values)
    base = (values.sum() + step * values[0]) / (n + step)
    part = (ONE.value + base) / 2
    value = part / base - 1 if ratio else part - base
    moved = found.influence[1].moves[0] + found.influence[2].moves[0]
    assert moved == pytest.approx((value - found.value) / step, rel=1e-3)


def test_what_has_no_value():
    assert Contrast(ONE, leaf("none", [])).value is None
    assert Contrast(ONE, leaf("zero", [0, 0]), ratio=True).value is None
    assert Contrast(ONE, leaf("gone", [1, np.nan])).value is None


def test_few_questions_have_no_interval_and_runs_no_difference():
    small = Contrast(ONE, leaf("few", [1, 0, 1]))
    assert (estimate(small).low, estimate(small).reason) == (None, "fewer than 20 questions")
    assert Pairing().difference(small, small) is None
