"""The score by measured length of prompts, and how far it is kept."""

import numpy as np
import pytest
from figures_of import answers_of
from scored_runs import v2_row

from lm_eval_longbench.statistics.effective import FIRST, by_tokens

NONE = float("nan")


def found_of(scores, tokens, cut_at=None):
    """Of questions with a score and a length each; None: cut and not counted."""
    answers = answers_of("longbench_v2", [v2_row(f"q{n}", s) for n, s in enumerate(scores)])
    given = np.array([NONE if own is None else own for own in tokens], float)
    return by_tokens(answers, given, np.where(np.isnan(given), cut_at or NONE, NONE))


def test_groups_stand_at_the_geometric_mean_of_their_prompts():
    tokens = [FIRST] * 20 + [FIRST * 2] * 20 + [FIRST * 3.5] * 10 + [FIRST * 4] * 10
    found = found_of([1.0] * 40 + [0.0] * 20, tokens)
    last = (5 * np.log2(3.5) + 5 * 2) / 10
    assert found.positions == pytest.approx((0, 1, last))
    assert [leaf.value for leaf in found.leaves] == [1.0, 1.0, 0.0]
    # The fall to 0 is straight from step 1 to the last group: a tenth of the way keeps 90 %.
    assert found.effective().position == pytest.approx(1 + 0.1 * (last - 1))
    assert found.effective(0.5).position == pytest.approx(1 + 0.5 * (last - 1))


def test_lengths_with_few_questions_join_the_next_longer_and_the_last_the_one_before():
    found = found_of(
        [1.0] * 64, [FIRST] * 6 + [FIRST * 2] * 18 + [FIRST * 8] * 30 + [FIRST * 64] * 10
    )
    assert [leaf.n for leaf in found.leaves] == [24, 40]
    assert found.positions == pytest.approx((18 / 24, (30 * 3 + 10 * 6) / 40))
    assert found.effective().position == pytest.approx(found.longest)


def test_what_was_cut_and_not_counted_stands_at_the_limit_with_the_longest():
    limit = 4 * FIRST
    tokens = [FIRST] * 20 + [6 * FIRST] * 5 + [None] * 20
    found = found_of([1.0] * 20 + [0.5] * 25, tokens, limit)
    assert found.positions == (0.0, 2.0)  # what is longer than the limit cannot be told apart
    assert [leaf.n for leaf in found.leaves] == [20, 25]
    assert found.effective().position == pytest.approx(0.2 * 2)


def test_an_unknown_limit_and_a_single_length_have_no_curve():
    assert found_of([1.0] * 40, [FIRST] * 20 + [None] * 20) is None
    assert found_of([1.0] * 40, [FIRST] * 40) is None
    assert found_of([1.0] * 12, [FIRST] * 6 + [2 * FIRST] * 6) is None


def test_the_interval_holds_the_value():
    chance = np.random.default_rng(3)
    scores = (chance.random(300) < np.repeat([0.7, 0.65, 0.2], 100)).astype(float)
    own = found_of(scores, np.repeat([FIRST, 4 * FIRST, 16 * FIRST], 100)).effective()
    assert 0 <= own.low < own.position < own.high <= 4
    assert 0 < own.high - own.low < 4
