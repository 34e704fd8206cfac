"""What is no question of LongBench Pro."""

import re

import pytest
from pro_rows import ROW, official_rows

from lm_eval_longbench.data.rows_pro import FIELDS, problem_of


def test_official_rows_have_no_problem():
    assert tuple(ROW) == FIELDS
    assert {problem_of(row) for row in official_rows()} == {None}


@pytest.mark.parametrize("name", FIELDS)
def test_rows_that_lack_a_field(name):
    assert problem_of({key: ROW[key] for key in ROW if key != name}) == f"lacks the field {name!r}"


def test_no_object():
    assert problem_of([ROW]) == "is not a JSON object"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": 5}, "'id' that is not a text"),
        ({"context": None}, "'context' that is not a text"),
        ({"context": "\ud800"}, "'context' that is not a text"),
        ({"question_thinking": ["x"]}, "'question_thinking' that is not a text"),
        ({"secondary_task": ["T1.1"]}, "'secondary_task' that is not a text"),
        ({"answer": "Emma"}, "'answer' that is not a list of texts"),
        ({"answer": ["Emma", 5]}, "'answer' that is not a list of texts"),
        ({"answer": []}, "has no answer"),
        ({"answer": ["", " \n"]}, "has no answer"),
        ({"secondary_task": "T1.3 Other"}, r"unknown secondary_task 'T1\.3 Other'"),
        ({"primary_task": "T2"}, "unknown primary_task 'T2'"),
        ({"primary_task": "T3. Evidence-Grounded QA"}, "which 'T1.1 .*' is not part of"),
        ({"language": "German"}, "unknown language 'German', not one of Chinese, English"),
        ({"token_length": "8K"}, "unknown token_length '8K'"),
        ({"contextual_requirement": "None"}, "unknown contextual_requirement"),
        ({"difficulty": "easy"}, "unknown difficulty 'easy'"),
    ],
)
def test_rows_that_are_not_official(change, message):
    assert re.search(message, problem_of({**ROW, **change}))
