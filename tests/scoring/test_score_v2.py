"""Samples of LongBench v2."""

import pytest
from prediction_rows import says, v2_question, v2_row

from lm_eval_longbench.offline.official_v2 import read_row
from lm_eval_longbench.offline.score_v2 import score
from MISSING:offline.source import V2_FILE
from lm_eval_longbench.scoring.files import Source


def scored(row):
    (sample,) = read_row(row, 0, Source(0, 0, "a", V2_FILE, "longbench_v2", "longbench_v2"))
    return score(sample)


@pytest.mark.parametrize(
    ("given", "worth", "failed", "choice", "compensated"),
    [
        ({"response": says("B")}, 1.0, False, "B", 1.0),
        ({"response": says("A")}, 0.0, False, "A", 0.0),
        ({"response": "It is B."}, 0.0, False, None, 0.25),
        ({"response": ""}, 0.0, True, None, 0.25),
        ({"response": None}, 0.0, True, None, 0.25),
        ({"pred": "B"}, 1.0, False, "B", 1.0),
        ({"pred": "C"}, 0.0, False, "C", 0.0),
        ({"pred": None}, 0.0, False, None, 0.25),  # whether the call failed is not known
        ({"response": f"<think>{says('A')}</think>{says('B')}"}, 1.0, False, "B", 1.0),
    ],
)
def test_what_answers_are_worth(given, worth, failed, choice, compensated):
    found = scored({**v2_question("q"), **given})
    assert (found.score, found.failed) == (worth, failed)
    assert found.shown["choice"] == choice
    assert found.shown["unparsed"] == (choice is None)
    assert found.shown["compensated"] == compensated
    assert list(found.shown) == [
        "domain",
        "sub_domain",
        "difficulty",
        "length",
        "choice",
        "unparsed",
        "compensated",
        "dropped",
    ]
    assert found.differing is None


@pytest.mark.parametrize(
    ("stored", "response", "expected"),
    [
        ("B", says("B"), None),
        (None, "no letter", None),
        ("", "no letter", None),
        ("A", says("B"), ("A", "B")),
        (None, says("B"), (None, "B")),
        ("B", "no letter", ("B", None)),
        ("B", "", ("B", None)),
        (7, says("B"), ("7", "B")),
    ],
)
def test_a_stored_letter_is_compared(stored, response, expected):
    found = scored({**v2_row("q"), "response": response, "pred": stored})
    assert found.differing == expected
