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


def test_nothing():
    expected = {}
    for kind in KINDS:
        expected |= {kind: [], f"{kind}_total": 0}
    assert Problems().as_json() == expected
    assert list(expected)[:4] == ["malformed", "malformed_total", "duplicate", "duplicate_total"]


def test_all_are_counted_and_the_first_kept():
    problems = Problems()
    for number in range(3):
        own = [entry("a", line, "x") for line in range(number * 60, number * 60 + 60)]
        problems.add("malformed", *own)
    problems.add("foreign", entry("a", None, "is nothing"), number=1000)
    found = problems.as_json()
    assert [own["line"] for own in found["malformed"]] == list(range(SHOWN))
    assert (found["malformed_total"], found["foreign_total"]) == (180, 1000)
    assert problems.number() == 1180
    assert problems.number(["foreign"]) == 1000
    assert problems.first("foreign") == [{"file": "a", "line": None, "reason": "is nothing"}]


def test_in_words():
    assert sentence("malformed", entry("a", 3, "not JSON")) == "a, line 3: not JSON"
    assert sentence("duplicate", entry("a", None, "the same bytes as b")) == (
        "a: the same bytes as b"
    )
    assert sentence("foreign", entry("a", 3, "is no dataset")) == "a, line 3 is no dataset"
    missing = {"table": "t", "task": "t_x", "questions": 3, "official_questions": 60}
    assert sentence("missing", missing) == "t_x: 3 of 60 official questions"
    differing = {"file": "a", "line": 3, "id": "q", "stored": None, "extracted": "B"}
    assert sentence("differing_pred", differing) == (
        "a, line 3: question 'q': stored None, extracted 'B'"
    )


MISSING = {"table": "t", "task": "t_x", "questions": 3, "official_questions": 60}

COPIED = {"table": "t", "task": "t_x", "questions": 60, "copies": 3}
OF_TASK = {"missing": MISSING, "copied": COPIED}


def test_strict_accepts_what_has_no_problem():
    problems = Problems()
    problems.add("differing_pred", {"file": "a", "line": 1, "id": "q"})  # is scored all the same
    check_strict(problems)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "differing_pred"])
def test_strict_names_each_kind(kind):
    problems = Problems()
    problems.add(kind, OF_TASK.get(kind, entry("file", 7, "reason")), number=5)
    with pytest.raises(PredictionError) as caught:
        check_strict(problems)
    message = str(caught.value)
    assert message.startswith("5 ")
    assert "and strict is on; nothing was written." in message
    assert f"\n  {kind}: " in message
    assert ("t_x: 3 of 60" if kind in OF_TASK else "file, line 7") in message


def test_strict_names_twenty_of_each_and_counts_all():
    problems = Problems()
    for line in range(50):
        problems.add("malformed", entry("a", line, "x"))
        problems.add("foreign", entry("b", line, "is x"))
    with pytest.raises(PredictionError) as caught:
        check_strict(problems)
    first, *lines = str(caught.value).splitlines()
    assert first.startswith("50 malformed lines, 50 foreign files or lines, and strict is on")
    assert [line for line in lines if line.endswith("...")] == [
        "  malformed: ...",
        "  foreign: ...",
    ]
    assert len(lines) == 42


def test_an_empty_result_is_none():
    problems = Problems()
    problems.add("malformed", entry("a", 1, "not JSON"))
    with pytest.raises(PredictionError, match="No line of the input can be scored") as caught:
        check_scored(0, problems)
    assert "a, line 1: not JSON" in str(caught.value)
    assert "name it with benchmark" in str(caught.value)
    check_scored(1, problems)
