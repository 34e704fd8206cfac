import pytest

from lm_eval_longbench.retrieval.chunks import problem_of

CHUNK = {"c_idx": 3, "content": "text"}


@pytest.mark.parametrize(
    "row",
    [
        {"_id": "a", "retrieved_context": []},
        {"_id": "", "retrieved_context": [{"c_idx": 0, "content": ""}]},
        {"_id": "a", "retrieved_context": [CHUNK, {**CHUNK, "score": 1.5}], "question": None},
    ],
)
def test_good_entries(row):
    assert problem_of(row) is None


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (None, "is not a JSON object"),
        (["a"], "is not a JSON object"),
        ({"retrieved_context": []}, "lacks the field '_id'"),
        ({"_id": 7, "retrieved_context": []}, "'_id' that is not a text"),
        ({"_id": "\ud800", "retrieved_context": []}, "'_id' that is not a text"),
        ({"_id": "a"}, "lacks the field 'retrieved_context'"),
        ({"_id": "a", "retrieved_context": None}, "'retrieved_context' that is not a list"),
        ({"_id": "a", "retrieved_context": "text"}, "'retrieved_context' that is not a list"),
    ],
)
def test_bad_entries(row, problem):
    assert problem in problem_of(row)


@pytest.mark.parametrize(
    ("chunk", "problem"),
    [
        ("text", "item 2 is not a JSON object"),
        ({"content": "text"}, "item 2 lacks the field 'c_idx'"),
        ({"c_idx": 3}, "item 2 lacks the field 'content'"),
        ({**CHUNK, "c_idx": "3"}, "item 2 has a field 'c_idx' that is not a whole number"),
        ({**CHUNK, "c_idx": 3.0}, "item 2 has a field 'c_idx' that is not a whole number"),
        ({**CHUNK, "c_idx": True}, "item 2 has a field 'c_idx' that is not a whole number"),
        ({**CHUNK, "c_idx": -1}, "item 2 has a field 'c_idx' below 0"),
        ({**CHUNK, "content": None}, "item 2 has a field 'content' that is not a text"),
        ({**CHUNK, "content": "\udfff"}, "item 2 has a field 'content' that is not a text"),
    ],
)
def test_bad_chunks(chunk, problem):
    assert problem in problem_of({"_id": "a", "retrieved_context": [CHUNK, chunk]})
