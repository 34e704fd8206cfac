"""The server of an API model."""

import pytest
from json_server import DrippingHandler, EndlessHandler, JsonServer, serving

from lm_eval_longbench.doctor.line import ERROR, OK, WARNING
from lm_eval_longbench.doctor.server import (
    endpoint_of,
    get_models,
    length_of,
    models_url,
    server_lines,
)
from lm_eval_longbench.harness.prompts import Limit

# -------------------------------------------------- Where a server lists its models


@pytest.mark.parametrize(
    ("base_url", "endpoint", "models"),
    [
        ("http://h:8000/v1/chat/completions", "/chat/completions", "http://h:8000/v1/models"),
        ("http://h:8000/v1/completions", "/completions", "http://h:8000/v1/models"),
        ("http://h/v1/completions/", "/completions", "http://h/v1/models"),
        ("https://api.anthropic.com/v1/messages", "/messages", None),
        ("https://h/api/v1/chat/completions?version=2", "/chat/completions", None),
        ("http://h:30000/generate", "/generate", "http://h:30000/v1/models"),
        ("http://h:8000/v1", None, "http://h:8000/v1/models"),
    ],
)
def test_the_endpoint_is_replaced(base_url, endpoint, models):
    assert endpoint_of(base_url) == endpoint
    found = models_url(base_url)
    assert "/models" in found
    if models is not None:
        assert found == models


def test_a_query_stays():
    url = models_url("https://me:secret@h/api/v1/chat/completions?key=secret")
    assert url == "https://me:secret@h/api/v1/models?key=secret"


# -------------------------------------------------- One GET request, and what a server can answer


def test_a_list_of_models(models_server):
    reply = get_models(models_server.url("/v1/models"), {"Authorization": "Bearer abc"})
    assert reply.status == 200
    assert [model["id"] for model in reply.models] == ["tiny"]
    assert models_server.asked == [("GET", "/v1/models")]
    assert models_server.keys == ["Bearer abc"]


@pytest.mark.parametrize("status", [401, 403, 404, 500])
def test_a_refusal_is_its_status(models_server, status):
    models_server.status = status
    reply = get_models(models_server.url("/v1/models"), {})
    assert (reply.status, reply.models) == (status, None)
    assert len(models_server.asked) == 1  # it is not asked again


def test_the_key_does_not_follow_a_redirect(models_server):
    models_server.status = 302
    reply = get_models(models_server.url("/v1/models"), {"Authorization": "Bearer abc"})
    assert reply.status == 302
    assert models_server.asked == [("GET", "/v1/models")]


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"data": 3}', b"{}"])
def test_something_else_is_no_list(models_server, body):
    models_server.body = body
    reply = get_models(models_server.url("/v1/models"), {})
    assert (reply.status, reply.models) == (200, None)


def test_entries_without_a_name_are_passed_over(models_server):
    models_server.models = [{"id": "a"}, {"name": "b"}, "c", {"id": 4}]
    reply = get_models(models_server.url("/v1/models"), {})
    assert [model["id"] for model in reply.models] == ["a"]


def test_nobody_there_to_ask(nobody):
    reply = get_models(f"{nobody}/v1/models", {})
    assert (reply.status, reply.problem) == (None, "ConnectionError")


def test_a_list_without_end_is_no_list():
    with serving(JsonServer(EndlessHandler)) as server:
        reply = get_models(server.url("/v1/models"), {})
    assert (reply.status, reply.problem) == (200, "no list of models")


def test_a_list_that_drips_without_end_is_given_up():
    with serving(JsonServer(DrippingHandler)) as server:
        reply = get_models(server.url("/v1/models"), {}, timeout=3.0)
    assert (reply.status, reply.problem) == (None, "no answer within 6 seconds")


def test_a_key_that_no_header_can_carry_is_not_shown():
    reply = get_models("http://127.0.0.1:9/v1/models", {"Authorization": "Bearer se\ncret"})
    assert reply.status is None
    assert "cret" not in reply.problem


@pytest.mark.parametrize(
    ("model", "length"),
    [
        ({"id": "a", "max_model_len": 4096}, 4096),
        ({"id": "a", "context_length": 8192}, 8192),
        ({"id": "a", "max_context_length": 131072}, 131072),
        ({"id": "a", "max_model_len": None, "context_window": 32768}, 32768),
        ({"id": "a", "max_model_len": "many"}, None),
        ({"id": "a", "max_model_len": True}, None),
        ({"id": "a"}, None),
    ],
)
def test_lengths_are_told_under_several_names(model, length):
    assert length_of(model) == length


# -------------------------------------------------- What the report says of a server


@pytest.fixture
def lines(a_run, a_backend, a_task, models_server):
    """The lines on a server: lines(model="tiny", tasks=[...], base_url=..., ...)."""

    def make(tasks=(), path="/v1/completions", kind="text", model="tiny", **more):
        whole = {"base_url": models_server.url(path), "key_variable": "OPENAI_API_KEY", **more}
        name = {"text": "local-completions", "messages": "local-chat-completions"}.get(kind, "hf")
        run = a_run(model=name, model_args={"model": model} if model else {})
        return list(server_lines(run, a_backend(kind, name, **whole), list(tasks)))

    return make


def test_reachable_with_the_model_and_its_length(lines, models_server):
    found = lines()
    assert [line.status for line in found] == [OK, OK]
    assert "40,960 tokens" in found[1].found
    assert models_server.asked == [("GET", "/v1/models")]


def test_a_model_in_this_process_is_asked_nothing(lines, models_server):
    assert lines(kind="local") == []
    assert models_server.asked == []


def test_nobody_there(lines, nobody):
    (line,) = lines(base_url=f"{nobody}/v1/completions")
    assert line.status == ERROR
    assert "does not answer (ConnectionError)" in line.found


def test_a_key_with_a_line_break(lines):
    (line,) = lines(headers={"Authorization": "Bearer se\ncret"})
    assert line.status == ERROR
    assert "set it again" in line.todo
    assert "cret" not in str(line)


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("key", ["", "sk-very-secret"])
def test_a_refused_key_names_its_variable_and_is_never_shown(
    lines, models_server, monkeypatch, status, key
):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    models_server.status = status
    (line,) = lines(headers={"Authorization": f"Bearer {key}"})
    assert line.status == ERROR
    assert str(status) in line.found
    assert ("refuses the key" if key else "wants a key") in line.todo
    assert "OPENAI_API_KEY" in line.todo
    assert "secret" not in str(line)


def test_a_refused_header_of_the_users(lines, models_server):
    models_server.status = 401
    (line,) = lines(key_variable=None, headers={"X-Key": "secret"})
    assert line.status == ERROR
    assert "header" in line.todo and "secret" not in str(line)


def test_a_backend_that_wants_a_key_at_its_start(lines, models_server):
    (line,) = lines(key_problem="API key not found.")
    assert line.status == ERROR
    assert "OPENAI_API_KEY" in line.todo
    assert models_server.asked == []


def test_a_server_without_a_list_is_a_warning(lines, models_server):
    models_server.status = 404
    (line,) = lines()
    assert line.status == WARNING
    assert "status 404" in line.found


def test_an_unknown_model(lines, models_server):
    models_server.models = [{"id": "tiny-2"}, {"id": "other"}]
    _, line = lines()
    assert line.status == WARNING
    assert "tiny-2, other" in line.found
    assert "model=tiny-2" in line.todo


def test_no_model_is_named(lines):
    _, line = lines(model=None)
    assert line.status == ERROR
    assert "model=tiny" in line.todo


@pytest.mark.parametrize(
    ("kind", "path", "status"),
    [
        ("text", "/v1/chat/completions", ERROR),
        ("messages", "/v1/completions", ERROR),
        ("messages", "/v1", WARNING),
    ],
)
def test_an_address_that_the_backend_cannot_post_to(lines, kind, path, status):
    first, *_ = lines(kind=kind, path=path)
    assert first.status == status
    wanted = "/v1/chat/completions" if kind == "messages" else "/v1/completions"
    assert wanted in first.todo


def test_no_address(lines):
    (line,) = lines(base_url=None)
    assert line.status == ERROR
    assert "base_url" in line.todo


def test_an_address_that_is_none(lines):
    found = lines(base_url="http://[::1/v1/completions")
    assert [line.status for line in found] == [ERROR]


def test_a_server_that_does_not_tell_its_length(lines, models_server):
    models_server.models = [{"id": "tiny"}]
    assert "does not tell its length" in lines()[-1].found


@pytest.mark.parametrize(
    ("limit", "status"),
    [
        (Limit(40960 - 128, None, "truncate_to=40832", official=True), OK),
        (Limit(40960 - 127, None, "truncate_to=40833", official=True), ERROR),
        (Limit(None, None, "unknown"), WARNING),
        (Limit(1800, 1919, "the harness's default", assumed=True), WARNING),
    ],
)
def test_prompt_and_answer_must_fit_what_the_server_takes(lines, a_task, limit, status):
    found = lines([a_task(limit=limit)])
    assert found[1].status == OK
    if status == OK:
        assert len(found) == 2
    else:
        assert found[2].status == status
        assert found[2].tasks == ("longbench_v1_qasper",)
        assert "max_length=40960" in found[2].todo
