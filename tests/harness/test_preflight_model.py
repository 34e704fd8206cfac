"""Backends without their models; the harness's own objects are the oracle."""

import json

import jinja2
import pytest

from lm_eval_longbench.errors import UnknownNameError
from lm_eval_longbench.harness.preflight import read_run
from lm_eval_longbench.harness.preflight_model import describe

TALK = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Hm?"}]


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch):
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(variable, raising=False)


def backend(name, /, **args):
    given = ("--model_args", json.dumps(args, default=str)) if args else ()
    return describe(read_run(["--model", name, *given]))


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


def test_a_key_goes_into_the_header_and_into_nothing_shown(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    found = backend("local-chat-completions", model="tiny", base_url="http://127.0.0.1:9/v1/x")
    assert found.headers == {"Authorization": "Bearer sk-secret"}
    assert "secret" not in repr(found)


@pytest.mark.parametrize(
    ("model", "variable", "url"),
    [
        ("openai-chat-completions", "OPENAI_API_KEY", "https://api.openai.com"),
        ("anthropic-chat", "ANTHROPIC_API_KEY", "https://api.anthropic.com"),
    ],
)
def test_backends_that_refuse_to_start_without_a_key(model, variable, url):
    found = backend(model, model="x")
    assert found.kind == "messages"
    assert variable in found.key_problem
    assert found.key_variable == variable
    assert found.base_url.startswith(url)


def test_the_servers_tokenizer_would_be_asked_for_only_where_it_is_left_open(tokenizer_folder):
    args = {"model": "tiny", "base_url": "http://127.0.0.1:9/v1/completions"}
    assert backend("local-completions", **args, tokenizer=tokenizer_folder).guessed
    found = backend("local-completions", **args, tokenizer_backend="None")
    assert not found.guessed
    assert found.tokenizer.problem == ""
    assert found.chat_template(TALK).prompt.startswith("[{")


def test_certificates():
    args = {"model": "tiny", "base_url": "https://127.0.0.1:9/v1/chat/completions"}
    assert backend("local-chat-completions", **args).verify is True
    assert backend("local-chat-completions", **args, ca_cert_path="ca.pem").verify == "ca.pem"
    assert backend("local-chat-completions", **args, verify_certificate=False).verify is False


def test_the_baseline_has_its_own_template():
    found = backend("longbench-extractive")
    assert found.kind == "other"
    assert found.chat_template(TALK) == "Be short.\n\nHm?"


def test_other_backends_are_left_alone():
    found = backend("dummy")
    assert (found.kind, found.chat_template) == ("other", None)


def test_a_tokenizer_that_is_not_here(tmp_path):
    found = backend("hf", pretrained=tmp_path / "nothing")
    assert found.tokenizer.absent
    assert found.chat_template is None


def test_an_unknown_model_names_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'local-completions'"):
        backend("local-completion")


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
    assert resolve_limit(None, args, 10, messages_only=endpoint == "chat").tokens is None


def test_our_own_client_without_a_tokenizer():
    args = {"model": "tiny", "base_url": "http://127.0.0.1:9/v1/completions"}
    found = backend("longbench-api", **args)
    assert (found.kind, found.chat_template, found.tokenizer.problem) == ("text", None, "")
    with pytest.raises(UnknownNameError, match="'base_url'"):
        backend("longbench-api", model="tiny", base_ur="http://127.0.0.1:9/v1/completions")
