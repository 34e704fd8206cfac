"""Trees of means: values, intervals and differences."""

import numpy as np
import pytest

from lm_eval_longbench.reporting.retained import retained
from lm_eval_longbench.statistics.intervals import (
    FEWEST,
    bootstrap_interval,
    influence_of_mean,
    resampled_means,
    t_interval,
    two_sided_p,
    wilson_interval,
)
from lm_eval_longbench.statistics.tree import FEW_DIFFER, Leaf, Mean, Pairing, Relative
from lm_eval_longbench.statistics.tree import estimate as figure_of


def difference_of(first, second):
    return Pairing().difference(first, second)


def leaf(values, stream="x", first=0, **more):
    """Questions numbered from `first`."""
    keys = np.array([f"{first + number:04d}" for number in range(len(values))], "S16")
    return Leaf(stream, keys, np.array(values, float), **more)


NAN = float("nan")


def influence(values):
    return influence_of_mean(np.array(values, float), np.ones(len(values)))


def documents(*numbers):
    """Hashes of documents; 0: not known."""
    return np.array(numbers, np.uint64)


def many(*values):
    """At least twenty of some values, with the same mean."""
    return list(values) * -(-FEWEST // len(values))


def test_a_mean():
    values = many(0.0, 0.5, 1.0, 0.7)
    figure = figure_of(leaf(values, failed=2))
    assert (figure.value, figure.n, figure.method) == (0.55, 20, "bootstrap")
    assert (figure.failed, figure.unscored) == (2, 0)
    assert (figure.reason, figure.documents) == ("", None)
    drawn = resampled_means(np.array(values), "x")
    assert (figure.low, figure.high) == bootstrap_interval(0.55, drawn, [influence(values)])


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


@pytest.mark.parametrize("n", [1, 2, 19])
@pytest.mark.parametrize("binary", [False, True])
def test_few_questions_have_a_value_and_no_interval(n, binary):
    few = leaf([1.0] * n, binary=binary)
    figure = figure_of(few)
    assert (figure.value, figure.low, figure.method) == (1.0, None, "none")
    assert figure.reason == "fewer than 20 questions"
    found = difference_of(few, few)
    assert (found.value, found.low, found.p_value) == (0.0, None, None)
    assert found.reason == figure.reason
    # Each part of a mean of means counts.
    enough = leaf(many(0.5, 0.4), "y")
    assert figure_of(enough).reason == ""
    assert figure_of(Mean((enough, Mean((few,))))).reason == figure.reason
    assert difference_of(Mean((enough, few)), Mean((enough, few))).reason == figure.reason
    assert figure_of(Relative(few, (few, enough))).reason == figure.reason
    # A single question cannot be resampled; a few beside enough others can.
    expected = "not every resample has a value" if n == 1 else ""
    assert figure_of(Relative(enough, (few, enough))).reason == expected


def test_absent_questions_count_zero():
    values = many(1.0, 1.0, 0.5)
    one = leaf(values, absent=14)
    figure = figure_of(one)
    assert (figure.value, figure.n) == (0.5, 35)
    values += [0.0] * 14
    drawn = resampled_means(np.array(values), "x")
    assert (figure.low, figure.high) == bootstrap_interval(0.5, drawn, [influence(values)])


def test_a_mean_of_means_resamples_each_part_by_itself():
    a, b = leaf(many(0.0, 1.0, 1.0, 0.2), "a"), leaf(many(0.5, 0.1), "b")
    c = leaf(many(0.3, 0.9, 0.4), "c")
    tree = Mean((Mean((a, b)), c))
    figure = figure_of(tree)
    assert figure.value == pytest.approx(((0.55 + 0.3) / 2 + 1.6 / 3) / 2)
    assert figure.n == 61
    drawn = [resampled_means(part.values, part.stream) for part in (a, b, c)]
    expected = np.array([((x + y) / 2 + z) / 2 for x, y, z in zip(*drawn, strict=True)])
    moves = [
        influence(part.values).times(factor)
        for part, factor in ((a, 1 / 4), (b, 1 / 4), (c, 1 / 2))
    ]
    ends = bootstrap_interval(tree.value, expected, moves)
    assert (figure.low, figure.high) == pytest.approx(ends)


def test_relative_figures_by_hand():
    short = leaf(many(1.0, 0.8), "s", unscored=0, failed=1)
    long = leaf([0.2, 0.4, 0.6] * 10, "l", 100)
    # all: 18 + 12 of 50 is 0.6; short 0.9, long 0.4
    up, down = (figure_of(Relative(part, (short, long))) for part in (short, long))
    assert (up.value, down.value) == pytest.approx((0.5, -1 / 3))
    assert (up.n, up.failed, down.n) == (20, 1, 30)
    drawn = [resampled_means(part.values, part.stream) for part in (short, long)]
    expected = np.array([s / (0.4 * s + 0.6 * x) - 1 for s, x in zip(*drawn, strict=True)])
    assert (up.low, up.high) == pytest.approx(np.quantile(expected, [0.025, 0.975]), abs=0.02)
    # An empty stratum takes no part.
    same = figure_of(Relative(short, (short, leaf([], "m"), long)))
    assert (same.value, same.low) == (up.value, up.low)


def test_the_influence_of_a_relative_figure_is_its_change():
    short, long = leaf([1.0, 0.8, 0.3], "s"), leaf([0.2, 0.4, 0.6, 0.1], "l", 10)
    tree = Relative(short, (short, long))

    def ratio(own, other):
        """x/y - 1 with the means of both strata, whose numbers of questions stay."""
        return own / ((3 * own + 4 * other) / 7) - 1

    assert ratio(short.value, long.value) == pytest.approx(tree.value)
    step = 1e-7
    for found, part in zip(tree.influence, (short, long), strict=True):
        for place, value in enumerate(part.values):
            moved = part.value + step * (value - part.value) / part.n
            pair = (moved, long.value) if part is short else (short.value, moved)
            change = (ratio(*pair) - tree.value) / step
            assert found.moves[place] == pytest.approx(change, abs=1e-5)


def test_a_whole_that_can_be_resampled_to_zero_has_no_interval():
    part = leaf([1.0] + [0.0] * 19)
    assert (part.resamples == 0).any()
    figure = figure_of(Relative(part, (part,)))
    assert (figure.value, figure.low, figure.method) == (0.0, None, "none")
    assert figure.reason == "not every resample has a value"
    # A stratum of one question cannot be resampled.
    figure = figure_of(Relative(part, (part, leaf([1.0], "y", 100))))
    assert (figure.low, figure.reason) == (None, "not every resample has a value")


def test_questions_that_share_a_document_are_resampled_together():
    values = np.random.default_rng(8).random(60)
    given = documents(*(1 + number % 40 for number in range(60)))
    shared = leaf(values, given_documents=given)
    figure = figure_of(shared)
    assert (figure.value, figure.n, figure.documents) == (leaf(values).value, 60, 40)
    assert figure_of(leaf(values, given_documents=given, absent=14)).documents == 54
    sums = np.array([sum(values[place::40]) for place in range(40)])
    sizes = np.array([2.0] * 20 + [1.0] * 20)
    drawn = resampled_means(sums, "x", sizes)
    ends = bootstrap_interval(shared.value, drawn, [influence_of_mean(sums, sizes)])
    assert (figure.low, figure.high) == pytest.approx(ends)
    right = (values > 0.5).astype(float)
    figure = figure_of(leaf(right, binary=True, given_documents=given))
    sums = np.array([sum(right[place::40]) for place in range(40)])
    ends = wilson_interval(sum(right), 60, influence_of_mean(sums, sizes))
    assert (figure.low, figure.high) == pytest.approx(ends)
    assert ends != wilson_interval(sum(right), 60)
    # The mean of means counts documents of one part and questions of another.
    assert figure_of(Mean((shared, leaf(values, "y")))).documents == 100


@pytest.mark.parametrize("given", [None, documents(*([0] * 60)), documents(*range(1, 61))])
def test_documents_that_are_not_known_or_not_shared_change_nothing(given):
    values = np.random.default_rng(8).random(60)
    assert figure_of(leaf(values, given_documents=given)) == figure_of(leaf(values))
    right = (values > 0.5).astype(float)
    one = leaf(right, binary=True, given_documents=given)
    assert figure_of(one) == figure_of(leaf(right, binary=True))
    other = leaf(values[::-1].copy(), given_documents=given)
    assert difference_of(one, other) == difference_of(leaf(right), leaf(values[::-1].copy()))


def test_differences_are_on_shared_questions():
    first = leaf([*many(0.0, 0.5, 1.0, 0.5), 0.25])  # questions 0 to 20
    second = leaf([*many(0.75, 1.0, 0.6, 0.25), 0.5, 0.9], first=1)  # 1 to 22
    found = difference_of(first, second)
    # From question 1 on: 0.25, 0, 0.1, 0.25 and so on; the last one's is 0.25 - 0.25.
    expected = [*many(0.25, 0.0, 0.1, 0.25)[:-1], 0.0]
    assert (found.value, found.n) == (pytest.approx(sum(expected) / 20), 20)
    strata = [influence(expected)]
    assert (found.low, found.high) == pytest.approx(t_interval(found.value, strata))
    assert found.p_value == pytest.approx(two_sided_p(found.value, strata))
    back = difference_of(second, first)
    assert (back.value, back.low) == pytest.approx((-found.value, -found.high))
    assert back.p_value == pytest.approx(found.p_value)


def test_either_run_may_know_the_documents():
    generator = np.random.default_rng(6)
    one, other = generator.random(60), generator.random(60)
    given = documents(*(1 + number % 40 for number in range(60)))
    half = np.where(np.arange(60) < 30, given, documents(0))
    both = difference_of(leaf(one, given_documents=given), leaf(other, given_documents=given))
    assert both.low != difference_of(leaf(one), leaf(other)).low
    for mine, theirs in ((given, None), (None, given), (half, given), (given, half)):
        pair = (leaf(one, given_documents=mine), leaf(other, given_documents=theirs))
        assert difference_of(*pair) == both


@pytest.mark.parametrize("number", [0, 1, 9, 10])
def test_few_questions_that_differ_have_no_interval(number):
    """The guard of retained shares: those few say too little about other questions."""
    scores = np.random.default_rng(5).random(200)
    other = np.where(np.arange(200) < number, scores / 2, scores)
    halves = [Mean((leaf(own[:100]), leaf(own[100:], "y"))) for own in (scores, other)]
    for found in (difference_of(leaf(scores), leaf(other)), difference_of(*halves)):
        assert found.value == pytest.approx((other - scores).mean())
        assert (found.low is None) == (found.p_value is None) == (number < 10)
        assert found.reason == (FEW_DIFFER if number < 10 else "")
    share = retained(leaf(scores), leaf(other))
    assert (share.low is None, share.reason) == (found.low is None, found.reason)


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


@pytest.mark.parametrize("absent", [0, 3])
def test_absent_questions_are_not_shared(absent):
    generator = np.random.default_rng(2)
    one, other = generator.random(70), generator.random(70)
    found = difference_of(leaf(one, absent=absent), leaf(other, absent=absent))
    assert found.n == 70
    assert found == difference_of(leaf(one), leaf(other))


def test_what_figures_have_in_common_is_made_once():
    first, second = leaf([0.0, 1.0, 0.3]), leaf([1.0, 1.0, 0.4], first=1)
    pairing = Pairing()
    whole = pairing.tree(Mean((first, first)), Mean((second, second)))
    assert whole.parts[0] is whole.parts[1] is pairing.tree(first, second)
