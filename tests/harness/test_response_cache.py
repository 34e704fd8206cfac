"""A response cache holds one model's answers."""

import json
import logging
import sqlite3
from pathlib import Path

import pytest
from sqlitedict import SqliteDict

from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.harness.response_cache import claim_cache

ONE = {"model": "org/one", "base_url": "http://127.0.0.1:1/v1", "num_concurrent": 8}


def answer(path, rank=0):
    with SqliteDict(f"{path}_rank{rank}.db", autocommit=True) as cache:
        cache["key"] = "an answer"


@pytest.fixture
def cache(tmp_path):
    return str(tmp_path / "folder" / "cache")


def test_the_same_model_goes_on_wherever_it_runs(cache):
    claim_cache(cache, "local-chat-completions", ONE)
    answer(cache)
    other = {**ONE, "base_url": "http://10.0.0.7:8000/v1", "num_concurrent": 1, "max_retries": 9}
    claim_cache(cache, "local-chat-completions", other)
    with SqliteDict(f"{cache}_rank0.db") as found:
        assert dict(found) == {"key": "an answer"}


@pytest.mark.parametrize(
    ("model", "arguments"),
    [
        ("local-chat-completions", {**ONE, "model": "org/two"}),
        ("local-chat-completions", {**ONE, "revision": "abc"}),
        ("hf", ONE),
        ("local-chat-completions", {**ONE, "peft": "org/adapter"}),
    ],
)
def test_another_model_is_refused_by_name(cache, model, arguments):
    claim_cache(cache, "local-chat-completions", ONE)
    answer(cache)
    with pytest.raises(OptionError, match="holds answers of another model") as caught:
        claim_cache(cache, model, arguments)
    assert "model local-chat-completions model=org/one" in str(caught.value)
    assert "base_url" not in str(caught.value)


def test_an_empty_cache_may_change_hands(cache):
    claim_cache(cache, "hf", {"pretrained": "a"})
    claim_cache(cache, "hf", {"pretrained": "b"})
    answer(cache)
    with pytest.raises(OptionError, match="pretrained=b"):
        claim_cache(cache, "hf", {"pretrained": "a"})


def test_files_of_other_ranks_are_looked_at(cache, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    claim_cache(cache, "hf", {"pretrained": "a"})
    answer(cache, rank=1)
    monkeypatch.delenv("RANK")
    with pytest.raises(OptionError, match="_rank1"):
        claim_cache(cache, "hf", {"pretrained": "b"})


def test_a_cache_that_says_nothing_is_taken_with_a_warning(cache, tmp_path, caplog):
    (tmp_path / "folder").mkdir()
    answer(cache)
    with caplog.at_level(logging.WARNING):
        claim_cache(cache, "hf", {"pretrained": "a"})
    assert "does not say whose answers it holds" in caplog.text
    with pytest.raises(OptionError):
        claim_cache(cache, "hf", {"pretrained": "b"})


def test_a_damaged_cache_is_named(cache, tmp_path):
    (tmp_path / "folder").mkdir()
    Path(f"{cache}_rank0.db").write_bytes(b"no database" * 200)
    with pytest.raises(OptionError, match="use_cache"):
        claim_cache(cache, "hf", {"pretrained": "a"})


def test_keys_are_not_written_down(cache):
    secret = {"auth_token": "s3cret-token", "header": {"Authorization": "Bearer s3cret-token"}}
    claim_cache(cache, "local-chat-completions", {**ONE, **secret})
    assert b"s3cret" not in Path(f"{cache}_rank0.db").read_bytes()


def test_run_refuses_and_asks_nothing(api_server, tmp_path, processes):
    """The command itself: the second model must not get the first one's answers."""

    def run(model):
        arguments = f"model={model},base_url={api_server.url('/v1/chat/completions')}"
        return processes.run(
            *("lm-eval-longbench", "run"),
            *("--model", "local-chat-completions", "--model_args", arguments),
            *("--tasks", "longbench_v2_no_context", "--limit", "2", "--apply_chat_template"),
            *("--metadata", json.dumps({"longbench": {"data_dir": "sample"}})),
            *("--use_cache", str(tmp_path / "cache")),
        )

    assert run("one").returncode == 0
    assert len(api_server.payloads) == 2
    again = run("one")
    assert (again.returncode, len(api_server.payloads)) == (0, 2)
    other = run("two")
    assert (other.returncode, len(api_server.payloads)) == (2, 2)
    assert "error: use_cache:" in other.stderr
    assert "model=one" in other.stderr.replace("\n", "")
    with sqlite3.connect(tmp_path / "cache_rank0.db") as connection:
        assert connection.execute("SELECT COUNT(*) FROM unnamed").fetchone() == (2,)
