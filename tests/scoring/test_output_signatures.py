"""Scored answers carry the signature of their run, and say what nobody knows of it."""

import json

import pytest

from lm_eval_longbench.benchmarks.registry import signs
from lm_eval_longbench.benchmarks.results import RecordedRuns
from lm_eval_longbench.scoring.score import score_paths
from lm_eval_longbench.signature.ingredients import INGREDIENTS
from lm_eval_longbench.signature.signature import UNKNOWN, completed, line

DATE = "2026-01-02T03-04-05.678901"
SIGNATURE = completed(
    {
        "benchmark": "longbench_v2",
        "task": "longbench_v2",
        "version": "1.0",
        "data": "sample-1",
        "template_sha256": "a" * 64,
        "limit": 1000,
        "tokenizer": "some/tokenizer",
        "overlength": "truncate",
        "chat": "on",
        "generation": {"temperature": 0.1},
        "repeats": 1,
        "metrics": "0.9",
        "asked": 1,
    }
)
DOC = {
    "_id": "x",
    "domain": "Single-Document QA",
    "sub_domain": "y",
    "difficulty": "easy",
    "length": "short",
    "question": "?",
    **{f"choice_{letter}": letter for letter in "ABCD"},
    "answer": "A",
    "task": "longbench_v2",
    "data": "sample-1",
    "prompt": {"truncated": True},
}


@pytest.fixture
def log(tmp_path):
    """A sample log, and beside it the results file of its run."""
    folder = tmp_path / "model"
    folder.mkdir()
    file = folder / f"samples_longbench_v2_{DATE}.jsonl"
    row = {"doc_id": 0, "doc": DOC, "resps": [["The correct answer is (A)"]], "filter": "none"}
    file.write_text(json.dumps(row) + "\n", encoding="utf-8")
    run = {**SIGNATURE, "signature": "lb", "limit_source": "truncate_to=1000"}
    configs = {"longbench_v2": {"metadata": {"longbench_run": run}}}
    (folder / f"results_{DATE}.json").write_text(json.dumps({"configs": configs}))
    return file


def signature_of(report):
    (table,) = report["tables"].values()
    return table["signature"]


def test_what_the_run_says_stands_and_what_scoring_adds_is_from_here(log, tmp_path):
    assert RecordedRuns().of(log).signature == SIGNATURE
    found = signature_of(score_paths([log], tmp_path / "out"))
    own = found["ingredients"]
    for name in ("version", "limit", "tokenizer", "chat", "generation", "asked", "data"):
        assert own[name] == SIGNATURE[name]
    assert (own["metrics"], own["answered"], own["truncated"]) == ("1.0", 1, 1)
    assert own["packages"]["jieba"]
    assert found["line"] == line(own, signs())
    assert found["tasks"]["longbench_v2"] == own
    assert "|cut:middle@1000/tokenizer|chat:on|t:0.1|k:1|n:1/1|" in found["line"]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"configs": {}}', '{"configs": {"longbench_v2": {"metadata": []}}}']
)
def test_without_a_results_file_the_signature_says_what_is_not_known(log, tmp_path, text):
    results = log.parent / f"results_{DATE}.json"
    results.write_text(text) if text else results.unlink()
    assert RecordedRuns().of(log).signature is None
    found = signature_of(score_paths([log], tmp_path / "out"))
    assert set(found["ingredients"]) == set(INGREDIENTS)
    assert found["ingredients"]["limit"] == found["ingredients"]["chat"] == UNKNOWN
    assert found["ingredients"]["data"] == "sample-1"
    assert found["line"].startswith("lb-v2|v?|data:sample-1|prompt:?|cut:?|chat:?|t:?|k:1|n:1/?|")


def test_another_runs_results_are_not_taken(log):
    results = log.parent / f"results_{DATE}.json"
    results.rename(results.with_name("results_2026-01-02T03-04-05.678902.json"))
    assert RecordedRuns().of(log).signature is None
    assert RecordedRuns().of(log.with_name("my_log.jsonl")).signature is None


@pytest.mark.parametrize(
    "changes",
    [
        {"generation": {"temperature": float("nan")}},
        {"seeds": [{"x": float("inf")}]},
        {"repeats": "x"},
        {"data": 5},
        {"packages": ["jieba"]},
    ],
)
def test_a_misshapen_signature_is_as_none(log, tmp_path, changes):
    """It would end the scoring, or be written as what nobody can read."""
    run = {**SIGNATURE, **changes, "signature": "lb"}
    configs = {"longbench_v2": {"metadata": {"longbench_run": run}}}
    (log.parent / f"results_{DATE}.json").write_text(json.dumps({"configs": configs}))
    assert RecordedRuns().of(log).signature is None
    own = signature_of(score_paths([log], tmp_path / "out"))["ingredients"]
    assert (own["tokenizer"], own["answered"]) == (UNKNOWN, 1)
