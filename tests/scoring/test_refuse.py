"""When nothing is written."""

import pytest

from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.scoring.problems import KINDS, Problems, entry
from lm_eval_longbench.scoring.problems import check_scored, check_strict

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
    assert "and --strict is on; nothing was written." in message
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
    assert first.startswith("50 malformed lines, 50 foreign files or lines, and --strict is on")
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
    assert "--benchmark" in str(caught.value)
    check_scored(1, problems)
