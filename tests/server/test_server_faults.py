"""Every fault of a server, one request and eight at a time.

Each run must end with an answer or a counted failure for every request, or in order with all good
answers kept; and no request that was answered is asked again. docs/backends.md has the table.
"""

import logging
import ssl
import subprocess
import time

import fault_server as faults
import pytest
from api_asking import BAD, NUMBER, all_good, ask, one_bad, prompts, request
from fault_server import FaultServer, answer_to, first, for_prompt, refuses, status, texts, whole

from lm_eval_longbench.errors import RunStopped
from lm_eval_longbench.records.answer import ANSWERED, EMPTY, FAILED, FILTERED

pytestmark = pytest.mark.parametrize(("endpoint", "concurrent"), [("chat", 8), ("completions", 1)])


# ---------------------------------------------------------------------- too many requests


def test_429_is_waited_for_without_retry_after(run):
    all_good(run(first(5, status(429, "slow down"))))


def test_429_waits_as_long_as_retry_after_says(run):
    asked = run(first(1, status(429, "slow down", [("Retry-After", "1")])))
    waits_for_the_first(asked)


def waits_for_the_first(asked):
    """The one that was refused is sent again, last of all and not before its time."""
    all_good(asked)
    refused, *others, last = map(faults.asked_text, asked.server.bodies)
    assert refused == last and sorted(others) == sorted(set(prompts()) - {refused})
    # No machine is so fast that it sends it sooner.
    assert asked.server.at[-1] - asked.server.at[0] >= 0.9


# ---------------------------------------------------------------------- errors of one question


@pytest.mark.parametrize("code", [500, 502, 503])
def test_5xx_that_passes_is_retried(run, code):
    all_good(run(first(3, status(code, "oops"))))


@pytest.mark.parametrize("code", [500, 502, 503])
def test_5xx_of_one_question_fails_it_after_six_tries(run, code):
    asked = run(for_prompt(BAD, status(code, "oops")))
    one_bad(asked, FAILED, f"HTTP {code}", "oops")
    bad = [body for body in asked.server.bodies if BAD in faults.asked_text(body)]
    assert len(bad) == 6


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (faults.reset, "connection"),
        (faults.hang, "silent for"),
        (faults.slow_headers, "silent for"),
        (faults.broken_stream, "connection"),
        (faults.half(None), "the stream ended before its answer"),
        (faults.half(""), "the stream ended before its answer"),
        (faults.raw(200, "<html>busy</html>"), "an HTML page"),
        (faults.raw(502, "<html>bad gateway</html>"), "HTTP 502: an HTML page"),
        (faults.raw(200, '{"choices": [{"mess', "application/json"), "no JSON"),
        (whole(choices=[]), "no choices"),
        (whole(), "no choices"),
        (whole(choices=[{"index": 0, "finish_reason": "stop"}]), "no message"),
        (whole(error={"message": "out of memory", "code": "oom"}), "out of memory"),
    ],
    ids=lambda value: getattr(value, "__name__", value) if callable(value) else str(value),
)
@pytest.mark.parametrize("forever", [False, True], ids=["passes", "stays"])
def test_a_broken_reply_is_retried_and_then_fails(run, fault, words, forever):
    silent = {"timeout": 0.8, "tries": 3} if "silent" in words else {}
    if forever:
        one_bad(run(for_prompt(BAD, fault), **silent), FAILED, words)
    else:
        all_good(run(first(1, fault), **silent))


def test_a_server_that_takes_one_request_at_a_time(run, concurrent, caplog):
    """Each request ends the one before it: after some they go out one by one."""
    asked = run(lambda number, body: faults.interrupted)
    all_good(asked)
    assert len(asked.server.bodies) <= NUMBER + (12 + 8 if concurrent > 1 else 0)
    assert ("ends answers in their middle" in caplog.text) == (concurrent > 1)


def test_a_stream_slower_than_the_timeout_is_an_answer(run):
    asked = run(for_prompt(BAD, faults.slow_stream), timeout=0.8)
    all_good(asked)
    assert asked.kept[3].seconds > 1.0


def test_comments_in_a_stream_show_that_the_server_is_there(run):
    asked = run(for_prompt(BAD, faults.kept_open), timeout=0.8)
    all_good(asked)
    assert len(asked.server.bodies) == NUMBER


def test_chunks_without_choices_and_a_reply_without_counts_are_understood(run):
    asked = run(for_prompt(BAD, faults.odd_chunks))
    all_good(asked)
    answer = asked.kept[3]
    assert (answer.finish_reason, answer.prompt_tokens, answer.completion_tokens) == (
        ("stop", None, None)
    )


@pytest.mark.parametrize("after", ["", "half an"])
def test_an_error_in_a_stream_is_what_its_code_says(run, after):
    said = "litellm.BadRequestError: OpenAIException - cannot be processed"
    asked = run(for_prompt(BAD, faults.error_in_stream(said, "400", after)))
    one_bad(asked, FAILED, "status 200: HTTP 400", "cannot be processed")
    assert len(asked.server.bodies) == NUMBER
    all_good(run(first(3, faults.error_in_stream("Connection error.", "500", after))))
    asked = run(first(3, faults.error_in_stream("RateLimitError: slow down", "429", after)))
    all_good(asked)


def test_an_error_in_a_stream_that_refuses_the_key_stops_at_once(run):
    asked = run(lambda number, body: faults.error_in_stream("AuthenticationError", "401"))
    assert isinstance(asked.error, RunStopped) and "OPENAI_API_KEY" in str(asked.error)
    assert len(asked.server.bodies) <= 8


def test_a_seed_refused_in_a_stream_is_left_out(run):
    fault = faults.error_in_stream("UnsupportedParamsError: seed is not supported", "400")
    asked = run(lambda number, body: fault if "seed" in body else None)
    assert asked.error is None and set(asked.states()) == {ANSWERED}
    assert {answer.left_out for answer in asked.kept.values()} == {("seed",)}


def test_a_server_that_does_not_stream_is_understood(run):
    all_good(run(None, streams=False))


def test_null_content_is_empty(run):
    one_bad(run(for_prompt(BAD, texts(None))), EMPTY, "null")


def test_an_empty_string_is_empty(run):
    one_bad(run(for_prompt(BAD, texts("", finish_reason="length"))), EMPTY, "empty", "length")


def test_a_content_filter_is_filtered(run):
    one_bad(run(for_prompt(BAD, texts("", finish_reason="content_filter"))), FILTERED, "filter")


def test_a_filter_error_is_filtered_at_once(run):
    fault = status(400, "The prompt was flagged", code="content_filter")
    asked = run(for_prompt(BAD, fault))
    one_bad(asked, FILTERED, "flagged")
    assert len(asked.server.bodies) == NUMBER


@pytest.mark.parametrize(
    "fault",
    [
        status(400, "This model's maximum context length is 10 tokens", code="context_length"),
        # As vLLM says it.
        status(
            400,
            "This model's maximum context length is 4096 tokens. However, you requested 24 output "
            "tokens and your prompt contains at least 4073 input tokens, for a total of at least "
            "4097 tokens. Please reduce the length of the input prompt or the number of requested "
            "output tokens. (parameter=input_tokens, value=4073)",
            type="BadRequestError",
            param="input_tokens",
            code=400,
        ),
        status(404, "no such document"),
        status(413, "request entity too large"),
        status(422, "cannot be processed"),
    ],
    ids=["400", "400 of vLLM", "404", "413", "422"],
)
def test_a_refused_message_fails_at_once(run, fault):
    asked = run(for_prompt(BAD, fault))
    one_bad(asked, FAILED, "HTTP 4")
    assert len(asked.server.bodies) == NUMBER


def test_a_last_question_that_always_fails_does_not_hold_the_run_up(run, endpoint):
    """No other request is left that could show that the server is well: a tiny one does."""
    asked = run(for_prompt("question 0.", status(500, "oops")), number=1, good=0)
    assert asked.states() == [FAILED]
    assert [body["max_tokens"] == 1 for body in asked.server.bodies] == (
        [False] * 5 + [True, False, True]
    )
    assert asked.error is None


def test_a_request_that_was_sent_just_before_the_server_came_back_is_asked_again(run):
    """One failure beside an answer shows nothing: the server may have come back in between."""
    asked = run(lambda number, body: faults.reset if number < 7 else None, number=1)
    bodies = asked.server.bodies
    assert [body["max_tokens"] == 1 for body in bodies] == [False] * 5 + [True, False, True, False]
    all_good(asked)


def test_too_many_failures_stop_the_run_with_all_answers_kept(run):
    asked = run(lambda number, body: status(400, "bad") if number >= 20 else None, number=60)
    assert isinstance(asked.error, RunStopped)
    assert "max_failed" in str(asked.error) and "HTTP 400: bad" in str(asked.error)
    assert asked.states().count(ANSWERED) == 20
    assert 6 <= asked.states().count(FAILED) <= 6 + 8


# ---------------------------------------------------------------------- the whole server


def test_a_server_that_was_away_is_waited_for(run):
    came = []

    def plan(number, body):
        came.append(time.monotonic())
        away = number >= 4 and time.monotonic() - came[0] < 0.8
        return faults.reset if away else None

    all_good(run(plan))


def test_a_dead_server_stops_the_run_and_the_next_one_resumes(run, endpoint):
    asked = run(lambda number, body: faults.reset if number >= 7 else None, patience=0.5)
    assert isinstance(asked.error, RunStopped)
    assert "patience" in str(asked.error) and "\n" not in str(asked.error)
    assert asked.states() == [ANSWERED] * 7
    left = [index for index in range(NUMBER) if index not in asked.kept]
    again = run(None, requests=[request(prompts()[index], endpoint) for index in left])
    assert again.error is None
    together = {**asked.kept, **dict(zip(left, again.kept.values(), strict=True))}
    assert len(together) == NUMBER and len(again.server.bodies) == NUMBER - 7


@pytest.mark.parametrize("code", [401, 403])
def test_a_refused_key_stops_at_once_in_one_line(run, code, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")
    asked = run(lambda number, body: status(code, "Incorrect key: sk-012***cdef"))
    assert isinstance(asked.error, RunStopped)
    assert "\n" not in str(asked.error) and "OPENAI_API_KEY" in str(asked.error)
    assert "sk-0" not in str(asked.error)
    assert len(asked.server.bodies) <= 8 and asked.kept == {}


def test_an_unknown_model_stops_at_once(run):
    fault = status(404, "The model `tiny` does not exist", code="model_not_found")
    asked = run(lambda number, body: fault)
    assert isinstance(asked.error, RunStopped) and "'tiny'" in str(asked.error)
    assert len(asked.server.bodies) <= 8


def test_an_unknown_host_stops_at_once(run):
    began = time.monotonic()
    asked = run(None, base="http://no-such-host.invalid/v1", timeout=20.0, patience=20.0)
    assert isinstance(asked.error, RunStopped) and "host name" in str(asked.error)
    assert time.monotonic() - began < 10


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certificate")
    key, cert = folder / "key.pem", folder / "cert.pem"
    command = (
        f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=x -keyout {key} -out {cert}"
    )
    subprocess.run(command.split(), check=True, capture_output=True)
    return str(cert), str(key)


def test_a_bad_certificate_stops_at_once(endpoint, concurrent, certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    with FaultServer() as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        base = server.base.replace("http:", "https:")
        requests = [request(text, endpoint) for text in prompts()]
        asked = ask(server, requests, endpoint, base=base, num_concurrent=concurrent)
        unchecked = ask(server, requests, endpoint, base=base, verify=False)
    assert isinstance(asked.error, RunStopped)
    assert "certificate" in str(asked.error) and "\n" not in str(asked.error)
    assert unchecked.error is None and set(unchecked.states()) == {ANSWERED}


# ---------------------------------------------------------------------- what servers do not take


@pytest.mark.parametrize(
    "parameter", ["seed", "temperature", "stream_options", "stream", "max_tokens"]
)
def test_a_refused_parameter_is_left_out_for_all(run, parameter, concurrent, caplog):
    with caplog.at_level(logging.WARNING):
        asked = run(refuses(parameter))
    assert asked.error is None and set(asked.states()) == {ANSWERED}
    said = [one for one in caplog.records if f"does not take {parameter}" in one.message]
    assert len(said) == 1
    refused = [body for body in asked.server.bodies if parameter in body]
    assert 1 <= len(refused) <= concurrent
    left_out = {answer.left_out for answer in asked.kept.values()}
    assert left_out == {() if parameter == "max_tokens" else (parameter,)}
    if parameter == "max_tokens":
        assert asked.server.bodies[-1]["max_completion_tokens"] == 20


@pytest.mark.parametrize("stops", [["with"], ["a1", "a2", "a3", "a4", "with"]], ids=["one", "five"])
def test_a_refused_stop_cuts_the_text_here(run, endpoint, stops):
    requests = [request(text, endpoint, stop=stops) for text in prompts()]
    with_stop = run(None, requests=requests)
    without = run(refuses("stop", "'stop' is not supported"), requests=requests)
    cut = [with_stop.kept[index].text for index in range(NUMBER)]
    assert cut == [answer_to(text, 1234).split("with")[0] for text in prompts()]
    assert [without.kept[index].text for index in range(NUMBER)] == cut
    assert all(len(body.get("stop", ())) <= 4 for body in with_stop.server.bodies)
    assert {answer.left_out for answer in without.kept.values()} == {("stop",)}


REPEATED = [(text, seed) for seed in (1234, 1235, 1236) for text in prompts(6)]


@pytest.mark.parametrize(
    "server", ["knows n", "refuses n", "ignores n", "fails with n", "mixes n up", "names one end"]
)
def test_repeats_are_distinct_whatever_becomes_of_n(run, endpoint, server, concurrent):
    plan = {
        "refuses n": refuses("n", "n > 1 is not supported"),
        "fails with n": lambda number, body: status(500, "oops") if "n" in body else None,
        "mixes n up": lambda number, body: faults.mixed if "n" in body else None,
        "names one end": lambda number, body: faults.one_end if "n" in body else None,
    }.get(server)
    requests = [request(text, endpoint, seed=seed) for text, seed in REPEATED]
    asked = run(plan, requests=requests, knows_n=server != "ignores n")
    assert asked.error is None
    told = [asked.kept[index].text for index in range(len(REPEATED))]
    assert told == [answer_to(text, seed) for text, seed in REPEATED]
    if server == "knows n":
        assert len(asked.server.bodies) == 6 + 1  # a tiny one shows that it does


# ---------------------------------------------------------------------- a wrong answerer


def test_another_models_name_is_warned_of_once(run, caplog, endpoint, concurrent):
    with caplog.at_level(logging.WARNING):
        asked = run(
            lambda number, body: (
                lambda handler, body: faults.good(
                    handler, body, model=f"other-{endpoint}-{concurrent}"
                )
            )
        )
    all_good(asked)
    said = [one for one in caplog.records if "replies name" in one.message]
    assert len(said) == 1 and "'tiny'" in said[0].message
    assert {answer.server_model for answer in asked.kept.values()} == {
        f"other-{endpoint}-{concurrent}"
    }


def test_more_choices_than_asked_are_not_answers(run):
    asked = run(for_prompt(BAD, texts("one", "two")), good=NUMBER)
    assert asked.error is None
    assert asked.kept[3].text == "one"
