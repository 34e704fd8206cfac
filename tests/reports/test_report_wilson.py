"""Wilson's interval by hand, and as the solution of its equation."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_longbench.reports.wilson import wilson_interval

Z = 1.959963984540054

KNOWN = {
    # Four digits; 81 of 263 is the example of Newcombe, Statistics in Medicine 17 (1998).
    (0, 10): (0.0, 0.2775),
    (1, 10): (0.0179, 0.4042),
    (5, 10): (0.2366, 0.7634),
    (10, 10): (0.7225, 1.0),
    (81, 263): (0.2553, 0.3662),
    (1, 1): (0.2065, 1.0),
}


@pytest.mark.parametrize(("counts", "expected"), KNOWN.items())
def test_known_values(counts, expected):
    assert wilson_interval(*counts) == pytest.approx(expected, abs=5e-5)


def test_by_hand():
    # p = 1/2, n = 4: centre 1/2; spread z sqrt(1/16 + z^2/64) / (1 + z^2/4)
    spread = Z * math.sqrt(1 / 16 + Z * Z / 64) / (1 + Z * Z / 4)
    assert wilson_interval(2, 4) == pytest.approx((0.5 - spread, 0.5 + spread), abs=1e-15)


def test_of_nothing():
    assert wilson_interval(0, 0) is None


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_ends_are_z_standard_errors_from_the_share(counts):
    """Wilson's ends p solve |share - p| = z sqrt(p (1 - p) / n), the error taken at p."""
    successes, n = counts
    share = successes / n
    low, high = wilson_interval(successes, n)
    assert 0 <= low <= share <= high <= 1
    for end in (low, high):
        assert abs(share - end) == pytest.approx(Z * math.sqrt(end * (1 - end) / n), abs=1e-9)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_symmetry(counts):
    successes, n = counts
    low, high = wilson_interval(successes, n)
    assert wilson_interval(n - successes, n) == pytest.approx((1 - high, 1 - low), abs=1e-12)
