"""Rows of LongBench v2 result files."""

import pytest
from prediction_rows import v2_question, v2_row

from lm_eval_longbench.offline.official_v2 import read_row
from lm_eval_longbench.benchmarks.sample import Unusable
from MISSING:offline.source import V2_FILE
from lm_eval_longbench.scoring.files import Source

SOURCE = Source(0, 0, "a", V2_FILE, "longbench_v2_rag", "longbench_v2_rag")


def read(row):
    return read_row(row, 0, SOURCE)


def without(row, name):
    return {key: value for key, value in row.items() if key != name}


def test_a_good_row():
    (found,) = read(v2_row("q1", "C"))
    assert (found.table, found.task, found.id) == ("longbench_v2_rag", "longbench_v2_rag", "q1")
    assert (found.response, found.golds) == ("The correct answer is (C).", ["B"])
    assert (found.stored, found.has_stored, found.repeat) == ("C", True, 1)
    assert found.shown == {
        "domain": "Single-Document QA",
        "sub_domain": "Academic",
        "difficulty": "easy",
        "length": "short",
    }


def test_a_letter_alone_is_enough():
    (found,) = read({**v2_question("q1"), "pred": "A"})
    assert (found.response, found.stored, found.has_stored) == (None, "A", True)
    (found,) = read({**v2_question("q1"), "pred": None})
    assert (found.response, found.stored, found.has_stored) == (None, None, True)


def test_a_response_alone_is_enough():
    (found,) = read({**v2_question("q1"), "response": "B"})
    assert (found.response, found.has_stored) == ("B", False)


def test_a_failed_call_is_an_empty_response():
    (found,) = read({**v2_row("q1"), "response": None, "pred": None})
    assert (found.response, found.stored) == ("", None)


def test_domains_may_be_unknown_and_ids_may_be_numbers():
    row = without(without(v2_row(7), "domain"), "sub_domain")
    (found,) = read(row)
    assert found.id == "7"
    assert (found.shown["domain"], found.shown["sub_domain"]) == (None, None)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"_id": None}, "no field '_id' with a text"),
        ({"_id": ""}, "no field '_id' with a text"),
        ({"_id": ["q"]}, "no field '_id' with a text"),
        ({"answer": "E"}, "'answer' is not one of A, B, C, D"),
        ({"answer": None}, "'answer' is not one of A, B, C, D"),
        ({"difficulty": "Easy"}, "'difficulty' is not one of easy, hard"),
        ({"length": 5}, "'length' is not one of short, medium, long"),
        ({"length": ["short"]}, "'length' is not one of short, medium, long"),
        ({"sub_domain": 5}, "'sub_domain' is not a text"),
        ({"response": 5}, "'response' is not a text"),
        ({"response": ["x"]}, "'response' is not a text"),
    ],
)
def test_what_cannot_be_scored(change, reason):
    assert read({**v2_row("q1"), **change}) == Unusable(reason)


def test_an_unknown_domain_is_named():
    found = read({**v2_row("q1"), "domain": "Poems"})
    assert found.reason.startswith("'domain' is not one of Single-Document QA, ")


@pytest.mark.parametrize("name", ["answer", "difficulty", "length"])
def test_a_missing_field(name):
    assert read(without(v2_row("q1"), name)) == Unusable(f"no field {name!r}")


def test_neither_response_nor_letter():
    expected = "neither a field 'response' nor a field 'pred'"
    assert read(v2_question("q1")) == Unusable(expected)


@pytest.mark.parametrize("value", ["E", "(A)", 3, True, ["A"]])
def test_a_stored_letter_that_is_none(value):
    reason = "'pred' is neither null nor a letter from A to D"
    assert read({**v2_question("q1"), "pred": value}) == Unusable(reason)
    # Beside a response it is only compared.
    (found,) = read({**v2_row("q1"), "pred": value})
    assert found.stored == str(value)


@pytest.mark.parametrize("value", [None, 1, "text", [], True])
def test_not_an_object(value):
    assert read(value) == Unusable("not a JSON object")
