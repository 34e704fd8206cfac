"""The retained share of a score, against plain counting and resampling of documents."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lm_eval_longbench.reporting.retained import retained
from lm_eval_longbench.statistics.tree import FEWEST_DIFFERING, Leaf, Mean, Relative


def leaf(values, names=None, documents=None):
    """A leaf of questions named by numbers, in the order of their keys."""
    names = range(len(values)) if names is None else names
    keys = np.array([f"{name:016d}" for name in names], "S16")
    own = None if documents is None else np.array(documents, np.uint64)
    return Leaf("figure", keys, np.array(values, np.float64), given_documents=own)


def shares(number, seed):
    return np.random.default_rng(seed).random(number)


@settings(max_examples=60)
@given(
    pairs=st.lists(
        st.tuples(st.floats(0, 1), st.floats(0, 1), st.booleans(), st.booleans()), max_size=60
    )
)
def test_the_value_is_that_of_the_questions_both_have(pairs):
    ours = {n: a for n, (a, _, has, _) in enumerate(pairs) if has}
    theirs = {n: b for n, (_, b, _, has) in enumerate(pairs) if has}
    both = sorted(ours.keys() & theirs.keys())
    found = retained(
        leaf(list(ours.values()), list(ours)), leaf(list(theirs.values()), list(theirs))
    )
    assert found.n == len(both)
    total = sum(ours[n] for n in both)
    if not both or total / len(both) <= 1e-12:
        assert found.value is None and found.reason
        return
    assert found.value == pytest.approx(sum(theirs[n] for n in both) / total)
    differ = sum(abs(ours[n] - theirs[n]) > 1e-12 for n in both)
    assert (found.low is None) is (len(both) < 20 or differ < FEWEST_DIFFERING)
    if found.low is not None:
        assert found.low <= found.value <= found.high
        assert (found.p_value < 0.05) is not (found.low <= 1 <= found.high)


def test_the_interval_is_near_that_of_resampled_documents():
    """Documents with one to four questions; both runs find the same ones easy."""
    rng = np.random.default_rng(5)
    documents = np.repeat(np.arange(1, 201), rng.integers(1, 5, 200))
    easy = rng.random(201)[documents]
    ours = (easy + 0.3 * rng.random(len(easy))) / 1.3
    theirs = ours * (0.8 + 0.2 * rng.random(len(easy)))
    found = retained(leaf(ours, documents=documents), leaf(theirs, documents=documents))
    sums = [np.bincount(documents, weights=own)[1:] for own in (ours, theirs)]
    drawn = rng.integers(0, 200, (4000, 200))
    ratios = sums[1][drawn].sum(axis=1) / sums[0][drawn].sum(axis=1)
    low, high = np.quantile(ratios, [0.025, 0.975])
    assert found.low == pytest.approx(low, abs=0.15 * (high - low))
    assert found.high == pytest.approx(high, abs=0.15 * (high - low))
    # Unpaired it would be many times as wide.
    alone = sums[1][drawn].sum(axis=1) / sums[0][rng.integers(0, 200, (4000, 200))].sum(axis=1)
    assert np.ptp(np.quantile(alone, [0.025, 0.975])) > 3 * (found.high - found.low)


def test_a_mean_of_means_weighs_its_parts_alike():
    parts = [(shares(30, 1), shares(30, 2)), (shares(200, 3), shares(200, 4))]
    first, second = (Mean(tuple(leaf(pair[side]) for pair in parts)) for side in (0, 1))
    found = retained(first, second)
    means = [[side.mean() for side in pair] for pair in parts]
    assert found.value == pytest.approx(sum(b for _, b in means) / sum(a for a, _ in means))
    assert found.n == 230
    assert found.low < found.value < found.high


@pytest.mark.parametrize(
    ("ours", "theirs", "said"),
    [
        ([0.0] * 30, [1.0] * 30, "the baseline's score is 0"),
        ([0.5] * 30, [np.nan] + [1.0] * 29, "unscored"),
        ([0.5] * 5, [0.5] * 5, "fewer than 20 questions"),
    ],
)
def test_what_cannot_be_said_has_its_reason(ours, theirs, said):
    found = retained(leaf(ours), leaf(theirs))
    assert said in found.reason
    assert (found.low, found.high, found.p_value) == (None, None, None)
    assert (found.value is None) is ("fewer" not in said)


def test_of_ratios_nothing_is_retained():
    own = leaf(shares(30, 1))
    assert retained(Relative(own, (own,)), Relative(own, (own,))) is None
