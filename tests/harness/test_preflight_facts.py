"""What this machine has: tokenizers, and files in the cache of the hub."""

import huggingface_hub.constants
import pytest

from lm_eval_longbench.harness.preflight_facts import (
    any_cached,
    cached_file,
    find_tokenizer,
    is_offline,
)


@pytest.fixture
def hub(tmp_path, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    return tmp_path


def put(hub, folder, commit, file, ref=None):
    path = hub / folder / "snapshots" / commit / file
    path.parent.mkdir(parents=True)
    path.write_text("x")
    if ref:
        (hub / folder / "refs").mkdir()
        (hub / folder / "refs" / ref).write_text(commit)
    return path


def test_by_branch_and_by_commit(hub):
    path = put(hub, "models--owner--name", "a" * 40, "config.json", "main")
    assert cached_file("owner/name", "config.json") == path
    assert cached_file("owner/name", "config.json", "a" * 40) == path
    assert cached_file("owner/name", "config.json", "b" * 40) is None
    assert cached_file("owner/name", "other.json") is None
    assert cached_file("owner/name", "config.json", dataset=True) is None
    assert any_cached("owner/name", ("other.json", "config.json"))
    assert not any_cached("owner/name", ("other.json",))


def test_data_sets_are_apart(hub):
    path = put(hub, "datasets--owner--name", "a" * 40, "data.json")
    assert cached_file("owner/name", "data.json", "a" * 40, dataset=True) == path


def test_a_path_is_in_no_cache(hub):
    assert cached_file("/some/folder/with/parts", "config.json") is None


@pytest.mark.parametrize("offline", [True, False])
def test_offline(monkeypatch, offline):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", offline)
    assert is_offline() is offline


# ---------------------------------------------------------------------- tokenizers of this machine


def test_a_folder(tokenizer_folder):
    found = find_tokenizer(tokenizer_folder, {})
    assert found.tokenizer.eos_token == "</s>"
    assert (found.name, found.problem, found.absent) == (tokenizer_folder, "", False)


def test_nobody_names_one():
    found = find_tokenizer(None, {})
    assert (found.tokenizer, found.problem, found.absent) == (None, "no tokenizer is named", False)


def test_one_that_would_have_to_be_downloaded():
    found = find_tokenizer("nobody/has-this-one", {})
    assert found.absent and "not on this machine" in found.problem


def test_one_that_is_broken(tmp_path):
    (tmp_path / "tokenizer_config.json").write_text("{")
    found = find_tokenizer(str(tmp_path), {})
    assert found.tokenizer is None and not found.absent
    assert "cannot be loaded" in found.problem
