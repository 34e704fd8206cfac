"""The verdict of a margin: how often it is wrong, what it says where little differs, its noise."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from lm_eval_longbench.statistics.margin import NOT_WORSE, UNDECIDED, WORSE, judged
from lm_eval_longbench.statistics.tree import Leaf, Mean

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden"
SIMULATIONS, MARGIN = 1000, 0.02


def leaf(values, documents=None):
    keys = np.array([f"{number:06d}" for number in range(len(values))], "S16")
    return Leaf("x", keys, np.asarray(values, float), given_documents=documents)


def tree_of(parts):
    leaves = tuple(leaf(values) for values in parts)
    return leaves[0] if len(leaves) == 1 else Mean(leaves)


def changed(parts, difference, moved, rng):
    """Draw questions of a population and a second model's scores, less by `difference` on average.

    Some answers become wrong and some right: the chances are such that the difference is exact for
    the population. moved: share of answers that become right.
    """
    mean = float(np.mean([np.mean(scores) for scores in parts]))
    lost = (moved * (1 - mean) - difference) / mean
    drawn = [rng.choice(scores, len(scores)) for scores in parts]
    chances = [rng.random(len(scores)) for scores in parts]
    other = [
        np.where(chance < lost, 0.0, np.where(chance > 1 - moved, 1.0, scores))
        for scores, chance in zip(drawn, chances, strict=True)
    ]
    return tree_of(drawn), tree_of(other)


def wrong(parts, moved):
    """Return how often each answer is given where the truth lies at the margin."""
    rng = np.random.default_rng(1)
    found = [judged(*changed(parts, -MARGIN, moved, rng), MARGIN) for _ in range(SIMULATIONS)]
    verdicts = [one.verdict for one in found]
    return [verdicts.count(verdict) / SIMULATIONS for verdict in (NOT_WORSE, WORSE)]


def golden(name):
    """Return the scores of the golden data, one array a dataset."""
    if name == "v1":
        files = sorted((GOLDEN / "longbench_v1" / "llama3-8b-instruct").glob("*.scores.json"))
        return [np.array(json.loads(file.read_text()), float) for file in files]
    if name == "v2":
        path = GOLDEN / "longbench_v2" / "llama-3.1-8b-instruct.jsonl"
        return [np.array([float(json.loads(line)["judge"]) for line in path.open()])]
    runs = {}
    for line in (GOLDEN / "longbench_pro" / "summary_rows.jsonl").open():
        row = json.loads(line)
        runs.setdefault(row["id"], []).append(row["metric"])
    return [np.array([np.mean(scores) for scores in runs.values()])]


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="no shared/golden folder beside this repository")
@pytest.mark.parametrize("moved", [0.01, 0.1])
@pytest.mark.parametrize("name", ["v1", "v2", "pro"])
def test_golden_scores_are_judged_wrongly_in_at_most_five_percent(name, moved):
    assert max(wrong(golden(name), moved)) <= 0.05


@pytest.mark.parametrize("kind", ["right or wrong", "graded"])
def test_made_up_scores_are_judged_wrongly_in_at_most_five_percent(kind):
    rng = np.random.default_rng(2)
    values = rng.beta(0.5, 0.7, 600)
    parts = [np.round(values) if kind == "right or wrong" else values]
    assert max(wrong(parts, 0.05)) <= 0.05
    # Far from the margin it is told.
    found = [judged(*changed(parts, gain, 0.02, rng), 0.05).verdict for gain in (0.01, -0.2)]
    assert found == [NOT_WORSE, WORSE]


def test_where_no_question_differs_their_number_decides():
    """None of n differs: with 2.5% others would differ by at most 3.69 of n."""
    many, fewer = (leaf(np.ones(number)) for number in (400, 300))
    assert judged(many, many, 0.01).verdict == NOT_WORSE
    found = judged(fewer, fewer, 0.01)
    assert found.verdict == UNDECIDED
    assert found.low == -found.high == pytest.approx(np.log(0.025) / 300)
    assert found.more == 69
    # Questions of one document count as one: a third of the documents.
    own = leaf(np.ones(300), np.repeat(np.arange(1, 101, dtype=np.uint64), 3))
    assert judged(own, own, 0.01).low == pytest.approx(np.log(0.025) / 100)
    # Of a mean of parts the smallest part has the heaviest questions.
    both = Mean((many, leaf(np.ones(100))))
    assert judged(both, both, 0.01).low == pytest.approx(np.log(0.025) / 200)


def test_how_many_more_questions_decide():
    rng = np.random.default_rng(3)
    first = rng.integers(0, 2, 200).astype(float)
    second = np.where(rng.random(200) < 0.2, rng.integers(0, 2, 200), first)
    found = judged(leaf(first), leaf(second), 0.02)
    assert found.verdict == UNDECIDED and found.more > 0
    times = -(-(200 + found.more) // 200)
    whole = judged(leaf(np.tile(first, times)), leaf(np.tile(second, times)), 0.02)
    assert whole.verdict != UNDECIDED and whole.more == 0
    short = max(1, times // 2)
    half = judged(leaf(np.tile(first, short)), leaf(np.tile(second, short)), 0.02)
    assert half.verdict == UNDECIDED


def answers(scores):
    """Return what is read of answers, with as many repeats as scores have columns."""
    keys = leaf(scores[:, 0]).keys
    given = np.ones(scores.shape, bool)
    return SimpleNamespace(keys=keys, by_key=np.arange(len(keys)), given=given, scores=scores)


@pytest.mark.parametrize("within", [0.0, 0.5, 1.0])
def test_the_noise_of_sampling_is_told_from_that_of_questions(within):
    """Scores are the sum of a question's own part and of chance: their variances are known."""
    rng = np.random.default_rng(4)
    own = np.sqrt(1 - within) * rng.normal(size=(2, 4000, 1))
    one, other = own + np.sqrt(3 * within) * rng.normal(size=(2, 4000, 3))
    trees = [leaf(scores.mean(axis=1)) for scores in (one, other)]
    found = judged(*trees, 0.5, (answers(one), answers(other)))
    assert found.sampling == pytest.approx(within, abs=0.04)
    # Not of a figure that is no mean over the repeats, nor where one side has no repeats.
    best = [leaf(scores.max(axis=1)) for scores in (one, other)]
    assert within == 0 or judged(*best, 0.5, (answers(one), answers(other))).sampling is None
    single = leaf(one[:, 0])
    assert judged(single, trees[1], 0.5, (answers(one[:, :1]), answers(other))).sampling is None


def test_unscored_questions_have_no_verdict():
    assert judged(leaf([1, np.nan]), leaf([1, 1]), 0.1) is None
