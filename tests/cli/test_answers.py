"""`lm-eval-longbench answers`: what is in a file or a folder."""

import json

import pytest

from lm_eval_longbench.records.answer import EMPTY, FAILED, FILTERED, Answer
from lm_eval_longbench.records.identity import model_identity
from lm_eval_longbench.records.store import AnswerStore, Kept


@pytest.fixture
def file(tmp_path):
    identity = model_identity("hf", {"pretrained": "org/tiny"})
    store = AnswerStore(tmp_path / "out", "answers_tiny_00000000", identity)
    answers = [
        Answer("one", prompt_tokens=1000, cached_tokens=100, completion_tokens=7, at=1.7e9),
        Answer("two", prompt_tokens=500, completion_tokens=5, at=1.7e9 + 60),
        Answer("", EMPTY, "null content"),
        Answer("", FILTERED, "content_filter"),
        Answer("", FAILED, "HTTP 413: too \x1b[31m long"),
    ]
    for number, answer in enumerate(answers):
        store.keep(Kept(f"k{number}", 0, "longbench_v1_trec", f"q{number}", "p", "{}", answer))
    store.keep(Kept("k9", 0, "longbench_v2", "q", "p", "{}", Answer("three")))
    store.close()
    return store.path


def test_a_table(invoke, file):
    result = invoke("answers", file.parent.parent)
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert str(file) in result.output.replace("\n", "")
    (trec,) = [line.split() for line in lines if line.split()[:1] == ["longbench_v1_trec"]]
    assert trec[1:8] == ["2", "1", "1", "1", "1,500", "100", "12"]
    (total,) = [line.split() for line in lines if line.split()[:1] == ["all"]]
    assert total[1:5] == ["3", "1", "1", "1"]
    assert "model hf pretrained=org/tiny" in result.output
    assert "longbench_v1_trec: 1 x HTTP 413: too \\x1b[31m long" in lines


def test_json(invoke, file):
    (found,) = json.loads(invoke("answers", file, "--json").output)
    assert found["path"] == str(file)
    own = found["tasks"]["longbench_v1_trec"]
    assert (own["answered"], own["failed"]) == (2, 1)
    assert own["reasons"]["content_filter"] == 1
    assert (own["first"], own["last"]) == (1.7e9, 1.7e9 + 60)
    assert found["tasks"]["longbench_v2"]["prompt_tokens"] is None


def test_what_is_no_file_of_answers(raised, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("notes " * 1000)
    assert str(path) in str(raised("answers", path))
