"""What is no question of LongBench v2."""

import pytest
from v2_rows import ROW, official_rows

from lm_eval_longbench.data.rows_v2 import FIELDS, problem_of

ASKED = ("question", "choice_A", "choice_B", "choice_C", "choice_D")


def test_official_rows_have_no_problem():
    assert tuple(ROW) == FIELDS
    assert {problem_of(row) for row in official_rows()} == {None}


@pytest.mark.parametrize("name", FIELDS)
def test_rows_that_lack_a_field(name):
    assert problem_of({key: ROW[key] for key in ROW if key != name}) == f"lacks the field {name!r}"


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("value", [None, 5, True, ["A"], {"A": 1}, "half a pair \ud83d"])
def test_every_field_is_a_text_that_utf8_can_hold(name, value):
    problem = problem_of({**ROW, name: value})
    assert problem == f"has a field {name!r} that is not a text (or not one that UTF-8 can hold)"


@pytest.mark.parametrize("value", [None, 1, "text", [ROW]])
def test_no_object(value):
    assert problem_of(value) == "is not a JSON object"


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("value", ["", " \n\t\u3000"])
def test_an_empty_question_or_choice(name, value):
    assert problem_of({**ROW, name: value}) == f"has an empty {name}"


@pytest.mark.parametrize("answer", ["", "E", "a", "A ", "(A)", "AB", "Emma"])
def test_an_answer_that_is_no_letter(answer):
    problem = problem_of({**ROW, "answer": answer})
    assert problem == f"has the answer {answer!r}, not one of A, B, C, D"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"domain": "single_document_qa"},
            "has an unknown domain 'single_document_qa', not one of Single-Document QA, "
            "Multi-Document QA, Long In-context Learning, Long-dialogue History Understanding, "
            "Code Repository Understanding, Long Structured Data Understanding",
        ),
        ({"domain": ""}, "has an unknown domain ''"),
        ({"domain": "Single-document QA"}, "has an unknown domain 'Single-document QA'"),
        ({"difficulty": "Easy"}, "has an unknown difficulty 'Easy', not one of easy, hard"),
        ({"difficulty": "medium"}, "has an unknown difficulty 'medium', not one of easy, hard"),
        ({"length": "hard"}, "has an unknown length 'hard', not one of short, medium, long"),
        ({"length": "8k"}, "has an unknown length '8k', not one of short, medium, long"),
    ],
)
def test_values_that_no_question_has(change, message):
    assert problem_of({**ROW, **change}).startswith(message)


@pytest.mark.parametrize(
    "change",
    [
        {"sub_domain": ""},
        {"sub_domain": "anything 汉字"},
        {"context": ""},
        {"_id": ""},
        {"choice_A": ROW["choice_B"]},
        {"note": 5},
    ],
)
def test_what_is_not_checked(change):
    assert problem_of({**ROW, **change}) is None
