"""One GET request, and what a server can answer to it."""

import pytest

from lm_eval_longbench.doctor.server import get_models, length_of


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


def test_nobody_there(nobody):
    reply = get_models(f"{nobody}/v1/models", {})
    assert (reply.status, reply.problem) == (None, "ConnectionError")


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
