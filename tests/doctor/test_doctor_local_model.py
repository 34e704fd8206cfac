"""The lines on a model's files."""

import pytest

from lm_eval_longbench.doctor.line import ERROR, OK, WARNING
from lm_eval_longbench.doctor.model import model_lines, tokenizer_lines
from lm_eval_longbench.harness.limit import Limit
from lm_eval_longbench.harness.preflight_facts import FoundTokenizer

ABSENT = FoundTokenizer("owner/model", problem="the tokenizer is not on this machine", absent=True)


@pytest.fixture
def lines(a_run, a_backend):
    def make(kind="local", tokenizer=None, **args):
        backend = a_backend(kind, tokenizer=tokenizer or FoundTokenizer())
        return list(model_lines(a_run(model_args=args), backend))

    return make


def test_a_folder_with_weights(lines, model_folder):
    (line,) = lines(pretrained=model_folder)
    assert line.status == OK
    assert "not loaded" in line.found


def test_a_folder_without(lines, tokenizer_folder):
    (line,) = lines(pretrained=tokenizer_folder)
    assert line.status == WARNING


def test_no_model_is_named(lines):
    (line,) = lines()
    assert line.status == ERROR
    assert "pretrained=" in line.todo


def test_a_model_of_the_hub(lines, hub_file):
    (line,) = lines(pretrained="owner/model")
    assert line.status == ERROR  # the hub may not be asked
    assert line.todo == "hf download owner/model"
    hub_file("owner/model", "model.safetensors.index.json")
    (line,) = lines(pretrained="owner/model")
    assert line.status == OK
    (line,) = lines(pretrained="owner/model", revision="other")
    assert line.status == ERROR


def test_with_network_the_run_would_download_it(lines, empty_caches, monkeypatch):
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    (line,) = lines(pretrained="owner/model")
    assert line.status == WARNING
    assert "hf download owner/model" in line.todo


def test_the_tokenizer(lines, found_tokenizer, empty_caches):
    (line,) = lines("text", found_tokenizer)
    assert (line.status, line.topic) == (OK, "tokenizer")
    assert "with a chat template" in line.found
    (line,) = lines("text", ABSENT)
    assert line.status == ERROR
    assert line.todo.startswith("hf download owner/model --include")
    (line,) = lines("text", FoundTokenizer(None, problem="no tokenizer is named"))
    assert line.status == ERROR
    assert "tokenizer=NAME_OR_FOLDER" in line.todo


def test_a_task_that_cannot_be_cut(a_backend, a_task, empty_caches):
    """A chat server needs no tokenizer, and a limit does."""
    backend = a_backend("messages")
    (line,) = tokenizer_lines(backend, a_task(tokenizer=ABSENT))
    assert (line.status, line.tasks) == (ERROR, ("longbench_v1_qasper",))
    unlimited = a_task(tokenizer=ABSENT, limit=Limit(None, None, "unknown"))
    assert list(tokenizer_lines(backend, unlimited)) == []
    # What was said of the backend is not said again.
    backend = a_backend("text", tokenizer=ABSENT)
    assert list(tokenizer_lines(backend, a_task(tokenizer=ABSENT))) == []
