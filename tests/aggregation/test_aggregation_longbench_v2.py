"""Figures of one LongBench v2 question, and the official table."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_longbench.aggregation.longbench_v2 import (
    SUB_SCORES,
    official_table,
    one_call_figures,
    question_figures,
)
from lm_eval_longbench.benchmarks.longbench_v2 import DIFFICULTIES, LENGTHS
from lm_eval_longbench.metrics.longbench_v2 import judge

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden" / "longbench_v2"
RIGHT, WRONG, UNPARSED, FAILED = (
    judge(text, "A") for text in ("The correct answer is (A)", "The correct answer is B", "A", "")
)


def test_a_question_has_every_figure_whether_it_is_about_it_or_not():
    question = {"difficulty": "hard", "length": "medium"}
    figures = question_figures(question, RIGHT, truncated=True)
    assert figures == {
        "acc": 1.0,
        "acc_easy": None,
        "acc_hard": 1.0,
        "acc_short": None,
        "acc_medium": 1.0,
        "acc_long": None,
        "acc_compensated": 1.0,
        "unparsed": 0.0,
        "failed": 0.0,
        "truncated": 1.0,
    }
    unparsed = question_figures(question, UNPARSED, truncated=False)
    assert (unparsed["acc"], unparsed["acc_compensated"], unparsed["unparsed"]) == (0.0, 0.25, 1.0)
    assert question_figures(question, FAILED, truncated=False)["failed"] == 1.0


def test_one_call():
    assert one_call_figures(WRONG, truncated=False) == {
        "acc_one_call": 0.0,
        "unparsed": 0.0,
        "failed": 0.0,
        "truncated": 0.0,
    }


def test_the_table_of_nothing_has_no_figures():
    assert official_table([]) == dict.fromkeys(("overall", *SUB_SCORES))


QUESTIONS = st.fixed_dictionaries(
    {"difficulty": st.sampled_from(DIFFICULTIES), "length": st.sampled_from(LENGTHS)}
)


@given(st.lists(st.tuples(QUESTIONS, st.sampled_from([0.0, 0.25, 1.0])), max_size=60))
def test_the_table_against_counting(rows):
    table = official_table(rows)
    assert list(table) == ["overall", "easy", "hard", "short", "medium", "long"]
    for name, figure in table.items():
        own = [worth for question, worth in rows if name == "overall" or name in question.values()]
        quarters = sum(round(4 * worth) for worth in own)
        assert figure == (round(25 * quarters / len(own), 1) if own else None)


@pytest.mark.skipif(not GOLDEN.exists(), reason="no golden figures beside this checkout")
def test_golden_figures():
    lines = (GOLDEN / "llama-3.1-8b-instruct.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [(row, judge(row["response"], row["answer"])) for row in map(json.loads, lines)]
    expected = json.loads((GOLDEN / "result.json").read_text())
    accuracy = official_table((row, verdict.accuracy) for row, verdict in rows)
    compensated = official_table((row, verdict.compensated) for row, verdict in rows)
    assert {"n": len(rows), **accuracy} == expected["default"]
    assert {"n": len(rows), **compensated} == expected["compensated"]
