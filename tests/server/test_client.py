"""One request: what is sent, and what an answer knows."""

import asyncio
import json
import time

import pytest
from api_asking import request
from fault_server import (
    FaultServer,
    answer_to,
    begin_stream,
    choice,
    event,
    for_ever,
    hang,
    status,
    usage_of,
)

from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.server.client import Client
from lm_eval_longbench.server.faults import FATAL, REFUSED, Fault
from lm_eval_longbench.server.server import Server


def asked(fault_server, own, endpoint="completions", number=1, **more):
    async def asking():
        server = Server(fault_server.base, endpoint, "tiny", **{"timeout": 10.0, **more})
        async with Client(server) as client:
            return await client.ask(own, number)

    return asyncio.run(asking())


@pytest.mark.parametrize("endpoint", ["chat", "completions"])
def test_what_is_sent_and_what_is_known_of_the_answer(endpoint):
    extra = {"chat_template_kwargs": {"enable_thinking": False}}
    with FaultServer() as server:
        own = request("why?", endpoint, seed=7, top_k=5, stop=[])
        before = time.time()
        (answer,) = asked(server, own, endpoint, extra=extra)
    (body,) = server.bodies
    prompt = (
        {"messages": [{"role": "user", "content": "why?"}]}
        if endpoint == "chat"
        else {"prompt": "why?"}
    )
    assert body == {
        **prompt,
        **extra,
        "model": "tiny",
        "max_tokens": 20,
        "temperature": 1.0,
        "top_k": 5,
        "seed": 7,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert answer.text == answer_to("why?", 7)
    assert (answer.prompt_tokens, answer.cached_tokens, answer.reasoning_tokens) == (1, 1, 2)
    assert answer.completion_tokens == len(answer.text.split())
    assert (answer.server_model, answer.fingerprint) == ("tiny", "fp_1")
    assert (answer.finish_reason, answer.left_out) == ("stop", ())
    assert 0 < answer.seconds < 10
    assert before <= answer.at <= time.time()


def test_without_a_seed_none_is_sent():
    with FaultServer() as server:
        asked(server, request("why?", "completions", seed=None))
    assert "seed" not in server.bodies[0]


def test_query_and_header_are_sent_and_the_key_is_hidden_in_faults(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1234567890")
    said = status(400, "no: sk-1234567890, header abcdefghijk, EMPTY")
    with FaultServer(lambda number, body: said) as server, pytest.raises(Fault) as error:
        asked(server, request("why?", "completions"), header={"X-Key": "abcdefghijk"})
    assert error.value.kind == REFUSED
    assert error.value.reason == "HTTP 400: no: ***, header ***, EMPTY"
    sent = {name.lower(): value for name, value in server.headers[0].items()}
    assert sent["authorization"] == "Bearer sk-1234567890"
    assert sent["x-key"] == "abcdefghijk"


def test_no_redirect_is_followed_with_the_key():
    target = []
    plan = status(307, "", target)
    with FaultServer() as other, FaultServer(lambda number, body: plan) as server:
        target.append(("Location", f"{other.base}/completions"))
        with pytest.raises(Fault) as error:
            asked(server, request("why?", "completions"))
    assert error.value.kind == FATAL and "base_url" in error.value.reason
    assert other.bodies == []


def test_a_longer_prompt_has_longer_to_begin():
    with FaultServer(lambda number, body: hang) as server:
        for words, seconds in ((1, "0.205"), (200, "1.2")):
            with pytest.raises(Fault, match=f"silent for {seconds} s"):
                asked(server, request("word " * words, "completions"), timeout=0.2)


def test_an_answer_whose_connection_stays_open_is_an_answer():
    def open_ended(handler, body):
        begin_stream(handler)
        event(handler, {"choices": [choice(body, 0, "all of it", None)]})
        event(handler, {"choices": [choice(body, 0, "", "stop")]})
        event(handler, {"choices": [], "usage": usage_of(body, ["all of it"])})
        hang(handler, body)

    with FaultServer(lambda number, body: open_ended) as server:
        (answer,) = asked(server, request("why?", "completions"), timeout=0.3)
    assert (answer.text, answer.completion_tokens) == ("all of it", 3)


def test_comments_do_not_keep_a_request_open_for_ever():
    """They are waited for as long as six silences may last, whatever a machine takes for it."""
    comments = for_ever(lambda body: "still here", field="", pause=0.05)
    with FaultServer(lambda number, body: comments) as server:
        with pytest.raises(Fault, match=r"no part of an answer for 1\.2"):
            asked(server, request("why?", "completions"), timeout=0.2)
        assert len(server.bodies) == 1


def test_a_prompt_that_is_no_unicode_is_refused():
    with FaultServer() as server:
        own = request("why?", "chat")
        broken = json.dumps([{"role": "user", "content": "a \ud800 b"}])
        try:
            (answer,) = asked(server, type(own)(broken, own.parameters, 1), "chat")
        except Fault as fault:
            assert fault.kind == REFUSED
        else:
            assert answer.text


def test_a_certificate_file_that_is_none(tmp_path):
    (tmp_path / "ca.pem").write_text("no certificate")
    for name in ("ca.pem", "missing.pem"):
        with pytest.raises(OptionError, match="ca_cert_path"):
            Client(Server("https://h/v1", "chat", "tiny", verify=str(tmp_path / name)))
