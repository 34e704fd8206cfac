"""The bootstrap against one resample at a time, known coverage, and p-values by hand."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lm_eval_longbench.reports import bootstrap
from lm_eval_longbench.reports.bootstrap import (
    RESAMPLES,
    SEED,
    percentile_interval,
    resampled_means,
    two_sided_p,
)


def one_at_a_time(values, stream):
    """The same draws, a question at a time, with exact sums."""
    generator = np.random.default_rng([SEED, *stream.encode()])
    n = len(values)
    means = []
    for _ in range(RESAMPLES):
        drawn = [values[place] for place in generator.integers(0, n, n)]
        means.append(math.fsum(drawn) / n)
    return means


# 60 takes blocks of several resamples that do not divide 2,000; 0.1 has no exact float.
@pytest.mark.parametrize("n", [1, 2, 7, 60])
def test_the_same_draws_as_one_resample_at_a_time(n):
    values = np.array([(number * 7919 % 13) / 10 for number in range(n)])
    found = resampled_means(values, "qasper")
    assert found.shape == (RESAMPLES,)
    assert found == pytest.approx(one_at_a_time(values, "qasper"), rel=0, abs=1e-12)


@pytest.mark.parametrize("at_once", [1, 50, 777, 10**9])
def test_block_size_does_not_change_the_draws(monkeypatch, at_once):
    values = np.linspace(0, 1, 50)
    before = resampled_means(values, "x")
    monkeypatch.setattr(bootstrap, "_AT_ONCE", at_once)
    assert np.array_equal(resampled_means(values, "x"), before)


def test_figures_of_other_names_are_drawn_independently():
    values = np.linspace(0, 1, 200)
    one, other = resampled_means(values, "qasper"), resampled_means(values, "qmsum")
    assert np.array_equal(one, resampled_means(values, "qasper"))
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.08  # 0.022 is one standard error
    # So the mean of two strata has half the variance.
    assert np.var((one + other) / 2) == pytest.approx(np.var(one) / 2, rel=0.15)


def test_the_interval_is_that_of_the_normal_approximation_for_many_questions():
    values = np.array([0.0, 1.0] * 2000)
    low, high = percentile_interval(resampled_means(values, "x"))
    half = 1.96 * math.sqrt(0.25 / 4000)
    assert low == pytest.approx(0.5 - half, abs=0.1 * half)
    assert high == pytest.approx(0.5 + half, abs=0.1 * half)


def test_coverage_is_what_it_says():
    """Of 400 samples of 80 questions about 95% of the intervals hold the true mean."""
    generator = np.random.default_rng(7)
    held = 0
    for _ in range(400):
        low, high = percentile_interval(resampled_means(generator.beta(2, 3, size=80), "x"))
        held += low <= 0.4 <= high
    assert 0.915 <= held / 400 <= 0.98


def test_quantiles_are_interpolated_linearly():
    # 0..100: the 2.5% quantile is at position 2.5
    assert percentile_interval(np.arange(101.0)) == pytest.approx((2.5, 97.5))


def test_no_interval_where_a_resample_has_no_value():
    assert percentile_interval(np.array([0.0, np.nan])) is None
    assert percentile_interval(np.array([0.0, np.inf])) is None


BY_HAND = {
    "all equal": ([0.0, 0.0, 0.0], 1.0),
    "all above": ([1.0, 2.0, 3.0], 2 * 1 / 4),
    "all below": ([-1.0, -2.0, -3.0], 2 * 1 / 4),
    "one below": ([-1.0, 1.0, 1.0, 1.0], 2 * 2 / 5),
    "one zero counts on both sides": ([0.0, 1.0, 1.0, 1.0], 2 * 2 / 5),
    "rounding error is zero": ([1e-17, -1e-17, 1e-17], 1.0),
    "half and half": ([-1.0, 1.0], 1.0),
}


@pytest.mark.parametrize(("resamples", "expected"), BY_HAND.values(), ids=BY_HAND.keys())
def test_p_values_by_hand(resamples, expected):
    assert two_sided_p(np.array(resamples)) == pytest.approx(expected)


def test_the_smallest_p_value():
    assert two_sided_p(np.ones(RESAMPLES)) == 2 / (RESAMPLES + 1)


@settings(max_examples=200)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=40))
def test_p_value_against_counting(numbers):
    below = len([number for number in numbers if number <= 0])
    above = len([number for number in numbers if number >= 0])
    expected = min(1, 2 * (min(below, above) + 1) / (len(numbers) + 1))
    assert two_sided_p(np.array(numbers, float)) == pytest.approx(expected)
    assert two_sided_p(-np.array(numbers, float)) == pytest.approx(expected)


@pytest.mark.parametrize("shift", [0.0, 0.03, 0.06, 0.09, 0.12, 0.3])
def test_p_below_a_twentieth_where_the_interval_leaves_out_zero(shift):
    values = np.random.default_rng(3).normal(shift, 0.5, size=150)
    resamples = resampled_means(values, "x")
    low, high = percentile_interval(resamples)
    p = two_sided_p(resamples)
    if abs(p - 0.05) > 0.002:
        assert (p < 0.05) == (low > 0 or high < 0)
