import json
import math
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import pro_summary as oracle
from oracles.texts import EXACT, examples

from lm_eval_longbench.aggregation.longbench_pro import (
    best_of_n,
    mean_score,
    pass_at_n,
    summarize,
)
from lm_eval_longbench.benchmarks.longbench_pro import DIMENSIONS, PRIMARY_TASKS
from lm_eval_longbench.errors import PredictionError, UnknownNameError

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden" / "longbench_pro"
T3, T4 = PRIMARY_TASKS[2], PRIMARY_TASKS[3]
DEFAULTS = {
    "token_length": "8k",
    "contextual_requirement": "Full",
    "difficulty": "Easy",
    "primary_task": T3,
    "language": "English",
}


def question(name, scores, **values):
    """Rows of one question; a score of "-" leaves the run out."""
    return [
        {"id": name, "bon_idx": run, **DEFAULTS, **values, "metric": score}
        for run, score in enumerate(scores, start=1)
        if score != "-"
    ]


def flat(figures, before=()):
    for name, value in figures.items():
        if isinstance(value, dict):
            yield from flat(value, (*before, name))
        else:
            yield (*before, name), value


def assert_equal(found, expected, tolerance=EXACT):
    """The same keys in the same order, the same figures."""
    found, expected = list(flat(found)), list(flat(expected))
    assert [name for name, _ in found] == [name for name, _ in expected]
    for (name, mine), (_, other) in zip(found, expected, strict=True):
        assert type(mine) is type(other), (name, mine, other)
        assert mine == other or abs(mine - other) <= tolerance, (name, mine, other)


PER_QUESTION = {
    # scores, mean, best, passed, passed as a summary
    "one": ([0.5], 0.5, 0.5, 0.0, 0.0),
    "three": ([0.2, 1.0, 0.3], 0.5, 1.0, 1.0, 1.0),  # 1.5/3
    "right every time": ([1.0, 1.0, 1.0], 1.0, 1.0, 1.0, 1.0),
    "almost right": ([0.9999999999999999, 0.0], 0.49999999999999994, 1 - 2**-53, 0.0, 1.0),
    "zeros": ([0.0, 0.0], 0.0, 0.0, 0.0, 0.0),
    "0.65 does not pass": ([0.65, 0.05], 0.35, 0.65, 0.0, 0.0),
    "a little more does": ([0.05, 0.6500000000000001], 0.35, 0.6500000000000001, 0.0, 1.0),
    "a summary that is not scored": ([0.9, None], None, None, None, None),
    "none scored": ([None, None], None, None, None, None),
    "no score": ([], None, None, None, None),
}


@pytest.mark.parametrize(
    ("scores", "mean", "best", "passed", "summary_passed"),
    PER_QUESTION.values(),
    ids=PER_QUESTION.keys(),
)
def test_one_question(scores, mean, best, passed, summary_passed):
    assert mean_score(scores) == (None if mean is None else pytest.approx(mean, rel=0, abs=EXACT))
    assert best_of_n(scores) == best
    assert pass_at_n(scores, is_summary=False) == passed
    assert pass_at_n(scores, is_summary=True) == summary_passed


def test_the_order_of_scores_leaves_no_trace():
    scores = [0.1, 0.7, 0.3, 1e-17, 0.9]
    assert len({mean_score(random.Random(seed).sample(scores, 5)) for seed in range(50)}) == 1


ROWS = [
    *question("a", [0.0, 1.0, 0.5]),  # means 1/2
    *question("b", [0.25, 0.25, 1.0], token_length="16k", language="Chinese"),  # 1/2
    *question("c", [0.6, 0.66, 0.9], primary_task=T4, difficulty="Hard"),  # 2.16/3 = 0.72
    *question("d", [0.65, 0.05, 0.2], primary_task=T4, contextual_requirement="Partial"),  # 0.3
]


def test_hand_worked():
    summary = summarize(ROWS)
    expected = {
        "total_questions_num": 4,
        "inference_iterations": 3,
        "total_samples_num": 12,
        "fail_samples_num": 0,
        "inference_inconsistent_samples_num": 0,
        "average_overall_metric": 0.505,  # (0.5 + 0.5 + 0.72 + 0.3) / 4
        "inference_iteration_1_overall_metric": 0.375,  # (0 + 0.25 + 0.6 + 0.65) / 4
        "inference_iteration_2_overall_metric": 0.49,  # (1 + 0.25 + 0.66 + 0.05) / 4
        "inference_iteration_3_overall_metric": 0.65,  # (0.5 + 1 + 0.9 + 0.2) / 4
        "pass@1": 0.0,  # d has 0.65
        "pass@2": 0.5,  # a; c with 0.66
        "pass@3": 0.75,  # b too
    }
    assert {name: summary[name] for name in expected} == pytest.approx(expected, abs=EXACT)
    # 8k: a c d = (0.5 + 0.72 + 0.3) / 3
    lengths = {"8k": 1.52 / 3, "16k": 0.5, "32k": None, "64k": None, "128k": None, "256k": None}
    assert_equal(summary["average_token_length_metric"], lengths)
    assert_equal(summary["average_language_metric"], {"Chinese": 0.5, "English": 1.52 / 3})
    # full: a b c = 1.72 / 3
    assert_equal(
        summary["average_contextual_requirement_metric"], {"Full": 1.72 / 3, "Partial": 0.3}
    )
    assert summary["average_primary_task_metric"][T4] == pytest.approx(0.51, abs=EXACT)
    # best of 2: 1, 0.25, 0.66, 0.65
    best = summary["BoN-2"]
    assert best["overall_metric"] == pytest.approx(0.64, abs=EXACT)
    assert_equal(best["language"], {"Chinese": 0.25, "English": 2.31 / 3})
    # a b d = 1.9
    difficulties = {"Easy": 1.9 / 3, "Moderate": None, "Hard": 0.66, "Extreme": None}
    assert_equal(best["difficulty"], difficulties)
    assert "unscored_samples_num" not in summary


def test_every_value_of_every_dimension_is_named_in_the_official_order():
    summary = summarize(ROWS[:1])
    for dimension, values in DIMENSIONS.items():
        assert tuple(summary[f"average_{dimension}_metric"]) == values
        assert tuple(summary["BoN-1"][dimension]) == values


def test_questions_that_lack_runs_are_counted_and_take_part():
    rows = [
        *question("a", [0.2, 0.4, 0.6]),  # 0.4
        *question("b", ["-", 1.0, 0.6]),  # 0.8
        *question("c", [0.1]),  # 0.1
        *question("d", ["-", "-", 0.5]),  # 0.5
    ]
    summary = summarize(rows)
    assert summary["total_questions_num"] == 4
    assert summary["total_samples_num"] == 7
    assert summary["inference_iterations"] == 3
    assert summary["inference_inconsistent_samples_num"] == 3
    close = {
        "average_overall_metric": 0.45,  # 1.8 / 4
        "inference_iteration_1_overall_metric": 0.15,  # a c
        "inference_iteration_2_overall_metric": 0.7,  # a b
        "inference_iteration_3_overall_metric": 1.7 / 3,  # a b d
        "pass@1": 0.0,
        "pass@2": 1 / 3,  # b of a b c
        "pass@3": 1 / 4,
    }
    assert {name: summary[name] for name in close} == pytest.approx(close, abs=EXACT)
    best = [summary[f"BoN-{runs}"]["overall_metric"] for runs in (1, 2, 3)]
    # 0.2 0.1; 0.4 1.0 0.1; 0.6 1.0 0.1 0.5
    assert best == pytest.approx([0.15, 0.5, 0.55], abs=EXACT)


def test_the_number_of_runs_can_be_said():
    summary = summarize(question("a", [0.5, 1.0]), iterations=3)
    assert summary["inference_iterations"] == 3
    assert summary["inference_inconsistent_samples_num"] == 1
    assert summary["inference_iteration_3_overall_metric"] is None
    assert summary["BoN-3"]["overall_metric"] == 1.0


def test_unscored_summaries_are_neither_zero_nor_left_out():
    rows = [
        *question("a", [0.0, 1.0], language="Chinese"),
        *question("s", [0.8, None], primary_task=T4),
    ]
    summary = summarize(rows)
    assert summary["unscored_samples_num"] == 1
    assert list(summary)[-1] == "unscored_samples_num"
    assert summary["total_samples_num"] == 4
    assert summary["inference_inconsistent_samples_num"] == 0
    unknown = [
        "average_overall_metric",
        "inference_iteration_2_overall_metric",
        "pass@2",
    ]
    assert [summary[name] for name in unknown] == [None] * 3
    # What does not contain the unscored sample is known.
    assert summary["inference_iteration_1_overall_metric"] == pytest.approx(0.4, abs=EXACT)
    assert summary["pass@1"] == 0.5
    assert summary["average_language_metric"] == {"Chinese": 0.5, "English": None}
    assert summary["average_primary_task_metric"][T3] == 0.5
    assert summary["average_primary_task_metric"][T4] is None
    assert summary["BoN-1"]["primary_task"][T4] == 0.8
    assert summary["BoN-2"]["primary_task"][T4] is None
    assert summary["BoN-2"]["language"] == {"Chinese": 1.0, "English": None}


def test_failed_samples_are_counted():
    rows = question("a", [0.0, 0.0, 1.0])
    rows[0]["failed"], rows[1]["failed"], rows[2]["failed"] = True, 1.0, False
    assert summarize(rows)["fail_samples_num"] == 2
    assert summarize(question("a", [0.0]))["fail_samples_num"] == 0


def test_no_rows():
    summary = summarize([])
    assert summary["total_questions_num"] == summary["inference_iterations"] == 0
    assert summary["average_overall_metric"] is None
    assert set(summary["average_language_metric"].values()) == {None}


def test_a_run_that_comes_twice_is_an_error():
    with pytest.raises(PredictionError, match="'a' has run 1 twice"):
        summarize([*question("a", [0.5]), *question("a", [0.5])])


@pytest.mark.parametrize(("run", "iterations"), [(0, None), (-1, None), (4, 3), (0, 3)])
def test_a_run_out_of_range_is_an_error(run, iterations):
    rows = [*question("a", [0.5]), {**question("b", [0.5])[0], "bon_idx": run}]
    with pytest.raises(PredictionError, match=f"'b' has a row of run {run}"):
        summarize(rows, iterations)


@pytest.mark.parametrize("iterations", [None, 10**9])
def test_more_runs_than_are_summarized_are_an_error(iterations):
    rows = [{**question("b", [0.5])[0], "bon_idx": 10**9}]
    with pytest.raises(PredictionError, match="1000000000 runs; at most 256 are summarized"):
        summarize(rows, iterations)


@pytest.mark.parametrize("dimension", list(DIMENSIONS))
def test_an_unknown_value_is_an_error(dimension):
    with pytest.raises(UnknownNameError, match=f"{dimension} 'other'"):
        summarize(question("a", [0.5], **{dimension: "other"}))


@st.composite
def row_lists(draw, metrics):
    runs = draw(st.integers(1, 4))
    rows = []
    for number in range(draw(st.integers(1, 8))):
        values = {name: draw(st.sampled_from(values)) for name, values in DIMENSIONS.items()}
        if draw(st.booleans()):
            values["primary_task"] = T4
        scores = draw(st.lists(st.one_of(metrics, st.just("-")), min_size=runs, max_size=runs))
        rows += question(f"q{number}", scores, **values)
    for row in rows:
        if draw(st.booleans()):
            row["failed"] = draw(st.booleans())
    return draw(st.permutations(rows)), runs


scores = st.one_of(st.sampled_from([0.0, 0.65, 0.6500000001, 1.0]), st.floats(0, 1))


@examples(80)
@given(row_lists(scores))
def test_equals_oracle(case):
    rows, runs = case
    assert_equal(summarize(rows, runs), oracle.summary(rows, runs, DIMENSIONS))


@examples(80)
@given(row_lists(st.one_of(scores, st.none())))
def test_equals_oracle_with_unscored_samples(case):
    rows, runs = case
    assert_equal(summarize(rows, runs), oracle.summary(rows, runs, DIMENSIONS))


@examples(60)
@given(row_lists(scores), st.randoms(use_true_random=False))
def test_same_bytes_in_any_order(case, rng):
    rows, runs = case
    before = json.dumps(summarize(rows, runs))
    rows = rng.sample(rows, len(rows))
    assert json.dumps(summarize(iter(rows), runs)) == before


@examples(60)
@given(row_lists(scores))
def test_more_runs_never_hurt(case):
    rows, runs = case
    whole = [row for row in rows if sum(other["id"] == row["id"] for other in rows) == runs]
    summary = summarize(whole, runs)
    best = [summary[f"BoN-{run}"]["overall_metric"] for run in range(1, runs + 1)]
    passed = [summary[f"pass@{run}"] for run in range(1, runs + 1)]
    if whole:
        assert best == sorted(best)
        assert passed == sorted(passed)
        assert best[0] == summary["inference_iteration_1_overall_metric"]


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="no shared/golden folder beside this repository")
@pytest.mark.parametrize("seed", [None, 1, 2])
def test_equals_the_official_summary(seed):
    lines = (GOLDEN / "summary_rows.jsonl").read_text(encoding="utf-8").split("\n")
    rows = [json.loads(line) for line in lines if line]
    assert len(rows) == 1200
    if seed is not None:
        random.Random(seed).shuffle(rows)
    expected = json.loads((GOLDEN / "summary.json").read_text(encoding="utf-8"))
    summary = summarize(rows)
    # The golden file lacks this key of official runs.
    assert summary.pop("fail_samples_num") == 0
    assert_equal(summary, expected, tolerance=1e-9)
    assert not any(isinstance(value, float) and math.isnan(value) for _, value in flat(summary))
