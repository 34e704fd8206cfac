"""Samples of LongBench v1 and E."""

import pytest
from prediction_rows import v1_row

from v1_tasks import BY_FILE
from lm_eval_longbench.offline.official_v1 import read_row
from lm_eval_longbench.offline.score_v1 import score
from MISSING:offline.source import V1_FILE
from lm_eval_longbench.scoring.files import Source


def scored(row, stem="qasper"):
    split = BY_FILE[stem]
    (sample,) = read_row(row, 0, Source(0, 0, "a", V1_FILE, split.table, split.name))
    return score(sample)


@pytest.mark.parametrize(
    ("stem", "row", "expected"),
    [
        ("hotpotqa", v1_row("the Emma", "Emma"), 1.0),
        ("hotpotqa", v1_row("Emma Smith", "Bob", "Emma"), 2 / 3),  # precision 1/2, recall 1
        ("hotpotqa", v1_row("nobody", "Emma"), 0.0),
        ("passage_count_e", v1_row("3 or 4", "3"), 0.5),
        ("trec", v1_row("\nHuman or Animal\nx", "Human", classes=["Human", "Animal"]), 0.5),
        ("repobench-p", v1_row("`\nreturn x", "return x"), 1.0),
        ("dureader", v1_row("灯塔由王小明建造", "灯塔由王小明建造"), 1.0),
    ],
)
def test_hand_made_scores(stem, row, expected):
    found = scored(row, stem)
    assert found.score == pytest.approx(expected, abs=1e-8)
    assert found.failed is False
    assert found.summary is None and found.differing is None


@pytest.mark.parametrize(
    ("pred", "worth", "failed"),
    [
        ("<think>Bob</think>\n\nEmma", 1.0, False),
        ("<think>Emma", 0.0, True),
        (" \n", 0.0, True),
        ("", 0.0, True),
        ("Bob", 0.0, False),
        ("\ud800\0Emma", 0.0, False),
    ],
)
def test_reasoning_is_dropped_and_empty_answers_have_failed(pred, worth, failed):
    found = scored(v1_row(pred, "Emma"))
    assert (found.score, found.failed) == (worth, failed)
