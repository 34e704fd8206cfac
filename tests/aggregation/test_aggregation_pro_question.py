"""Figures of one question over its repeats."""

import pytest

from lm_eval_longbench.figures.means import mean_if_all_known
from lm_eval_longbench.aggregation.pro_question import question_figures
from lm_eval_longbench.aggregation.repeats import mean_of_repeats
from lm_eval_longbench.benchmarks.longbench_pro import BY_CODE


def figures(code, answers, golds, similarities=None, *, official=False, truncated=False):
    return question_figures(
        BY_CODE[code],
        "English",
        answers,
        golds,
        similarities,
        official=official,
        truncated=truncated,
    )


def test_items_are_averaged_and_the_best_counts():
    # F1 of {x} against {x, y}: 2 * 1 * 0.5 / 1.5 = 2/3
    assert figures("t5_1", ["[Answer]\nx\ny", "[Answer]\nx", ""], ["x", "y"]) == {
        "score": pytest.approx((1 + 2 / 3 + 0) / 3, abs=1e-12),
        "best_of_n": 1.0,
        "pass_at_n": 1.0,
        "failed": pytest.approx(1 / 3, abs=1e-12),
        "truncated": 0.0,
    }


def test_no_repeat_passes():
    found = figures("t5_1", ["[Answer]\nx"], ["x", "y"], truncated=True)
    assert found["pass_at_n"] == 0.0
    assert found["truncated"] == 1.0


def test_a_summary_without_similarity_has_no_score_but_its_rouge():
    found = figures("t4_1", ["a b", "c"], ["a b"])
    assert list(found) == [
        "score",
        "best_of_n",
        "pass_at_n",
        "rouge_l",
        "semantic_similarity",
        "failed",
        "truncated",
    ]
    assert found["score"] is found["best_of_n"] is found["pass_at_n"] is None
    assert found["semantic_similarity"] is None
    assert found["rouge_l"] == pytest.approx(0.5, abs=1e-6)


def test_an_official_similarity_makes_the_score():
    found = figures("t4_1", ["a b", "c"], ["a b"], [0.8, 0.2], official=True)
    # (0.5 * 0.8 + 0.5 * 1 + 0.5 * 0.2 + 0.5 * 0) / 2
    assert found["score"] == pytest.approx(0.5, abs=1e-6)
    assert found["best_of_n"] == pytest.approx(0.9, abs=1e-6)
    assert found["pass_at_n"] == 1.0
    assert found["semantic_similarity"] == pytest.approx(0.5, abs=1e-12)


def test_another_models_similarity_is_shown_and_makes_no_score():
    found = figures("t4_1", ["a b"], ["a b"], [0.8], official=False)
    assert found["semantic_similarity"] == 0.8
    assert found["score"] is None


def test_an_empty_summary_is_zero_and_failed():
    found = figures("t4_1", ["", "a b"], ["a b"], [None, 1.0], official=True)
    assert found["failed"] == 0.5
    assert found["score"] == pytest.approx(0.5, abs=1e-6)
    assert found["semantic_similarity"] == 0.5


def test_mean_of_repeats_keeps_the_unknown_unknown():
    assert mean_of_repeats([{"a": 1.0, "b": None}, {"a": 0.0, "b": None}]) == {"a": 0.5, "b": None}
    assert mean_of_repeats([{"a": 1.0}, {"a": None}]) == {"a": None}


def test_mean_if_all_known_is_nan_as_soon_as_one_is_not():
    assert mean_if_all_known([1.0, 0.0]) == 0.5
    for values in ([1.0, None], [None], []):
        assert mean_if_all_known(values) != mean_if_all_known(values)
