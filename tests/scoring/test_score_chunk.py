"""The unit of work of a process: lines in, rows and problems out; and the rows of sample logs."""

import json
import pickle

import pytest
from prediction_rows import (
    PRO_FILE,
    V1_FILE,
    V2_FILE,
    log_row,
    pro_question,
    pro_row,
    says,
    v1_doc,
    v1_row,
    v2_question,
    v2_row,
)

from lm_eval_longbench.benchmarks.base import MOST_REPEATS
from lm_eval_longbench.benchmarks.sample import FOREIGN, Scored, Unusable
from lm_eval_longbench.files import ByteChunk
from lm_eval_longbench.logs.sample_log import data_label, is_log_row, responses_of
from lm_eval_longbench.scoring import score_chunk as module
from lm_eval_longbench.scoring.files import LOG, PredictionSource
from lm_eval_longbench.scoring.problems import SHOWN, sentence
from lm_eval_longbench.scoring.score_chunk import read_row, score_chunk

V1 = PredictionSource(3, 2, "in/qasper.jsonl", V1_FILE, "longbench_v1", "longbench_v1_qasper")
V2 = PredictionSource(0, 0, "in/v2.jsonl", V2_FILE, "longbench_v2", "longbench_v2")


def chunk(*lines, line=1, index=0):
    raw = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in lines]
    return ByteChunk(b"".join(one + b"\n" for one in raw), line, index)


def test_rows_carry_their_key_and_what_they_are_worth():
    found = score_chunk(V1, chunk(v1_row("Emma", "Emma"), b"", v1_row("", "x"), line=7, index=5))
    assert (found.source, found.lines) == (3, 2)
    first, second = found.samples
    assert first.key == (0, 1, 5, "5", 2, 1, 3, 7)
    assert second.key == (0, 1, 6, "6", 2, 1, 3, 9)
    assert first.line == {
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
    assert (second.line["score"], second.line["failed"]) == (0.0, True)
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
    assert found.problems.number() == found.problems.number(["malformed"]) == len(lines)
    assert (found.lines, len(found.samples)) == (len(lines) + 1, 1)
    # They keep their place among the lines.
    assert found.samples[0].key.id == "8"


def test_of_many_bad_lines_the_first_are_kept():
    found = score_chunk(V1, chunk(*[b"{"] * (2 * SHOWN)))
    lines = [bad["line"] for bad in found.problems.first("malformed")]
    assert lines == list(range(1, SHOWN + 1))
    assert found.problems.number(["malformed"]) == 2 * SHOWN


def test_what_is_wrong_with_a_file_is_a_problem_at_its_line():
    found = score_chunk(V1, ByteChunk(b"", 9, 8, "it ends early"))
    (bad,) = found.problems.first("malformed")
    assert sentence("malformed", bad) == "in/qasper.jsonl, line 9: it ends early"


def test_texts_that_utf8_cannot_hold_are_scored():
    found = score_chunk(V1, chunk(b'{"pred": "\\ud800 Emma\\u0000", "answers": ["Emma"]}'))
    assert found.problems.number() == 0
    row = v2_row("\ud800")
    assert score_chunk(V2, chunk(row)).samples[0].key.id == "\ud800"


def test_answers_of_one_question_have_one_gold():
    one = score_chunk(V1, chunk(v1_row("a", "x", "y"))).samples[0].gold
    assert score_chunk(V1, chunk(v1_row("b", "x", "y"))).samples[0].gold == one
    for other in (v1_row("a", "x"), v1_row("a", "y", "x"), v1_row("a", "x", "y", classes=["z"])):
        assert score_chunk(V1, chunk(other)).samples[0].gold != one
    golds = {
        score_chunk(V2, chunk(row)).samples[0].gold
        for row in (v2_row("q"), v2_row("q", answer="C"), v2_row("q", length="long"), v2_row("r"))
    }
    assert len(golds) == 3


def test_logs_give_a_row_an_answer_and_their_label():
    task = "longbench_v1_qasper"
    source = PredictionSource(0, 0, "log", LOG, filter="none")
    row = log_row(task, v1_doc(task, 0, "x"), "a", "x", data="sample-1")
    found = score_chunk(source, chunk(row))
    assert [(own.key.repeat, own.line["score"]) for own in found.samples] == [(1, 0.0), (2, 1.0)]
    assert found.labels == {("longbench_v1", task, "sample-1")}


def test_summaries_bring_their_texts():
    source = PredictionSource(0, 0, "pro", PRO_FILE, "longbench_pro")
    rows = [
        pro_row("q1", "x"),
        pro_row("q2", "a summary", code="t4_1", answer=["one", "two"]),
        pro_row("q3", "", code="t4_1"),
    ]
    found = score_chunk(source, chunk(*rows))
    assert [own.summaries for own in found.samples] == [
        {},
        {False: ("a summary", ["one", "two"])},
        {False: ("", ["Emma"])},
    ]


def test_letters_that_differ_from_the_stored_ones():
    rows = [v2_row("q1"), {**v2_row("q2"), "pred": "D"}, {**v2_question("q3"), "pred": "D"}]
    found = score_chunk(V2, chunk(*rows))
    assert found.problems.first("differing_pred") == [
        {"file": "in/v2.jsonl", "line": 2, "id": "q2", "stored": "D", "extracted": "B"}
    ]
    assert found.problems.number(["differing_pred"]) == 1


def test_an_outcome_travels_between_processes():
    found = score_chunk(V1, chunk(v1_row("Emma", "Emma"), b"{"))
    again = pickle.loads(pickle.dumps(found))
    assert (again.samples, again.labels) == (found.samples, found.labels)
    assert again.problems.as_json() == found.problems.as_json()


SOURCE = PredictionSource(0, 0, "a", LOG, filter="none")
QASPER = "longbench_v1_qasper"


def read(row, **source):
    return read_row(
        row, 4, PredictionSource(0, 0, "a", LOG, filter=source.pop("filter", "none"), **source)
    )


def v1(*responses, **more):
    return log_row(QASPER, v1_doc(QASPER, 3, "Emma"), *responses, **more)


def test_v1():
    (found,) = read(v1("an answer", truncated=True))
    assert (found.table, found.task) == ("longbench_v1", QASPER)
    assert (found.id, found.order, found.repeat) == ("id-3", 3, 1)
    assert (found.response, found.golds, found.truncated) == ("an answer", ["Emma"], True)
    assert found.shown == {"dataset": "qasper", "index": 3}


def test_longbench_e():
    task = "longbench_v1_e_trec"
    doc = v1_doc(task, 2, "a", length=4000, classes=["a", "b"])
    (found,) = read(log_row(task, doc, "b"))
    assert (found.table, found.classes) == ("longbench_v1_e", ["a", "b"])
    assert found.shown == {"dataset": "trec", "index": 2, "length": 4000}


def test_v2_is_of_the_mode_that_the_row_names():
    for table in ("longbench_v2", "longbench_v2_cot", "longbench_v2_rag"):
        (found,) = read(log_row(table, {**v2_question("q1"), "index": 9}, says("C")))
        assert (found.table, found.task, found.id) == (table, table, "q1")
        assert (found.response, found.has_stored) == (says("C"), False)


def test_pro():
    task = "longbench_pro_thinking_t6_1"
    doc = {**pro_question("q1", code="t6_1"), "index": 0}
    found = read(log_row(task, doc, "one", "two"))
    assert [(own.task, own.id, own.repeat, own.response) for own in found] == [
        (task, "q1", 1, "one"),
        (task, "q1", 2, "two"),
    ]


@pytest.mark.parametrize("in_process", [True, False])
def test_repeats_in_one_request_or_in_several(in_process):
    found = read(v1("a", "b", "c", in_process=in_process))
    assert [(own.repeat, own.response) for own in found] == [(1, "a"), (2, "b"), (3, "c")]


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


def test_logs_of_earlier_versions_name_the_task_in_the_file_name_only():
    row = v1("x")
    for name in ("task", "data"):
        del row["doc"][name]
    (found,) = read(row, task=QASPER)
    assert found.task == QASPER
    assert data_label(row) is None
    found = read(row)
    assert found.kind == FOREIGN
    assert found.reason.startswith("is of the task None, which is none of longbench_v1, ")


def test_tasks_that_are_not_ours():
    row = v1("x")
    row["doc"]["task"] = "gsm8k"
    assert read(row, task=QASPER).kind == FOREIGN
    row["doc"]["task"] = ["x"]
    assert read(row).kind == FOREIGN


def test_rows_of_another_benchmark_than_the_user_said():
    assert not isinstance(read(v1("x"), benchmark="longbench_v1"), Unusable)
    found = read(v1("x"), benchmark="longbench_pro")
    reason = f"is of the task '{QASPER}', which is not of longbench_pro"
    assert found == Unusable(reason, FOREIGN)


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


@pytest.mark.parametrize("value", [-1, True, "3", 2**60, None])
def test_a_place_that_is_none(value):
    row = v1("x")
    row["doc"]["index"] = value
    assert read(row) == Unusable("doc: 'index' is not a whole number from 0")


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (log_row(QASPER, v1_doc(QASPER, 0), "x"), "doc: 'answers' is not a list"),
        (log_row("longbench_v2", v2_question("q", answer="E"), "x"), "doc: 'answer' is not one"),
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


@pytest.mark.parametrize("value", [None, 1, "text", [], True])
def test_not_an_object(value):
    assert read(value) == Unusable("not a JSON object")


@pytest.mark.parametrize("row", [{}, {"doc": {}}, {"doc": 5, "resps": []}, {"resps": [["x"]]}])
def test_not_a_row_of_a_log(row):
    assert not is_log_row(row)
    assert read(row).reason.startswith("no sample log row")


@pytest.mark.parametrize("prompt", [None, "text", {}, {"truncated": "yes"}])
def test_unknown_truncation(prompt):
    row = v1("x")
    row["doc"]["prompt"] = prompt
    assert read(row)[0].truncated is None


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


def test_a_score_that_is_no_number_does_not_pass_as_none(monkeypatch):
    def broken(*arguments, **options):
        return Scored(float("nan"), failed=False, shown={})

    monkeypatch.setattr(module, "score_sample", broken)
    with pytest.raises(ValueError, match=r"in/qasper\.jsonl, line 1: .*qasper is NaN"):
        score_chunk(V1, chunk(v1_row("Emma", "Emma")))
