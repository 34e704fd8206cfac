"""What an answer to a LongBench v2 question is worth."""

import pytest

from lm_eval_longbench.metrics.letter import judge


@pytest.mark.parametrize(
    ("response", "choice", "accuracy", "compensated", "failed"),
    [
        ("The correct answer is (B)", "B", 1.0, 1.0, False),
        ("The correct answer is (C)", "C", 0.0, 0.0, False),
        ("It is B.", None, 0.0, 0.25, False),
        ("", None, 0.0, 0.25, True),
        (" \n", None, 0.0, 0.25, True),
        ("<think>The correct answer is (C)</think>The correct answer is (B)", "B", 1.0, 1.0, False),
        # Cut off while thinking: no letter, but the call did not fail.
        ("<think>The correct answer is (B), but", None, 0.0, 0.25, False),
    ],
)
def test_verdicts(response, choice, accuracy, compensated, failed):
    verdict = judge(response, "B")
    assert (verdict.choice, verdict.accuracy, verdict.compensated, verdict.failed) == (
        choice,
        accuracy,
        compensated,
        failed,
    )
    assert verdict.unparsed == (choice is None)
