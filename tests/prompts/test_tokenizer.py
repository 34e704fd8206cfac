"""Which tokenizer is the model's own, and what is said if it cannot be had."""

import json

import pytest

from lm_eval_longbench.errors import TokenizerError
from lm_eval_longbench.prompts.tokenizer import is_true, load_tokenizer, tokenizer_name


@pytest.mark.parametrize(
    ("option", "arguments", "expected"),
    [
        ("o", {"tokenizer": "t", "pretrained": "p", "model": "m"}, "o"),
        (None, {"model": "m", "pretrained": "p", "tokenizer": "t"}, "t"),
        (None, {"model": "m", "pretrained": "p"}, "p"),
        (None, {"model": "m", "base_url": "u"}, "m"),
        (None, {"base_url": "u"}, None),
        (None, {}, None),
        ("", {"pretrained": "p"}, "p"),
        (None, {"tokenizer": "", "pretrained": "p"}, "p"),
        (None, {"tokenizer": None, "model": "m"}, "m"),
        # Objects, as when a model is handed to the harness from Python.
        (None, {"tokenizer": object(), "pretrained": object(), "model": "m"}, "m"),
        (None, {"pretrained": 7}, None),
    ],
)
def test_the_most_telling_name(option, arguments, expected):
    assert tokenizer_name(option, arguments) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, True),
        ("True", True),
        (" true ", True),
        (1, True),
        ("1", True),
        (False, False),
        ("False", False),
        (None, False),
        ("", False),
        (0, False),
        ("yes", False),
    ],
)
def test_truth_of_an_argument(value, expected):
    assert is_true(value) is expected


def test_a_folder_is_loaded_and_loaded_once(plain, tmp_path):
    plain.save_pretrained(tmp_path)
    first = load_tokenizer(str(tmp_path), {})
    assert first("今天 the fox")["input_ids"] == plain("今天 the fox")["input_ids"]
    assert load_tokenizer(str(tmp_path), {"pretrained": "another"}) is first


def test_the_models_revision_is_asked_for_in_the_models_repository_only(plain, tmp_path):
    """A folder has no revisions; what differs is whether the loader's memory is asked anew."""
    plain.save_pretrained(tmp_path)
    name = str(tmp_path)
    without = load_tokenizer(name, {})
    assert load_tokenizer(name, {"pretrained": "other", "revision": "abc"}) is without
    assert load_tokenizer(name, {"pretrained": name, "revision": "abc"}) is not without
    assert load_tokenizer(name, {"model": name, "revision": "abc"}) is not without
    assert load_tokenizer(name, {"trust_remote_code": "True"}) is not without
    assert load_tokenizer(name, {"trust_remote_code": "False"}) is without


def test_no_name_at_all():
    with pytest.raises(TokenizerError, match="name a tokenizer") as caught:
        load_tokenizer(None, {"base_url": "http://localhost"})
    assert "Give the option a name or a folder" in str(caught.value)


@pytest.mark.parametrize("name", ["nobody/has-this-tokenizer", "/nowhere/at/all", "not a name!"])
def test_a_tokenizer_that_cannot_be_loaded(name, monkeypatch):
    import huggingface_hub

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(TokenizerError, match="cannot be loaded") as caught:
        load_tokenizer(name, {"pretrained": name})
    message = str(caught.value)
    assert repr(name) in message
    assert "option 'tokenizer'" in message
    assert "truncate_to" in message
    assert caught.value.__cause__ is not None


def test_files_that_make_the_loader_panic(tmp_path, plain):
    """A merge shorter than the prefix of its parts."""
    plain.save_pretrained(tmp_path)
    file = tmp_path / "tokenizer.json"
    described = json.loads(file.read_text(encoding="utf-8"))
    described["model"] = {
        "type": "BPE",
        **{"vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]},
        "continuing_subword_prefix": "é",
    }
    file.write_text(json.dumps(described), encoding="utf-8")
    with pytest.raises(TokenizerError, match="cannot be loaded"):
        load_tokenizer(str(tmp_path), {})
