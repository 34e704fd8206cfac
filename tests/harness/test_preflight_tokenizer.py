"""Tokenizers of this machine."""

from lm_eval_longbench.harness.preflight_facts import find_tokenizer


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
