"""The unit of work of a process: lines in, rows and problems out; and the rows of sample logs."""

import json

import pytest
from prediction_rows import V1_FILE, log_row, pro_question, says, v1_doc, v1_row, v2_question

from lm_eval_longbench.files import ByteChunk
from lm_eval_longbench.options import MOST_REPEATS
from lm_eval_longbench.records.log import responses_of
from lm_eval_longbench.records.sample import FOREIGN, Unusable, line_of
from lm_eval_longbench.scoring.files import LOG, InputFile
from lm_eval_longbench.scoring.merge import canonical
from lm_eval_longbench.scoring.problems import sentence
from lm_eval_longbench.scoring.score_chunk import read_row, score_chunk

V1 = InputFile(
    "in/qasper.jsonl",
    kind=V1_FILE,
    table="longbench_v1",
    task="longbench_v1_qasper",
    number=3,
    run=2,
)


def chunk(*lines, line=1, index=0):
    raw = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in lines]
    return ByteChunk(b"".join(one + b"\n" for one in raw), line, index)


def test_rows_carry_their_key_and_what_they_are_worth():
    found = score_chunk(V1, chunk(v1_row("Emma", "Emma"), b"", v1_row("", "x"), line=7, index=5))
    assert (found.source, found.lines) == (3, 2)
    first, second = found.samples
    assert canonical(first) == (0, 1, 5, "5", 2, 1, 3, 7)
    assert canonical(second) == (0, 1, 6, "6", 2, 1, 3, 9)
    assert line_of(first) == {
        "table": "longbench_v1",
        "task": "longbench_v1_qasper",
        "id": "5",
        "repeat": 1,
        "score": 1.0,
        "failed": False,
        "truncated": None,
        "capped": None,
        "dataset": "qasper",
        "index": 5,
        "document": None,
    }
    assert (second.worth.score, second.worth.failed) == (0.0, True)
    assert found.labels == {("longbench_v1", "longbench_v1_qasper", None)}


def test_bad_lines_are_named_whatever_they_are():
    lines = [
        b"{",
        b"\x00",
        b"[" * 100_000,
        b'{"pred": "\xff"}',
        b'{"a": 1} x',
        b"1" * 5000,
        None,
        {},
    ]
    found = score_chunk(V1, chunk(*lines, v1_row("Emma", "Emma")))
    bad = found.problems.first("malformed")
    assert [(one["file"], one["line"]) for one in bad] == [
        ("in/qasper.jsonl", number) for number in range(1, len(lines) + 1)
    ]
    assert all(one["reason"].startswith("not JSON (") for one in bad[:6])
    assert sentence("malformed", bad[6]) == "in/qasper.jsonl, line 7: not a JSON object"
    assert found.problems.number("malformed") == len(lines)
    assert (found.lines, len(found.samples)) == (len(lines) + 1, 1)
    # They keep their place among the lines.
    assert found.samples[0].id == "8"


QASPER = "longbench_v1_qasper"


def read(row, **source):
    return read_row(row, 4, InputFile("a", kind=LOG, filter=source.pop("filter", "none"), **source))


def v1(*responses, **more):
    return log_row(QASPER, v1_doc(QASPER, 3, "Emma"), *responses, **more)


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"resps": []},
        {"resps": "text"},
        {"resps": ["text"]},
        {"resps": [["a"]], "filtered_resps": [1]},
        {"resps": [["a"]], "filtered_resps": [["a", 1]]},
        {"filtered_resps": [[]]},
        {"filtered_resps": {"a": 1}},
    ],
)
def test_no_list_of_texts(row):
    assert responses_of(row) is None
    expected = "neither 'filtered_resps' nor 'resps' holds a list of texts"
    whole = {key: value for key, value in v1("x").items() if "resps" not in key}
    if row:
        assert read({**whole, **row}) == Unusable(expected)


def test_only_rows_of_the_files_first_filter_count():
    found = read(v1("x", filter="other"))
    assert found == Unusable(
        "is of the filter 'other'; scored is 'none', the file's first", FOREIGN
    )
    (own,) = read(v1("x", filter="other"), filter="other")
    assert own.response == "x"


def test_a_document_without_id_goes_by_its_place():
    row = v1("x")
    del row["doc"]["_id"]
    (found,) = read(row)
    assert (found.id, found.order) == ("3", 3)
    del row["doc"]["index"]
    row["doc_id"] = 8
    assert read(row)[0].order == 8
    del row["doc_id"]
    assert read(row)[0].order == 4  # the line's


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (log_row(QASPER, v1_doc(QASPER, 0), "x"), "doc: 'answers' is not a list"),
        (
            log_row("longbench_v2", v2_question("q", answer="E"), "x"),
            "doc: 'answer' is missing or not one",
        ),
        (log_row("longbench_pro_t3_2", pro_question("q", answer=[]), "x"), "doc: 'answer' is not"),
        (
            log_row("longbench_pro_t3_1", pro_question("q", code="t3_2"), "x"),
            "doc: 'T3.2 Single-Hop Fact QA' is another task than longbench_pro_t3_1",
        ),
    ],
)
def test_gold_data_that_cannot_be_scored(row, reason):
    found = read(row)
    assert found.kind == "malformed"
    assert found.reason.startswith(reason)


def test_an_answer_without_reasoning_has_failed_as_in_the_harness():
    """Pass two of chain of thought: that pass one gave nothing is only in the figures."""
    task = "longbench_v2_cot_answer"
    row = log_row(task, v2_question("q1"), says("B"), failed=1.0)
    assert read(row)[0].response == ""
    assert read({**row, "failed": 0.0})[0].response == says("B")
    other = log_row("longbench_v2", v2_question("q1"), says("B"), failed=1.0)
    assert read(other)[0].response == says("B")


def test_a_row_with_more_answers_than_are_scored():
    assert len(read(v1(*["a"] * MOST_REPEATS))) == MOST_REPEATS
    found = read(v1(*["a"] * (MOST_REPEATS + 1)))
    assert found == Unusable(f"has {MOST_REPEATS + 1} answers; at most {MOST_REPEATS} are scored")
