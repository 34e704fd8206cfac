"""Columns of answers: what two lines of one question may say, and what they may not."""

import pytest
from figures_of import answers_of
from scored_runs import v1_rows

from lm_eval_longbench.benchmarks.registry import benchmark_of_table, tables
from lm_eval_longbench.statistics.answers import BadRow, Columns

ONE, TWO = "00000000000000aa", "00000000000000bb"


def rows(*documents):
    """One question, a repeat a document."""
    (row,) = v1_rows({"qasper": [0.5]})
    return [
        {**row, "repeat": repeat, **({} if document == "" else {"document": document})}
        for repeat, document in enumerate(documents, start=1)
    ]


@pytest.mark.parametrize(
    ("documents", "expected"),
    [
        ((ONE,), 0xAA),
        ((ONE, ONE), 0xAA),
        ((ONE, None), 0xAA),
        (("", ONE), 0xAA),
        ((ONE, TWO), 0),
        ((TWO, ONE), 0),
        ((None, ""), 0),
    ],
)
def test_the_document_of_a_question(documents, expected):
    assert answers_of("longbench_v1", rows(*documents)).documents.tolist() == [expected]


def test_documents_stay_with_their_questions():
    lines = v1_rows({"qasper": [0.5, 0.6, 0.7]})
    for line, document in zip(lines, (TWO, ONE, TWO), strict=True):
        line["document"] = document
    assert answers_of("longbench_v1", lines).documents.tolist() == [0xBB, 0xAA, 0xBB]
    assert answers_of("longbench_v1", []).ids_are_lines is False  # no line says so


def test_an_answer_that_comes_twice_is_named_with_both_lines():
    columns = Columns(benchmark_of_table("longbench_v1"), tables()["longbench_v1"], 1)
    for number, line in enumerate(v1_rows({"qasper": [0.5, 0.6, 0.7]}), start=10):
        columns.add(line, number)
    for number, line in enumerate(v1_rows({"qasper": [0.1, 0.2, 0.3]})[1:], start=40):
        columns.add(line, number)
    with pytest.raises(BadRow, match="the same question and repeat as on line 11") as caught:
        columns.finish()
    assert caught.value.line == 40


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"task": "longbench_v2"}, "'longbench_v2' is no task of longbench_v1"),
        ({"repeat": 2}, "'repeat' must be from 1 to 1, not 2"),
        ({"score": 1.01}, "'score' must be a number from 0 to 1 or null, not 1.01"),
        ({"score": True}, "'score' must be a number from 0 to 1 or null, not True"),
        ({"dataset": "x", "task": ["longbench_v1_qasper"]}, "a field has a value of another type"),
        ({"failed": "no"}, "a field has a value of another type"),
        ({"document": "f" * 17}, "a field has a value of another type"),
    ],
)
def test_lines_that_do_not_fit(change, said):
    (row,) = v1_rows({"qasper": [0.5]})
    with pytest.raises(BadRow, match=said):
        answers_of("longbench_v1", [{**row, **change}], 1)


def test_how_many_answers_there_are():
    answers = answers_of("longbench_v1", v1_rows({"qasper": [0.5, None], "trec": [1.0]}))
    assert len(answers) == 3
    assert answers.unscored.tolist() == [[False], [True], [False]]
    assert answers.of_task("longbench_v1_trec").tolist() == [False, False, True]


def test_a_flag_that_no_line_has_is_nowhere():
    answers = answers_of("longbench_v1", v1_rows({"qasper": [0.5, 0.6]}))
    assert answers.flags("no such field").tolist() == [[False], [False]]
