"""Models that are not loaded; the harness's own objects are the oracle."""

import json

import jinja2
import pytest
from json_server import serving
from models_server import ModelsServer

from lm_eval_longbench.errors import UnknownNameError
from lm_eval_longbench.harness.backend import has_own_client
from lm_eval_longbench.harness.models import (
    describe,
    endpoint_of,
    find_tokenizer,
    get_models,
    models_url,
)
from lm_eval_longbench.prompts.tokenizer import any_cached

TALK = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Hm?"}]


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch):
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(variable, raising=False)


def backend(name, /, **args):
    return describe(name, json.loads(json.dumps(args, default=str)))


def test_hf_applies_the_template_as_the_loaded_model_does(model_folder):
    from lm_eval.models.huggingface import HFLM

    found = backend("hf", pretrained=model_folder)
    assert found.kind == "local"
    assert found.tokenizer.name == model_folder
    assert found.chat_template(TALK) == HFLM(
        pretrained=model_folder, device="cpu"
    ).apply_chat_template(TALK)


def test_template_arguments_and_a_refused_system_message(tokenizer_folder, tmp_path):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder)
    tokenizer.chat_template = (
        "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no') }}{% endif %}"
        "{{ messages[0]['content'] }}|{{ enable_thinking }}|{{ level }}"
    )
    tokenizer.save_pretrained(tmp_path)
    args = {"pretrained": tmp_path, "enable_thinking": False, "think_end_token": "x"}
    found = backend("hf", **args, chat_template_args={"level": 3})
    assert found.chat_template(TALK) == "Hm?|False|3"
    found = backend("vllm", pretrained=tmp_path)
    assert found.chat_template(TALK) == "Hm?|None|"
    found = backend("sglang", pretrained=tmp_path)
    assert found.chat_template(TALK[1:]) == "Hm?||"
    with pytest.raises(jinja2.exceptions.TemplateError):
        found.chat_template(TALK)


@pytest.mark.parametrize("model", ["local-completions", "local-chat-completions"])
def test_servers_agree_with_the_constructed_object(model, api_server, tokenizer_folder):
    from lm_eval.api.registry import get_model

    args = {"model": "tiny", "base_url": api_server.url("/v1/completions")}
    if model == "local-completions":
        args |= {"tokenizer": tokenizer_folder, "tokenizer_backend": "huggingface"}
    found = backend(model, **args)
    real = get_model(model)(**args)
    assert found.chat_template(TALK) == real.apply_chat_template(TALK)
    assert found.headers == real.header
    assert found.base_url == real.base_url
    assert found.kind == ("text" if model == "local-completions" else "messages")
    assert found.key_variable == "OPENAI_API_KEY"


@pytest.mark.parametrize("endpoint", ["chat", "completions"])
def test_our_own_client(endpoint, tokenizer_folder, monkeypatch):
    from lm_eval_longbench.harness.api_model import LongBenchAPI
    from lm_eval_longbench.harness.prompts import resolve_limit

    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-0123")
    args = {"model": "tiny", "base_url": "http://127.0.0.1:9/v1?a=b", "endpoint": endpoint}
    if endpoint == "completions":
        args["tokenizer"] = tokenizer_folder
    found = backend("longbench-api", **args)
    assert found.kind == ("messages" if endpoint == "chat" else "text")
    path = "/chat/completions" if endpoint == "chat" else "/completions"
    assert found.base_url == f"http://127.0.0.1:9/v1{path}?a=b"
    assert found.headers == {"Authorization": "Bearer sk-secret-0123"}
    assert found.key_variable == "OPENAI_API_KEY" and "sk-secret" not in repr(found)
    assert found.chat_template(TALK) == LongBenchAPI(**args).apply_chat_template(TALK)
    # Its prompts are not cut to a length that nobody gave.
    assert resolve_limit(None, args, 10, uncut=has_own_client(found.model)).tokens is None


def test_our_own_client_without_a_tokenizer():
    args = {"model": "tiny", "base_url": "http://127.0.0.1:9/v1/completions"}
    found = backend("longbench-api", **args)
    assert (found.kind, found.chat_template, found.tokenizer.problem) == ("text", None, "")
    with pytest.raises(UnknownNameError, match="'base_url'"):
        backend("longbench-api", model="tiny", base_ur="http://127.0.0.1:9/v1/completions")


# ---------------------------------------------------------------------- files of this machine


def test_files_in_the_cache_of_the_hub(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    path = tmp_path / "models--owner--name" / "snapshots" / ("a" * 40) / "config.json"
    path.parent.mkdir(parents=True)
    path.write_text("x")
    assert any_cached("owner/name", ("other.json", "config.json"), "a" * 40)
    assert not any_cached("owner/name", ("config.json",), "b" * 40)
    assert not any_cached("owner/name", ("other.json",), "a" * 40)
    assert not any_cached("/some/folder/with/parts", ("config.json",))


def test_tokenizers(tokenizer_folder, tmp_path):
    found = find_tokenizer(tokenizer_folder, {})
    assert found.tokenizer.eos_token == "</s>"
    assert (found.name, found.problem, found.absent) == (tokenizer_folder, "", False)
    assert find_tokenizer(None, {}).problem == "no tokenizer is named"
    assert find_tokenizer("nobody/has-this-one", {}).absent
    (tmp_path / "tokenizer_config.json").write_text("{")
    broken = find_tokenizer(str(tmp_path), {})
    assert "cannot be loaded" in broken.problem and not broken.absent


# ---------------------------------------------------------------------- a server's list of models


@pytest.fixture
def models_server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving(ModelsServer()) as server:
        yield server


@pytest.mark.parametrize(
    ("base_url", "endpoint", "models"),
    [
        ("http://h:8/v1/chat/completions", "/chat/completions", "http://h:8/v1/models"),
        ("http://h/v1/completions/", "/completions", "http://h/v1/models"),
        ("https://h/v1/messages", "/messages", "https://h/v1/models"),
        ("https://me:x@h/v1/completions?key=x", "/completions", "https://me:x@h/v1/models?key=x"),
        ("http://h:30000/generate", "/generate", "http://h:30000/v1/models"),
        ("http://h:8000/v1", None, "http://h:8000/v1/models"),
    ],
)
def test_the_endpoint_is_replaced(base_url, endpoint, models):
    assert (endpoint_of(base_url), models_url(base_url)) == (endpoint, models)


def test_one_get_with_the_key_that_follows_no_redirect(models_server):
    models_server.models = [{"id": "a"}, {"name": "b"}, "c", {"id": 4}]
    url, headers = models_server.url("/v1/models"), {"Authorization": "Bearer abc"}
    assert list(get_models(url, headers).models) == ["a"]
    for models_server.status in (302, 403, 500):
        reply = get_models(url, headers)
        assert (reply.status, reply.models) == (models_server.status, None)
    assert models_server.asked == [("GET", "/v1/models")] * 4
    assert set(models_server.keys) == {"Bearer abc"}


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"data": 3}', b"{}"])
def test_something_else_is_no_list(models_server, body):
    models_server.body = body
    reply = get_models(models_server.url("/v1/models"), {})
    assert (reply.status, reply.models) == (200, None)


def test_a_key_that_no_header_can_carry_is_not_shown():
    reply = get_models("http://127.0.0.1:9/v1/models", {"Authorization": "Bearer se\ncret"})
    assert reply.status is None and "cret" not in reply.problem
