"""Rows of prediction files: each is a sample, or named with what is wrong."""

import pytest
from prediction_rows import v1_row

from v1_tasks import BY_FILE
from lm_eval_longbench.offline.official_v1 import read_row
from lm_eval_longbench.benchmarks.sample import Sample, Unusable
from MISSING:offline.source import V1_FILE
from lm_eval_longbench.scoring.files import Source

GOOD = v1_row("Emma", "Emma", "Bob", length=7)


def read(row, stem="qasper", index=0):
    split = BY_FILE[stem]
    return read_row(row, index, Source(0, 0, "a", V1_FILE, split.table, split.name))


def reason(row, stem="qasper"):
    found = read(row, stem)
    assert isinstance(found, Unusable)
    assert found.kind == "malformed"
    return found.reason


def test_a_good_row():
    (found,) = read({**GOOD, "pred": "汉字\n🙂"}, index=3)
    assert found.content
    found.content = None
    assert [found] == [
        Sample(
            table="longbench_v1",
            task="longbench_v1_qasper",
            id="3",
            order=3,
            repeat=1,
            response="汉字\n🙂",
            golds=["Emma", "Bob"],
            classes=None,
            shown={"dataset": "qasper", "index": 3},
            truncated=None,
        )
    ]


def test_the_content_is_all_that_is_asked_and_nothing_else():
    (one,) = read(GOOD)
    for same in ({**GOOD, "pred": "x"}, {**GOOD, "more": 1}):
        assert read(same, index=5)[0].content == one.content
    for other in ({"answers": ["Emma"]}, {"length": 8}, {"all_classes": ["a"]}, {"input": "?"}):
        assert read({**GOOD, **other})[0].content != one.content
    # Without a length many official questions are alike.
    for length in (None, "7", True, -1):
        assert read({**GOOD, "length": length})[0].content is None


def test_an_empty_answer_is_an_answer():
    (found,) = read({**GOOD, "pred": ""})
    assert found.response == ""


def test_v1_needs_neither_length_nor_classes():
    (found,) = read({"pred": "x", "answers": ["y"]})
    assert (found.classes, found.shown) == (None, {"dataset": "qasper", "index": 0})
    (found,) = read({**GOOD, "length": "seven", "all_classes": 3, "more": 1})
    assert (found.response, found.classes) == ("Emma", None)


def test_longbench_e_shows_the_length():
    (found,) = read(GOOD, "qasper_e", 5)
    assert (found.table, found.task) == ("longbench_v1_e", "longbench_v1_e_qasper")
    assert found.shown == {"dataset": "qasper", "index": 5, "length": 7}


@pytest.mark.parametrize("value", [None, 1, "text", [], [GOOD], True])
def test_not_an_object(value):
    assert reason(value) == "not a JSON object"


@pytest.mark.parametrize("name", ["pred", "answers"])
def test_a_missing_field(name):
    assert reason({key: GOOD[key] for key in GOOD if key != name}) == f"no field {name!r}"


@pytest.mark.parametrize("value", [None, 1, ["Emma"], {}, True])
def test_a_pred_that_is_no_text(value):
    assert reason({**GOOD, "pred": value}) == "'pred' is not a text"


@pytest.mark.parametrize("value", [None, "Emma", [], [1], ["Emma", None], {"a": 1}, [["Emma"]]])
def test_answers_that_are_no_texts(value):
    assert reason({**GOOD, "answers": value}) == "'answers' is not a list of one or more texts"


@pytest.mark.parametrize("stem", ["trec", "lsht", "trec_e"])
@pytest.mark.parametrize("value", [None, [], "Human", [1], ["a", None], 3])
def test_classification_needs_classes(stem, value):
    name = BY_FILE[stem].label
    expected = f"{name} needs 'all_classes', a list of texts"
    assert reason({**GOOD, "all_classes": value}, stem) == expected
    (found,) = read({**GOOD, "all_classes": ["a"]}, stem)
    assert found.classes == ["a"]


@pytest.mark.parametrize("value", [None, "7", 7.0, True, [7]])
def test_longbench_e_needs_lengths(value):
    expected = "LongBench-E needs 'length', a whole number"
    assert reason({**GOOD, "length": value}, "qasper_e") == expected
    missing = {key: GOOD[key] for key in GOOD if key != "length"}
    assert reason(missing, "qasper_e") == expected
    (found,) = read({**GOOD, "length": 0}, "qasper_e")
    assert found.shown["length"] == 0
