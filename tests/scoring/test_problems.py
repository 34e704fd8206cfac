"""Problems are counted, and the first of each kind are named; when nothing is written."""

import pytest

from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.scoring.problems import (
    KINDS,
    SHOWN,
    Problems,
    check_scored,
    check_strict,
    entry,
    sentence,
)


def test_all_are_counted_and_the_first_kept():
    problems = Problems()
    for number in range(3):
        own = [entry("a", line, "x") for line in range(number * 60, number * 60 + 60)]
        problems.add("malformed", *own)
    problems.add("foreign", entry("a", None, "is nothing"), number=1000)
    found = problems.as_json()
    assert list(found)[:4] == ["malformed", "malformed_total", "duplicate", "duplicate_total"]
    assert [own["line"] for own in found["malformed"]] == list(range(SHOWN))
    assert (found["malformed_total"], found["foreign_total"]) == (180, 1000)
    assert (found["missing"], found["missing_total"]) == ([], 0)


MISSING = {"table": "t", "task": "t_x", "questions": 3, "official_questions": 60}
COPIED = {"table": "t", "task": "t_x", "questions": 60, "copies": 3}
DIFFERING = {"file": "a", "line": 3, "id": "q", "stored": None, "extracted": "B"}


@pytest.mark.parametrize(
    ("kind", "problem", "text"),
    [
        ("malformed", entry("a", 3, "not JSON"), "a, line 3: not JSON"),
        ("duplicate", entry("a", None, "the same bytes as b"), "a: the same bytes as b"),
        ("foreign", entry("a", 3, "is no dataset"), "a, line 3 is no dataset"),
        ("missing", MISSING, "t_x: 3 of 60 official questions"),
        ("copied", COPIED, "t_x: 3 of 60 questions are copies of others there"),
        ("differing_pred", DIFFERING, "a, line 3: question 'q': stored None, extracted 'B'"),
    ],
)
def test_in_words_and_strict(kind, problem, text):
    assert kind in KINDS and sentence(kind, problem) == text
    problems = Problems()
    problems.add(kind, problem, number=5)
    if kind == "differing_pred":  # is scored all the same
        check_strict(problems)
        return
    with pytest.raises(PredictionError, match=r"^5 .* and strict is on; nothing was written") as no:
        check_strict(problems)
    assert f"\n  {kind}: {text}" in str(no.value)


def test_strict_names_twenty_of_each_and_counts_all():
    problems = Problems()
    for line in range(50):
        problems.add("malformed", entry("a", line, "x"))
    with pytest.raises(PredictionError, match="50 malformed lines, and strict is on") as caught:
        check_strict(problems)
    _, *lines = str(caught.value).splitlines()
    assert len(lines) == 21 and lines[-1].endswith("and 30 more")


def test_an_empty_result_is_none():
    problems = Problems()
    problems.add("malformed", entry("a", 1, "not JSON"))
    with pytest.raises(PredictionError, match="No line of the input can be scored") as caught:
        check_scored(0, problems)
    assert "a, line 1: not JSON" in str(caught.value)
    check_scored(1, problems)
