"""One table's part of the report."""

import itertools

from scored_runs import v1_rows, v2_row

from lm_eval_longbench.scoring.merge import TableAnswers
from lm_eval_longbench.scoring.report import table_report

QASPER, TREC = "longbench_v1_qasper", "longbench_v1_trec"


NUMBER = itertools.count()


def line(score=1.0, failed=False, truncated=None, **more):
    """An answer to a question of its own."""
    (row,) = v1_rows({"qasper": [score]})
    own = {"id": f"q{next(NUMBER)}", "failed": failed, "truncated": truncated}
    return {**row, **own, **more}


def made(name, *lines, repeats=1, official=True, policy="drop", **more):
    own = TableAnswers(name, lines, repeats, official, policy, ["x"], runs=["run"], **more)
    return table_report(own)


def test_a_table():
    found = made(
        "longbench_v1",
        line(1.0, failed=False, truncated=False),
        expected=[TREC],
        malformed={TREC: 3, None: 4},
        duplicates={QASPER: 5},
    )
    assert found["benchmark"] == "longbench_v1"
    assert found["official"] == {"qasper": 100.0, "trec": None}
    assert (found["repeats"], found["data"], found["runs"]) == (1, ["x"], ["run"])
    assert found["counts"] == {
        "questions": 1,
        "samples": 1,
        "scored": 1,
        "unscored": 0,
        "failed": 0,
        "reasoned": 0,
        "truncated": 0,
        "capped": None,
        "inconsistent": 0,
        "malformed": 7,
        "duplicate": 5,
        "official_questions": 4750,
        "missing": 4749,
    }
    assert list(found["tasks"]) == [QASPER, TREC]
    assert found["tasks"][TREC] == {
        "questions": 0,
        "samples": 0,
        "score": None,
        "failed": 0,
        "unscored": 0,
        "reasoned": 0,
        "truncated": None,
        "capped": None,
        "malformed": 3,
        "duplicate": 0,
        "copies": 0,
        "official_questions": 200,
        "missing": 200,
    }
    assert found["tasks"][QASPER]["score"] == 1.0
    assert found["tasks"][QASPER]["copies"] == 0


def test_of_other_data_it_is_not_known_what_is_missing():
    found = made("longbench_v1", line(), official=False)
    assert found["counts"]["missing"] is None
    assert found["counts"]["truncated"] is None
    assert found["tasks"][QASPER]["missing"] is None


def test_v2_has_its_other_ways_to_count():
    for official in (True, False):
        found = made("longbench_v2", v2_row("q", 1.0), official=official)
        assert found["official"]["overall"] == found["accuracy"]["overall"] == 100.0
        assert (found["strict"] is not None) == official
        assert found["counts"]["unparsed"] == 0
        assert found["parts"]["easy"]["samples"] == 1


def test_answers_that_hold_reasoning_have_a_second_figure():
    other = {"without_reasoning": {"score": 1.0, "failed": False}}
    row = line(0.4)
    again = {**row, "repeat": 2, "score": 0.0, "failed": True}
    found = made("longbench_v1", row | other, again, repeats=2, policy="keep")
    assert found["official"] == {"qasper": 20.0}
    assert found["reasoning"] == {
        "policy": "keep",
        "answers": 1,
        "other": {"policy": "drop", "official": {"qasper": 50.0}},
    }
    task = found["tasks"][QASPER]
    assert (task["score"], task["score_otherwise"], task["reasoned"]) == (0.2, 0.5, 1)
