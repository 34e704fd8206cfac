"""Problems are counted, and the first of each kind are named."""

from lm_eval_longbench.scoring.problems import KINDS, SHOWN, Problems, entry, sentence


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
