"""Rows of LongBench Pro inference files."""

import pytest
from prediction_rows import pro_question, pro_row

from lm_eval_longbench.benchmarks.base import MOST_REPEATS
from lm_eval_longbench.benchmarks.longbench_pro import DIMENSIONS
from lm_eval_longbench.offline.official_pro import read_row
from lm_eval_longbench.benchmarks.sample import Unusable
from MISSING:offline.source import PRO_FILE
from lm_eval_longbench.scoring.files import Source

SOURCE = Source(0, 0, "a", PRO_FILE, "longbench_pro_thinking")


def read(row):
    return read_row(row, 0, SOURCE)


def test_a_good_row():
    (found,) = read(pro_row("q1", "an answer", bon_idx=3, code="t10_1", context="long"))
    assert (found.table, found.task) == ("longbench_pro_thinking", "longbench_pro_thinking_t10_1")
    assert (found.id, found.repeat, found.order) == ("q1", 3, 0)
    assert (found.response, found.golds) == ("an answer", ["Emma"])
    question = pro_question("q1", code="t10_1")
    expected = {name: question[name] for name in (*DIMENSIONS, "secondary_task")}
    assert found.shown == expected


def test_a_failed_call_is_an_empty_answer():
    (found,) = read(pro_row("q1", None))
    assert found.response == ""


def test_ids_may_be_numbers():
    (found,) = read(pro_row(7))
    assert found.id == "7"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"id": None}, "no field 'id' with a text"),
        ({"id": True}, "no field 'id' with a text"),
        ({"secondary_task": "T99"}, "'secondary_task' is missing or is none of LongBench Pro's"),
        ({"secondary_task": ["x"]}, "'secondary_task' is missing or is none of LongBench Pro's"),
        ({"language": "english"}, "'language' is missing or not one of Chinese, English"),
        (
            {"difficulty": None},
            "'difficulty' is missing or not one of Easy, Moderate, Hard, Extreme",
        ),
        ({"answer": []}, "'answer' is not a list of one or more texts"),
        ({"answer": "Emma"}, "'answer' is not a list of one or more texts"),
        ({"answer": [1]}, "'answer' is not a list of one or more texts"),
        ({"prediction": 5}, "'prediction' is neither a text nor null"),
        ({"prediction": ["x"]}, "'prediction' is neither a text nor null"),
    ],
)
def test_what_cannot_be_scored(change, reason):
    assert read({**pro_row("q1"), **change}) == Unusable(reason)


@pytest.mark.parametrize("value", [0, -1, True, "1", 1.0, None, MOST_REPEATS + 1, 10**30])
def test_runs_that_there_are_not(value):
    reason = f"'bon_idx' is not a whole number from 1 to {MOST_REPEATS}"
    assert read(pro_row("q1", bon_idx=value)) == Unusable(reason)


@pytest.mark.parametrize("name", ["prediction", "bon_idx", "answer", "token_length", "id"])
def test_a_missing_field(name):
    row = pro_row("q1")
    del row[name]
    assert name in read(row).reason


def test_a_primary_task_of_other_secondary_tasks():
    row = pro_row("q1", primary_task="T1. Retrieval & Ranking")
    assert read(row).reason == (
        "'T3.2 Single-Hop Fact QA' is no part of the primary task 'T1. Retrieval & Ranking'"
    )


def test_a_summary_needs_a_reference():
    reason = "'answer' holds no reference to compare a summary with"
    assert read(pro_row("q1", code="t4_1", answer=["", " \n"])) == Unusable(reason)
    assert not isinstance(read(pro_row("q1", code="t4_1", answer=["", "x"])), Unusable)
    assert not isinstance(read(pro_row("q1", answer=[""])), Unusable)


@pytest.mark.parametrize("value", [None, 1, "text", [], True])
def test_not_an_object(value):
    assert read(value) == Unusable("not a JSON object")
