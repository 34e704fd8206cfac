"""Rows of the harness's sample logs."""

import pytest
from prediction_rows import log_row, pro_question, says, v1_doc, v2_question

from lm_eval_longbench.benchmarks.base import MOST_REPEATS
from lm_eval_longbench.logs.sample_log import data_label, is_log_row
from lm_eval_longbench.scoring.score_chunk import read_row
from lm_eval_longbench.benchmarks.sample import FOREIGN, Unusable
from lm_eval_longbench.scoring.files import LOG, Source
from lm_eval_longbench.logs.sample_log import responses_of

SOURCE = Source(0, 0, "a", LOG, filter="none")
QASPER = "longbench_v1_qasper"


def read(row, **source):
    return read_row(row, 4, Source(0, 0, "a", LOG, filter=source.pop("filter", "none"), **source))


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


def test_what_a_users_filter_made_goes_first():
    assert responses_of({"resps": [["<a>x</a>"]], "filtered_resps": ["x"]}) == ["x"]
    assert responses_of({"resps": [["<a>x</a>"]]}) == ["<a>x</a>"]
    assert responses_of({"resps": [["a"], ["b"]], "filtered_resps": None}) == ["a", "b"]
    assert responses_of({"resps": [["a", None]], "filtered_resps": [["a", None]]}) == ["a", ""]


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
