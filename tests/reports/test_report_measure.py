"""Trees of means: values, intervals and differences."""

import numpy as np
import pytest

from lm_eval_longbench.reports.bootstrap import (
    RESAMPLES,
    percentile_interval,
    resampled_means,
    two_sided_p,
)
from lm_eval_longbench.reports.measure import (
    Leaf,
    Mean,
    Pairing,
    Relative,
    figure_of,
)
from lm_eval_longbench.reports.wilson import wilson_interval


def difference_of(first, second):
    return Pairing().difference(first, second)


def leaf(values, stream="x", first=0, **more):
    """Questions numbered from `first`."""
    keys = np.array([f"{first + number:04d}" for number in range(len(values))], "S16")
    return Leaf(stream, keys, np.array(values, float), **more)


NAN = float("nan")


def test_a_mean():
    one = leaf([0.0, 0.5, 1.0, 0.7], failed=2)
    figure = figure_of(one)
    assert (figure.value, figure.n, figure.method) == (0.55, 4, "bootstrap")
    assert (figure.failed, figure.unscored) == (2, 0)
    drawn = resampled_means(np.array([0.0, 0.5, 1.0, 0.7]), "x")
    assert (figure.low, figure.high) == percentile_interval(drawn)


NO_VALUE = {
    "no question": leaf([]),
    "an unscored one": leaf([1.0, NAN], unscored=1),
    "nobody knows which": leaf([1.0, 1.0], defined=False),
    "a part without one": Mean((leaf([1.0, 1.0]), leaf([], "y"))),
    "a part unscored": Mean((leaf([1.0, 1.0]), Mean((leaf([NAN, 1.0], "y", unscored=1),)))),
    "a whole of 0": Relative(one := leaf([0.0, 0.0]), (one,)),
    "a part of a whole without one": Relative(leaf([]), (leaf([1.0, 1.0]),)),
    "a whole that is unscored": Relative(one := leaf([1.0]), (one, leaf([NAN], unscored=1))),
}


@pytest.mark.parametrize("tree", NO_VALUE.values(), ids=NO_VALUE.keys())
def test_no_value_and_never_a_mean_of_the_rest(tree):
    figure = figure_of(tree)
    assert (figure.value, figure.low, figure.high, figure.method) == (None, None, None, "none")
    assert (figure.n, figure.unscored) == (tree.n, tree.unscored)


def test_one_question_has_a_value_and_no_interval():
    figure = figure_of(leaf([0.25]))
    assert (figure.value, figure.low, figure.method) == (0.25, None, "none")
    assert figure_of(Mean((leaf([0.25]), leaf([0.5, 0.5], "y")))).low is None


def test_absent_questions_count_zero():
    one = leaf([1.0, 1.0, 0.5], absent=2)
    figure = figure_of(one)
    assert (figure.value, figure.n) == (0.5, 5)
    drawn = resampled_means(np.array([1.0, 1.0, 0.5, 0.0, 0.0]), "x")
    assert (figure.low, figure.high) == percentile_interval(drawn)


def test_shares_have_wilsons_interval():
    figure = figure_of(leaf([1.0, 0.0, 1.0], binary=True, absent=1))
    assert (figure.value, figure.method) == (0.5, "wilson")
    assert (figure.low, figure.high) == wilson_interval(2, 4)
    assert figure_of(leaf([1.0], binary=True)).method == "wilson"  # one question is enough


def test_a_mean_of_means_resamples_each_part_by_itself():
    a, b = leaf([0.0, 1.0, 1.0, 0.2], "a"), leaf([0.5, 0.1], "b")
    c = leaf([0.3, 0.9, 0.4], "c")
    tree = Mean((Mean((a, b)), c))
    figure = figure_of(tree)
    assert figure.value == pytest.approx(((0.55 + 0.3) / 2 + 1.6 / 3) / 2)
    assert figure.n == 9
    drawn = [resampled_means(part.values, part.stream) for part in (a, b, c)]
    expected = [((x + y) / 2 + z) / 2 for x, y, z in zip(*drawn, strict=True)]
    assert (figure.low, figure.high) == pytest.approx(percentile_interval(np.array(expected)))


def test_relative_figures_by_hand():
    short, long = leaf([1.0, 0.8], "s", unscored=0, failed=1), leaf([0.2, 0.4, 0.6], "l", 10)
    # all: 3.0 / 5 = 0.6; short 0.9, long 0.4
    up, down = (figure_of(Relative(part, (short, long))) for part in (short, long))
    assert (up.value, down.value) == pytest.approx((0.5, -1 / 3))
    assert (up.n, up.failed, down.n) == (2, 1, 3)
    drawn = [resampled_means(part.values, part.stream) for part in (short, long)]
    expected = np.array([s / (0.4 * s + 0.6 * x) - 1 for s, x in zip(*drawn, strict=True)])
    assert (up.low, up.high) == pytest.approx(percentile_interval(expected))
    # An empty stratum takes no part.
    same = figure_of(Relative(short, (short, leaf([], "m"), long)))
    assert (same.value, same.low) == (up.value, up.low)


def test_a_whole_that_can_be_resampled_to_zero_has_no_interval():
    part = leaf([1.0, 0.0])
    assert (part.resamples == 0).any()
    figure = figure_of(Relative(part, (part,)))
    assert (figure.value, figure.low, figure.method) == (0.0, None, "none")


def test_differences_are_on_shared_questions():
    first = leaf([0.0, 0.5, 1.0, 0.5])  # questions 0 to 3
    second = leaf([1.0, 1.0, 0.5, 0.9], first=1)  # 1 to 4
    found = difference_of(first, second)
    # question 1: +0.5, 2: 0, 3: 0
    assert (found.value, found.n) == (pytest.approx(0.5 / 3), 3)
    drawn = resampled_means(np.array([0.5, 0.0, 0.0]), "x")
    assert (found.low, found.high) == percentile_interval(drawn)
    back = difference_of(second, first)
    assert (back.value, back.low) == pytest.approx((-found.value, -found.high))
    assert back.p_value == found.p_value


def test_equal_runs_have_p_one_and_clearly_different_ones_the_smallest():
    scores = np.random.default_rng(5).random(200)
    equal = difference_of(leaf(scores), leaf(scores))
    assert (equal.value, equal.low, equal.high, equal.p_value) == (0, 0, 0, 1)
    better = difference_of(leaf(scores), leaf(scores + 0.1))
    assert better.value == pytest.approx(0.1)
    assert better.p_value == 2 / (RESAMPLES + 1)


def test_pairing_sees_what_two_intervals_do_not():
    """Two runs that differ a little on every question: wide intervals, a sure difference."""
    generator = np.random.default_rng(11)
    scores = generator.random(150) * 0.8
    other = scores + 0.02 + generator.normal(0, 0.02, 150)
    one, two = figure_of(leaf(scores)), figure_of(leaf(other))
    assert one.high > two.low  # they overlap
    assert difference_of(leaf(scores), leaf(other)).p_value < 0.01


NO_DIFFERENCE = {
    "nothing shared": (leaf([1.0]), leaf([1.0], first=5)),
    "a shared one unscored": (leaf([1.0, NAN]), leaf([1.0, 1.0])),
    "a part that shares nothing": (
        Mean((leaf([1.0, 0.0]), leaf([1.0, 0.5], "y"))),
        Mean((leaf([1.0, 0.0]), leaf([1.0], "y", first=7))),
    ),
    "nobody knows which": (leaf([1.0, 1.0]), leaf([1.0, 1.0], defined=False)),
}


@pytest.mark.parametrize(("first", "second"), NO_DIFFERENCE.values(), ids=NO_DIFFERENCE.keys())
def test_no_difference(first, second):
    found = difference_of(first, second)
    assert (found.value, found.low, found.high, found.p_value) == (None, None, None, None)


def test_an_unscored_question_that_is_not_shared_does_not_matter():
    first, second = leaf([0.0, 0.0, NAN]), leaf([1.0, 0.5])
    assert difference_of(first, second).value == 0.75


def test_differences_of_means_of_means():
    first = Mean((leaf([0.0, 1.0], "a"), leaf([0.5, 0.5], "b")))
    second = Mean((leaf([1.0, 1.0], "a"), leaf([0.5, 0.7], "b")))
    found = difference_of(first, second)
    assert (found.value, found.n) == (pytest.approx((0.5 + 0.1) / 2), 4)
    drawn = [resampled_means(np.array(d), s) for d, s in (([1.0, 0.0], "a"), ([0.0, 0.2], "b"))]
    assert found.high == pytest.approx(percentile_interval(np.mean(drawn, axis=0))[1])


def test_ratios_have_no_difference():
    one = leaf([1.0, 0.5])
    assert Pairing().tree(Relative(one, (one,)), Relative(one, (one,))) is None
    assert difference_of(Relative(one, (one,)), Relative(one, (one,))) is None


@pytest.mark.parametrize("absent", [0, 3])
def test_of_the_same_questions_the_draws_of_both_runs_serve(absent):
    """The paired bootstrap of the differences, whichever way it is computed."""
    generator = np.random.default_rng(2)
    one, other = generator.random(70), generator.random(70)
    found = difference_of(leaf(one, absent=absent), leaf(other, absent=absent))
    drawn = resampled_means(other - one, "x")
    assert found.n == 70  # absent questions are not shared
    assert (found.low, found.high) == pytest.approx(percentile_interval(drawn), rel=0, abs=1e-12)
    assert found.p_value == pytest.approx(two_sided_p(drawn))


def test_no_difference_where_one_run_lacks_questions_that_count_as_wrong():
    complete, half = leaf([1.0, 0.0, 1.0, 1.0]), leaf([1.0, 0.0], absent=2)
    assert difference_of(complete, half) is None
    assert difference_of(half, complete) is None


def test_what_figures_have_in_common_is_made_once():
    first, second = leaf([0.0, 1.0, 0.3]), leaf([1.0, 1.0, 0.4], first=1)
    pairing = Pairing()
    whole = pairing.tree(Mean((first, first)), Mean((second, second)))
    assert whole.parts[0] is whole.parts[1] is pairing.tree(first, second)
