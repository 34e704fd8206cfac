"""Rows of sample logs: read as they stand, and refused where they are broken."""

import hashlib

import pytest
from prediction_rows import write_lines

from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.records.log import (
    BYPASS,
    at,
    data_label,
    is_log_row,
    prompt_of,
    read_log,
    requests_of,
    responses_of,
    task_in_name,
)

PROMPT = "x" * 3000
EXCERPT = {"sha256": "0" * 64, "characters": 3000, "head": "x", "tail": "x"}


def row(*responses, **more):
    """A row as the harness writes it for a task of ours."""
    texts = responses or ("Emma",)
    return {
        "doc_id": 3,
        "doc": {"_id": "q1", "index": 7, "prompt": {"sha256": "1" * 64, "truncated": False}},
        "target": "['Emma']",
        "arguments": {
            f"gen_args_{n}": {"arg_0": PROMPT, "arg_1": {"until": []}} for n in range(len(texts))
        },
        "resps": [[text] for text in texts],
        "filtered_resps": list(texts),
        "filter": "none",
        "metrics": ["score", "failed"],
        "doc_hash": "a",
        "prompt_hash": "b",
        "target_hash": "c",
        "score": 1.0,
        "failed": None,
        **more,
    }


def read(tmp_path, *rows):
    return list(read_log(write_lines(tmp_path / "log.jsonl", *rows)))


def test_a_row(tmp_path):
    (found,) = read(tmp_path, row("Emma", "Bob"))
    assert (found.line, found.name, found.index) == (1, "q1", 7)
    assert (found.responses, found.generated) == (["Emma", "Bob"], [["Emma"], ["Bob"]])
    assert found.logged == {"score": 1.0, "failed": None}
    assert at(found, "is odd") == "line 1 (q1) is odd"
    assert found.prompt["truncated"] is False


def test_what_was_sent_is_kept_by_its_ends():
    """Repeats send one prompt; the log may have it in short, or chat messages as their text."""
    generation, (first, second) = requests_of(row("Emma", "Bob"))
    assert generation == [{"until": []}] * 2
    assert first is second
    assert first["sha256"] == hashlib.sha256(PROMPT.encode()).hexdigest()
    assert first["characters"] == 3000
    assert PROMPT.startswith(first["head"]) and len(first["head"]) < 3000 > len(first["tail"])
    arguments = {"gen_args_0": {"arg_0": EXCERPT, "arg_1": {}}}
    assert requests_of(row(arguments=arguments))[1] == [EXCERPT]
    arguments = {"gen_args_0": {"arg_0": ["text"], "arg_1": {}}}
    assert requests_of(row(arguments=arguments))[1][0]["head"] == "text"


def test_rows_of_predict_only_have_no_figures(tmp_path):
    own = {name: value for name, value in row().items() if name not in ("score", "failed")}
    (found,) = read(tmp_path, {**own, "metrics": [BYPASS], BYPASS: 999})
    assert found.logged == {}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            {"doc": 5},
            "line 2, is no row of a sample log: 'doc' is 5: .*valid dictionary",
        ),
        ({"doc": {"index": 1}}, "'doc' has no 'prompt'"),
        ({"filter": None}, "'filter' is None: input should be a valid string"),
        ({"resps": ["x"]}, r"'resps\[0\]' is 'x': input should be a valid list"),
        ({"filtered_resps": []}, "'filtered_resps' has no answers"),
        ({"filtered_resps": [5]}, "'filtered_resps' has no answers, or some are no texts"),
        ({"score": "1"}, "'score' is '1': input should be a valid number"),
    ],
)
def test_a_broken_row_is_named(tmp_path, more, message):
    with pytest.raises(PredictionError, match=message) as caught:
        read(tmp_path, row(), row(**more))
    assert "log.jsonl, line 2," in str(caught.value)


@pytest.mark.parametrize(
    ("stem", "task"),
    [
        ("samples_longbench_v2_2025-03-04T05-06-07.123456", "longbench_v2"),
        ("samples_longbench_v2", "longbench_v2"),
        ("samples_my_task_2025", "my_task_2025"),
        ("results_2025-03-04T05-06-07.123456", None),
        ("samples", None),
    ],
)
def test_the_task_in_a_name(stem, task):
    assert task_in_name(stem) == task


def test_what_a_row_says_of_its_data_and_its_prompt():
    assert data_label({"doc": {"data": "sample-1"}}) == "sample-1"
    assert data_label({"doc": {"data": 5}}) is None
    assert prompt_of({"doc": {"prompt": {"truncated": True}}}) == {"truncated": True}
    for odd in ({}, {"prompt": None}, {"prompt": "x"}):
        assert prompt_of({"doc": odd}) == {}


@pytest.mark.parametrize(
    "value", [None, 5, {}, {"doc": {}}, {"doc": 5, "resps": []}, {"resps": []}]
)
def test_what_is_no_row_of_a_log(value):
    assert not is_log_row(value)
    assert is_log_row({"doc": {}, "filtered_resps": None})


def test_what_a_users_filter_made_goes_first():
    assert responses_of({"resps": [["<a>x</a>"]], "filtered_resps": ["x"]}) == ["x"]
    assert responses_of({"resps": [["<a>x</a>"]]}) == ["<a>x</a>"]
    assert responses_of({"resps": [["a"], ["b"]], "filtered_resps": None}) == ["a", "b"]
    assert responses_of({"resps": [["a", None]], "filtered_resps": [["a", None]]}) == ["a", ""]
