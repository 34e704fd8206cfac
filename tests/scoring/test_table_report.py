"""One table's part of the report."""

from lm_eval_longbench.scoring.table_report import TableReport
from lm_eval_longbench.offline.tally import Tally

QASPER, TREC = "longbench_v1_qasper", "longbench_v1_trec"


def line(score=1.0, failed=False, truncated=None, **more):
    return {"score": score, "failed": failed, "truncated": truncated, **more}


def made(table, **more):
    return table.as_json(data=["x"], embedding_model=None, runs=["run"], **more)


def test_counts_of_a_task():
    tally = Tally()
    assert (tally.score, tally.truncated) == (None, None)
    tally.add([line(1.0, truncated=True), line(0.0, failed=True, truncated=False)], 0.5, 2)
    tally.add([line(0.0, unparsed=True)], 0.0, 2)
    assert (tally.questions, tally.samples, tally.failed, tally.unparsed) == (2, 3, 1, 1)
    assert (tally.inconsistent, tally.truncated, tally.score) == (1, 1, 0.25)
    tally.add([line(None)], None, 1)
    assert (tally.unscored, tally.score) == (1, None)


def test_a_table():
    table = TableReport("longbench_v1", 1, official=True)
    table.expect(TREC, 2)
    table.expect(TREC, 1)
    table.expect(None, 4)
    table.add(QASPER, [line(1.0, failed=False, truncated=False)])
    table.count_duplicates(QASPER, 5)
    found = made(table)
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
        "malformed": 3,
        "duplicate": 0,
        "copies": 0,
        "official_questions": 200,
        "missing": 200,
    }
    assert found["tasks"][QASPER]["score"] == 1.0
    assert found["tasks"][QASPER]["copies"] == 0


def test_of_other_data_it_is_not_known_what_is_missing():
    table = TableReport("longbench_v1", 1, official=False)
    table.add(QASPER, [line()])
    found = made(table)
    assert found["counts"]["missing"] is None
    assert found["counts"]["truncated"] is None
    assert found["tasks"][QASPER]["missing"] is None


def test_more_questions_than_official_ones_lack_none():
    table = TableReport("longbench_v1", 1, official=True)
    for _ in range(201):
        table.add(QASPER, [line()])
    assert made(table)["tasks"][QASPER]["missing"] == 0
    assert made(table)["counts"]["missing"] == 4550


def test_v2_has_its_other_ways_to_count():
    for official in (True, False):
        table = TableReport("longbench_v2", 1, official=official)
        extra = {"unparsed": False, "compensated": 1.0, "difficulty": "easy", "length": "short"}
        extra["dropped"] = False
        table.add("longbench_v2", [line(**extra)])
        found = made(table)
        assert found["official"]["overall"] == found["accuracy"]["overall"] == 100.0
        assert (found["strict"] is not None) == official
        assert found["counts"]["unparsed"] == 0
        assert found["parts"]["easy"]["samples"] == 1
