"""The bootstrap against one resample at a time, its ends by definition, coverage, and Wilson's."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lm_eval_longbench.statistics import intervals
from lm_eval_longbench.statistics.intervals import (
    RESAMPLES,
    SEED,
    Influence,
    bootstrap_interval,
    influence_of_mean,
    resampled_means,
    t_interval,
    t_point,
    t_share,
    two_sided_p,
    wilson_interval,
)

Z = 1.959963984540054
NORMAL = NormalDist()


def one_at_a_time(values, stream, sizes=None):
    """The same draws, a document at a time, with exact sums."""
    generator = np.random.default_rng([SEED, *stream.encode()])
    n = len(values)
    means = []
    for _ in range(RESAMPLES):
        places = generator.integers(0, n, n)
        drawn = [values[place] for place in places]
        means.append(
            math.fsum(drawn) / (n if sizes is None else sum(sizes[place] for place in places))
        )
    return means


# 60 takes blocks of several resamples that do not divide 2,000; 0.1 has no exact float.
@pytest.mark.parametrize("n", [1, 2, 7, 60])
@pytest.mark.parametrize("shared", [False, True])
def test_the_same_draws_as_one_resample_at_a_time(n, shared):
    values = np.array([(number * 7919 % 13) / 10 for number in range(n)])
    sizes = np.array([1.0 + number % 3 for number in range(n)]) if shared else None
    found = resampled_means(values, "qasper", sizes)
    assert found.shape == (RESAMPLES,)
    assert found == pytest.approx(one_at_a_time(values, "qasper", sizes), rel=0, abs=1e-12)


# ---------------------------------------------------------------------- Student's t


@pytest.mark.parametrize(
    ("share", "degrees", "expected"),
    # Four digits from any table.
    [
        (0.975, 1, 12.7062),
        (0.975, 2, 4.3027),
        (0.975, 10, 2.2281),
        (0.975, 19, 2.0930),
        (0.975, 100, 1.9840),
        (0.95, 5, 2.0150),
        (0.995, 30, 2.7500),
        (0.975, 1e7, Z),
    ],
)
def test_points_of_students_distribution(share, degrees, expected):
    assert t_point(share, degrees) == pytest.approx(expected, abs=6e-5)


def test_shares_of_students_distribution():
    # With one and with two degrees of freedom there are closed forms.
    for deviate in (-30.0, -2.0, -0.3, 0.0, 0.3, 2.0, 30.0):
        assert t_share(deviate, 1) == pytest.approx(0.5 + math.atan(deviate) / math.pi, abs=1e-12)
        closed = 0.5 + deviate / (2 * math.sqrt(2 + deviate**2))
        assert t_share(deviate, 2) == pytest.approx(closed, abs=1e-12)


@settings(max_examples=100)
@given(st.floats(0.501, 0.9999), st.floats(1, 5000))
def test_a_point_is_where_its_share_is_reached(share, degrees):
    point = t_point(share, degrees)
    assert t_share(point, degrees) == pytest.approx(share, abs=1e-9)
    assert t_share(-point, degrees) == pytest.approx(1 - share, abs=1e-9)


# ---------------------------------------------------------------------- influence


def test_moves_of_a_mean_are_its_change_to_first_order():
    sums, sizes = np.array([1.0, 0.2, 2.5, 0.0]), np.array([1.0, 1.0, 3.0, 2.0])
    found = influence_of_mean(sums, sizes)
    assert found.moves.sum() == pytest.approx(0)
    step = 1e-6
    for place in range(4):
        weights = np.ones(4)
        weights[place] += step
        moved = (weights @ sums) / (weights @ sizes) - sums.sum() / sizes.sum()
        assert found.moves[place] == pytest.approx(moved / step, abs=1e-5)


def test_the_jackknife_by_leaving_documents_out():
    sums, sizes = np.array([1.0, 0.2, 2.5, 0.0]), np.array([1.0, 1.0, 3.0, 2.0])
    whole = sums.sum() / sizes.sum()
    without = [(sums.sum() - s) / (sizes.sum() - m) for s, m in zip(sums, sizes, strict=True)]
    expected = 3 / 4 * sum((one - whole) ** 2 for one in without)
    assert influence_of_mean(sums, sizes).variance == pytest.approx(expected)
    assert influence_of_mean(sums, sizes).documents == pytest.approx(49 / 15)


# ---------------------------------------------------------------------- the interval


def by_definition(value, resamples, strata):
    """The ends, written down as in the sources."""
    resamples, number, value = list(map(float, resamples)), len(resamples), float(value)
    half = sum((r < value - 1e-12) + (r <= value + 1e-12) for r in resamples) / 2
    bias = NORMAL.inv_cdf(min(max(half, 1), number - 1) / number)
    squares = sum(move**2 for one in strata for move in one.moves)
    cubes = sum(move**3 for one in strata for move in one.moves)
    acceleration = cubes / (6 * squares**1.5)
    variances = []
    for one in strata:
        left_out = [m / (1 - s) for m, s in zip(one.moves, one.shares, strict=True)]
        count = len(left_out)
        variances.append((count - 1) / count * sum(m**2 for m in left_out))
    documents = [1 / sum(share**2 for share in one.shares) for one in strata]
    degrees = sum(variances) ** 2 / sum(
        v**2 / (d - 1) for v, d in zip(variances, documents, strict=True)
    )
    widening = math.sqrt(sum(variances) / squares)
    levels = []
    for sign in (-1, 1):
        moved = bias + sign * widening * t_point(0.975, degrees)
        levels.append(NORMAL.cdf(bias + moved / (1 - acceleration * moved)))
    ordered = sorted(resamples)
    ends = []
    for level in levels:
        place = level * (number - 1)
        low = math.floor(place)
        high = min(low + 1, number - 1)
        ends.append(ordered[low] + (place - low) * (ordered[high] - ordered[low]))
    return tuple(ends)


def made(values, sizes=None):
    """A mean, its resamples and its influence."""
    values = np.array(values, float)
    many = np.ones(len(values)) if sizes is None else np.array(sizes, float)
    resamples = resampled_means(values, "x", None if sizes is None else many)
    return values.sum() / many.sum(), resamples, [influence_of_mean(values, many)]


CASES = {
    "even": (np.linspace(0, 1, 60), None),
    "skewed": (np.random.default_rng(1).beta(0.2, 1.8, 60), None),
    "mostly right": (np.array([1.0] * 50 + [0.0] * 4 + [0.5] * 6), None),
    "shared": (np.random.default_rng(2).random(40) * 2, [1, 2, 1, 1] * 10),
    "one large": (np.random.default_rng(3).random(25), [8] + [1] * 24),
}


@pytest.mark.parametrize(("values", "sizes"), CASES.values(), ids=CASES.keys())
def test_the_ends_are_those_of_the_definition(values, sizes):
    given = made(values, sizes)
    assert bootstrap_interval(*given) == pytest.approx(by_definition(*given), abs=1e-9)
    assert bootstrap_interval(*made([0.5] * 30)) == (0.5, 0.5)
    mirrored = (-given[0], -given[1], [one.times(-1) for one in given[2]])
    low, high = bootstrap_interval(*given)
    assert bootstrap_interval(*mirrored) == pytest.approx((-high, -low), abs=1e-9)


def test_strata_have_degrees_of_freedom_together():
    one, other = made(np.linspace(0, 1, 30)), made(np.linspace(0, 1, 30) ** 3)
    value = (one[0] + other[0]) / 2
    resamples = (one[1] + resampled_means(np.linspace(0, 1, 30) ** 3, "y")) / 2
    strata = [one[2][0].times(0.5), other[2][0].times(0.5)]
    found = bootstrap_interval(value, resamples, strata)
    assert found == pytest.approx(by_definition(value, resamples, strata), abs=1e-9)


def test_questions_of_one_document_count_as_one_where_they_always_agree():
    """Every question five times: as wide as with single questions, and not 2.2 times narrower."""
    values = np.random.default_rng(4).random(80)
    single = bootstrap_interval(*made(values))
    shared = bootstrap_interval(*made(values * 5, [5] * 80))
    assert shared == pytest.approx(single, abs=1e-12)
    alone = bootstrap_interval(*made(np.repeat(values, 5)))
    assert single[1] - single[0] > 2 * (alone[1] - alone[0])


def test_no_interval_where_a_resample_has_no_value():
    strata = [Influence(np.array([0.1, -0.1]), np.array([0.5, 0.5]))]
    assert bootstrap_interval(0.0, np.array([0.0, np.nan]), strata) is None
    assert bootstrap_interval(0.0, np.array([0.0, np.inf]), strata) is None


def test_a_document_with_nearly_all_questions_gives_no_error():
    given = made([900.0] + [1.0] * 20, [1000] + [1] * 20)
    low, high = bootstrap_interval(*given)
    assert low <= given[0] <= high
    assert 0 < two_sided_p(given[0], given[2]) <= 1


# Two thirds of the documents have one question, a third two: as 1,500 questions of 1,125.
COVERAGE = {
    "graded, low": (0.1, 0.5, False),
    "graded, high": (0.9, 0.5, False),
    "right or wrong": (0.7, 0.5, True),
}


@pytest.mark.parametrize(("mean", "share", "binary"), COVERAGE.values(), ids=COVERAGE.keys())
def test_coverage_is_what_it_says(mean, share, binary):
    """Of 500 samples of 80 questions about 60 documents 95% hold the true mean.

    Of the first two plain percentile intervals hold 92% over documents and 88% over questions.
    `scripts/coverage_of_intervals.py` has more designs, and the whole of 1,500 questions.
    """
    generator = np.random.default_rng(7)
    sizes = np.array([1.0, 1.0, 2.0] * 20)
    held = 0
    spread = (1 - share) / share
    for _ in range(500):
        own = generator.beta(mean * spread, (1 - mean) * spread, 60)
        if binary:
            sums = generator.binomial(sizes.astype(int), own).astype(float)
            ends = wilson_interval(sums.sum(), 80, influence_of_mean(sums, sizes))
        else:
            sums = sizes * own
            resamples = resampled_means(sums, "x", sizes)
            strata = [influence_of_mean(sums, sizes)]
            ends = bootstrap_interval(sums.sum() / 80, resamples, strata)
        held += ends[0] <= mean <= ends[1]
    assert 0.93 <= held / 500 <= 0.97


# ---------------------------------------------------------------------- differences


def test_of_single_questions_it_is_the_paired_t_test():
    """Student's own example: hours of sleep gained by ten patients, t = 4.06 with 9 degrees."""
    gained = np.array([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4])
    strata = [influence_of_mean(gained, np.ones(10))]
    low, high = t_interval(1.58, strata)
    assert (low, high) == pytest.approx((0.7001, 2.4599), abs=5e-5)
    assert two_sided_p(1.58, strata) == pytest.approx(0.002833, abs=5e-7)


@pytest.mark.parametrize("shift", [0.0, 0.03, 0.06, 0.09, 0.12, 0.3, -0.07, -0.1])
@pytest.mark.parametrize("sizes", [None, [1, 2, 3] * 50])
def test_p_below_a_twentieth_where_the_interval_leaves_out_zero(shift, sizes):
    values = np.random.default_rng(3).normal(shift, 0.5, size=150)
    value, _, strata = made(values, sizes)
    low, high = t_interval(value, strata)
    assert low < value < high
    p = two_sided_p(value, strata)
    assert 0 < p <= 1
    assert (p < 0.05) == (low > 0 or high < 0)
    back = [one.times(-1) for one in strata]
    assert t_interval(-value, back) == pytest.approx((-high, -low))
    assert two_sided_p(-value, back) == p


def test_strata_of_a_difference_have_degrees_of_freedom_together():
    """As Welch's test has them: here of the mean of two independent differences."""
    one, other = np.linspace(-1, 2, 30), np.linspace(0, 1, 50) ** 3
    strata = [influence_of_mean(own, np.ones(len(own))).times(0.5) for own in (one, other)]
    errors = [np.var(own, ddof=1) / len(own) / 4 for own in (one, other)]
    degrees = sum(errors) ** 2 / (errors[0] ** 2 / 29 + errors[1] ** 2 / 49)
    value = (one.mean() + other.mean()) / 2
    half = t_point(0.975, degrees) * math.sqrt(sum(errors))
    assert t_interval(value, strata) == pytest.approx((value - half, value + half))


def test_equal_runs_have_p_one():
    for values in ([0.0] * 30, [1e-17, -1e-17] * 15, [1.0, -1.0] * 15):
        value, _, strata = made(values)
        assert two_sided_p(value, strata) == 1
    assert t_interval(0.0, made([0.0] * 30)[2]) == (0, 0)


def test_the_same_difference_everywhere_has_the_p_value_of_the_sign_test():
    for difference in (0.25, 0.1, -1 / 3):
        value, _, strata = made([difference] * 30)
        assert t_interval(value, strata) == (value, value)
        assert two_sided_p(value, strata) == 2 * 0.5**30


# ---------------------------------------------------------------------- Wilson

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


def test_questions_that_always_agree_count_once():
    """40 documents of 5 questions: the design effect is 5, and z a t with 39 degrees."""
    right = np.array([1.0] * 28 + [0.0] * 12)
    found = wilson_interval(140, 200, influence_of_mean(5 * right, np.full(40, 5.0)))
    t, share = t_point(0.975, 39), 0.7
    number = 200 * (share * 0.3 / 199) / (share * 0.3 / 39)
    for end in found:
        distance = t * math.sqrt(end * (1 - end) / number)
        assert abs(share - end) == pytest.approx(distance, abs=1e-9)


@pytest.mark.parametrize("right", [0.0, 1.0])
def test_where_all_questions_end_alike_a_document_counts_once(right):
    sizes = np.array([1.0, 3.0] * 15)
    low, high = wilson_interval(60 * right, 60, influence_of_mean(right * sizes, sizes))
    documents = 60**2 / (15 * 1 + 15 * 9)
    t = t_point(0.975, documents - 1)
    assert high - low == pytest.approx(t**2 / (documents + t**2))
    assert (low, high)[int(right)] == right


@pytest.mark.parametrize(
    ("bias", "acceleration", "deviate", "expected"),
    [
        (0.0, 0.5, 2.0, 1.0),  # beyond the pole: all of the resamples
        (0.0, 0.5, 3.0, 1.0),
        (0.0, -0.5, -2.0, 0.0),  # or none of them
        (0.0, -0.5, -3.0, 0.0),
        (0.0, 2.0, 0.6, 1.0),
        (0.0, -2.0, -0.6, 0.0),
        (0.0, 0.0, 0.0, 0.5),
    ],
)
def test_the_end_of_an_interval_where_the_acceleration_is_large(
    bias, acceleration, deviate, expected
):
    shape = intervals._Shape(bias=bias, acceleration=acceleration, widening=1.0, degrees=9.0)
    assert shape.level(deviate) == expected
