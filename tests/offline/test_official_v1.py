"""Prediction files: every line is a prediction, or named with what is wrong."""

import json
from types import SimpleNamespace

import pytest

from lm_eval_longbench.catalog import split_of_file
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.offline.official_v1 import BadLine, Prediction, read_predictions

GOOD = {"pred": "Emma", "answers": ["Emma", "Bob"], "all_classes": None, "length": 7}


@pytest.fixture
def read(tmp_path):
    """Write lines, bytes or objects, to a prediction file and read it."""

    def reading(*lines, stem="qasper"):
        split = split_of_file(stem)
        file = tmp_path / f"{split.info.name}.jsonl"
        raw = (line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
        file.write_bytes(b"".join(line + b"\n" for line in raw))
        return list(read_predictions(file, split))

    return reading


def reason(found):
    """The reason why the one line cannot be scored."""
    (bad,) = found
    assert isinstance(bad, BadLine)
    assert (bad.file.endswith(".jsonl"), bad.line) == (True, 1)
    return bad.reason


def test_good_lines_in_order(read):
    found = read(GOOD, {**GOOD, "pred": "汉字\n🙂"}, {**GOOD, "pred": ""})
    assert found == [
        Prediction(0, "Emma", ["Emma", "Bob"], None, 7),
        Prediction(1, "汉字\n🙂", ["Emma", "Bob"], None, 7),
        Prediction(2, "", ["Emma", "Bob"], None, 7),
    ]


def test_v1_needs_neither_length_nor_classes(read):
    assert read({"pred": "x", "answers": ["y"]}) == [Prediction(0, "x", ["y"], None, None)]
    (found,) = read({**GOOD, "length": "seven", "all_classes": 3, "more": 1})
    assert (found.pred, found.length) == ("Emma", None)


def test_blank_lines_are_passed_over_and_bad_ones_keep_their_index(read):
    found = read(b"", GOOD, b" \t", b"{", GOOD, b"", GOOD)
    places = [SimpleNamespace(**vars(line)) for line in found]
    assert [type(line) for line in found] == [Prediction, BadLine, Prediction, Prediction]
    assert [line.index for line in places if hasattr(line, "index")] == [0, 2, 3]
    assert (found[1].file, found[1].line) == ("qasper.jsonl", 4)
    assert str(found[1]).startswith("qasper.jsonl, line 4: not JSON (")


def test_the_last_line_needs_no_end(tmp_path):
    file = tmp_path / "qasper.jsonl"
    file.write_bytes(json.dumps(GOOD).encode() + b"\r\n" + json.dumps(GOOD).encode())
    found = list(read_predictions(file, split_of_file("qasper")))
    assert [line.index for line in found] == [0, 1]


@pytest.mark.parametrize(
    "line", [b"{", b"pred", b'{"pred": "\xff"}', b"[" * 100_000, b'{"pred": "a"} x', b"\x00"]
)
def test_not_json(read, line):
    assert reason(read(line)).startswith("not JSON (")


@pytest.mark.parametrize("value", [None, 1, "text", [], [GOOD], True])
def test_not_an_object(read, value):
    assert reason(read(value)) == "not a JSON object"


@pytest.mark.parametrize("name", ["pred", "answers"])
def test_a_missing_field(read, name):
    assert reason(read({key: GOOD[key] for key in GOOD if key != name})) == f"no field {name!r}"


@pytest.mark.parametrize("value", [None, 1, ["Emma"], {}, True])
def test_a_pred_that_is_no_text(read, value):
    assert reason(read({**GOOD, "pred": value})) == "'pred' is not a text"


@pytest.mark.parametrize("value", [None, "Emma", [], [1], ["Emma", None], {"a": 1}, [["Emma"]]])
def test_answers_that_are_no_texts(read, value):
    expected = "'answers' is not a list of one or more texts"
    assert reason(read({**GOOD, "answers": value})) == expected


@pytest.mark.parametrize("stem", ["trec", "lsht", "trec_e"])
@pytest.mark.parametrize("value", [None, [], "Human", [1], ["a", None], 3])
def test_classification_needs_classes(read, stem, value):
    name = split_of_file(stem).info.name
    expected = f"{name} needs 'all_classes', a list of texts"
    assert reason(read({**GOOD, "all_classes": value}, stem=stem)) == expected
    (found,) = read({**GOOD, "all_classes": ["a"]}, stem=stem)
    assert found.all_classes == ["a"]


@pytest.mark.parametrize("value", [None, "7", 7.0, True, [7]])
def test_longbench_e_needs_lengths(read, value):
    expected = "LongBench-E needs 'length', a whole number"
    assert reason(read({**GOOD, "length": value}, stem="qasper_e")) == expected
    missing = {key: GOOD[key] for key in GOOD if key != "length"}
    assert reason(read(missing, stem="qasper_e")) == expected
    (found,) = read({**GOOD, "length": 0}, stem="qasper_e")
    assert found.length == 0


def test_all_kinds_of_bad_lines_in_one_file(read):
    found = read(b"{", None, {}, {**GOOD, "pred": 1}, {**GOOD, "answers": []}, GOOD)
    assert [str(line) for line in found[1:5]] == [
        "qasper.jsonl, line 2: not a JSON object",
        "qasper.jsonl, line 3: no field 'pred'",
        "qasper.jsonl, line 4: 'pred' is not a text",
        "qasper.jsonl, line 5: 'answers' is not a list of one or more texts",
    ]
    assert found[5].index == 5


def test_lines_are_read_as_they_are_asked_for(tmp_path):
    file = tmp_path / "qasper.jsonl"
    file.write_bytes(json.dumps(GOOD).encode() + b"\n")
    reader = read_predictions(file, split_of_file("qasper"))
    file.write_bytes((json.dumps(GOOD).encode() + b"\n") * 2)
    assert len(list(reader)) == 2


def test_a_file_that_cannot_be_read(tmp_path):
    for file in (tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(PredictionError, match="cannot be read") as caught:
            list(read_predictions(file, split_of_file("qasper")))
        assert str(file) in str(caught.value)
