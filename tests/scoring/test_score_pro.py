"""Samples of LongBench Pro."""

import pytest
from prediction_rows import pro_row

from lm_eval_longbench.offline.official_pro import read_row
from lm_eval_longbench.offline.score_pro import score
from MISSING:offline.source import PRO_FILE
from lm_eval_longbench.scoring.files import Source


def scored(row):
    (sample,) = read_row(row, 0, Source(0, 0, "a", PRO_FILE, "longbench_pro"))
    return score(sample)


@pytest.mark.parametrize(
    ("row", "worth", "failed"),
    [
        (pro_row("q", "[Answer]\nEmma"), 1.0, False),
        (pro_row("q", "<think>[Answer]\nBob</think>[Answer]\nEmma"), 1.0, False),
        (pro_row("q", "Bob"), 0.0, False),
        (pro_row("q", None), 0.0, True),
        (pro_row("q", "a\nb", code="t6_1", answer=["a", "c"]), 0.5, False),
        # Repeated gold items push the pairs above their number: 0, and failed.
        (pro_row("q", "a\nb", code="t2_1", answer=["a", "a", "a", "b"]), 0.0, True),
    ],
)
def test_items(row, worth, failed):
    found = scored(row)
    assert (found.score, found.failed, found.summary) == (worth, failed, None)
    assert "rouge_l" not in found.shown


def test_a_summary_waits_for_its_similarity():
    found = scored(
        pro_row("q", "<think>x</think>The Cat sat.", code="t4_2", answer=["the cat sat."])
    )
    assert (found.score, found.failed, found.summary) == (None, False, "The Cat sat.")
    assert found.shown["rouge_l"] == pytest.approx(1.0, abs=1e-8)
    assert found.shown["semantic_similarity"] is None


def test_an_empty_summary_has_its_score():
    found = scored(pro_row("q", "<think>x", code="t4_1"))
    assert (found.score, found.failed, found.summary) == (0.0, True, "")
    assert (found.shown["rouge_l"], found.shown["semantic_similarity"]) == (0.0, None)
