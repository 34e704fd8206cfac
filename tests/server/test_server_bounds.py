"""No request holds up the others, and every wait, reply and run has an end.

The server is real, as in tests/server/test_server_faults.py; docs/backends.md has the table.
"""

import re
import socket
import time

import fault_server as faults
import pytest
from api_asking import BAD, NUMBER, all_good, one_bad, request
from fault_server import answer_to, asked_text, for_prompt, status

from lm_eval_longbench.errors import RunStopped
from lm_eval_longbench.records.answer import ANSWERED, FAILED
from lm_eval_longbench.server import client, pace

pytestmark = pytest.mark.parametrize(("endpoint", "concurrent"), [("chat", 8), ("completions", 1)])
DAY, AGES = "86400", "99999999999"
# As OpenAI says it of one prompt that is longer than the tokens of a minute.
TOO_LARGE = (
    "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, "
    "Requested 34512. The input or output tokens must be reduced in order to run successfully."
)


def busy(after=None, message="slow down"):
    return status(429, message, [("Retry-After", after)] if after else ())


@pytest.fixture
def short_asked_waits(monkeypatch):
    """A wait that a server asks for is counted in full, and lasts a moment."""
    monkeypatch.setattr(pace, "_LONGEST_ASKED", 0.005)


def places(server, text):
    """When, as the place among all requests, those of one prompt came."""
    return [place for place, body in enumerate(server.bodies) if text in asked_text(body)]


# ---------------------------------------------------------------------- one request and the others


@pytest.mark.parametrize(
    ("at_once", "after"), [("few", None), ("few", "5"), ("few", AGES), (64, DAY)]
)
def test_429_for_one_question_holds_up_no_other(
    run, endpoint, concurrent, at_once, after, short_asked_waits
):
    concurrent = concurrent if at_once == "few" else 64
    number = concurrent + 32
    asked = run(for_prompt(BAD, busy(after)), number, num_concurrent=concurrent)
    one_bad(asked, FAILED, "HTTP 429: slow down")
    tries = places(asked.server, BAD)
    assert 2 <= len(tries) <= 40
    # The others are all asked once, and sent before the second try.
    tiny = places(asked.server, "?")
    assert len(asked.server.bodies) == number - 1 + len(tries) + len(tiny)
    assert len(tiny) <= len(tries)
    assert tries[1] >= number - concurrent  # requests overtake each other on their way


def test_429_for_several_questions_holds_up_no_other(run, short_asked_waits):
    bad = ("question 3.", "question 4.", "question 12.")

    def plan(number, body):
        return busy("5") if asked_text(body).endswith(bad) else None

    asked = run(plan, 40)
    assert asked.error is None
    failed = [index for index, state in enumerate(asked.states()) if state == FAILED]
    assert failed == [3, 4, 12]
    assert asked.states().count(ANSWERED) == 37


@pytest.mark.parametrize(
    "fault",
    [
        busy("20", TOO_LARGE),
        busy(None, "tokens per minute: Limit: 6,000, Used: 0, Requested: 25,000. Try again later."),
        faults.error_in_stream(TOO_LARGE, "429"),
    ],
    ids=["too large", "more than the limit", "in a stream"],
)
def test_a_request_above_a_limit_fails_at_once(run, fault):
    asked = run(for_prompt(BAD, fault))
    one_bad(asked, FAILED, "HTTP 429", "equested")
    assert len(asked.server.bodies) == NUMBER


def test_several_answers_above_a_limit_are_asked_for_one_by_one(run, endpoint):
    def plan(number, body):
        return busy("20", TOO_LARGE) if BAD in asked_text(body) and "n" in body else None

    asking = [(f"a question {index}.", seed) for seed in (1234, 1235) for index in range(6)]
    asked = run(plan, requests=[request(text, endpoint, seed=seed) for text, seed in asking])
    assert asked.error is None
    told = [asked.kept[index].text for index in range(len(asking))]
    assert told == [answer_to(text, seed) for text, seed in asking]
    # A tiny one, and one for each question; the bad one goes out twice more.
    assert len(asked.server.bodies) == 1 + 6 + 2


def test_429_for_everyone_holds_everyone(run, concurrent):
    """After the first ones nothing is sent until the wait is over."""
    came, refused = [], []

    def plan(number, body):
        came.append(time.monotonic())
        if came[-1] - came[0] > 0.5:
            return None
        refused.append(asked_text(body))
        return busy("1")

    asked = run(plan, 40)
    all_good(asked)
    assert 1 <= len(refused) <= max(2, concurrent)
    assert len(set(refused)) == len(refused)


@pytest.mark.parametrize("after", [None, DAY])
def test_503_for_one_question_holds_up_no_other(run, after, short_asked_waits):
    headers = [("Retry-After", after)] if after else ()
    asked = run(for_prompt(BAD, status(503, "busy", headers)), 40)
    one_bad(asked, FAILED, "HTTP 503: busy")
    assert len(places(asked.server, BAD)) == 6


# ---------------------------------------------------------------------- every wait has an end


@pytest.mark.parametrize(("code", "after"), [(429, AGES), (503, DAY)])
def test_a_wait_of_a_day_ends_with_patience(run, concurrent, after, code, caplog):
    """One answer that was on its way comes afterwards, and changes nothing."""
    held = status(code, "not today", [("Retry-After", after)])

    def plan(number, body):
        def late(handler, body):
            handler.server.closing.wait(0.3)
            faults.good(handler, body)

        return held if number else late

    asked = run(plan, patience=1.5)
    assert isinstance(asked.error, RunStopped)
    assert "no sign of life for 1.5 s (patience)" in str(asked.error)
    assert f"HTTP {code}: not today" in str(asked.error)
    assert asked.states() == [ANSWERED]
    said = [line for line in caplog.messages if line.startswith("No answer for")]
    assert said and all("patience" in line for line in said)


def test_a_silent_server_is_given_up_before_its_timeout(run):
    asked = run(lambda number, body: faults.hang, patience=1.0, timeout=600.0)
    assert isinstance(asked.error, RunStopped)
    assert "no sign of life for 1 s (patience)" in str(asked.error)
    assert asked.kept == {}


def test_a_port_that_nobody_listens_at_is_given_up_soon(run, monkeypatch, caplog):
    monkeypatch.setattr(pace, "_NEVER", 1.0)
    monkeypatch.setattr(pace, "_NEVER_SAID", 0.2)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        base = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        asked = run(None, base=base, patience=600.0)
    assert isinstance(asked.error, RunStopped)
    assert f"Nothing has ever come from {base}" in str(asked.error)
    assert "ConnectionRefusedError" in str(asked.error) and "base_url" in str(asked.error)
    said = [line for line in caplog.messages if line.startswith("No answer for")]
    assert len(said) == 1 and "(no connection" in said[0]


def test_silence_about_one_question_holds_up_no_other(run, concurrent):
    asked = run(for_prompt(BAD, faults.hang), 20, timeout=2.0, patience=7.0, tries=2)
    one_bad(asked, FAILED, "silent for 2.0")
    tries = places(asked.server, BAD)
    assert len(tries) == 2 and tries[1] >= 20 - concurrent


# ---------------------------------------------------------------------- every reply has an end

NO_CHOICES = faults.for_ever(lambda body: {"id": "x" * 2000, "choices": []})


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (NO_CHOICES, "larger than"),
        (faults.for_ever(faults.token), "MB, more than 20 tokens need"),
        (faults.for_ever(lambda body: "still here " * 200, field=""), "larger than"),
        (faults.unpacking(30), "larger than"),
        (faults.unpacking(30, kind="text/event-stream"), "larger than"),
        (faults.raw(200, " " * 2**21), "larger than"),
    ],
    ids=["events", "tokens", "comments", "packed", "packed stream", "white space"],
)
def test_a_reply_without_end_fails_at_once(run, fault, words):
    asked = run(for_prompt(BAD, fault), good=NUMBER - 1, timeout=20.0)
    one_bad(asked, FAILED, words)
    assert len(places(asked.server, BAD)) == 1


def test_an_error_without_end_is_read_to_its_bound(run):
    taken = []

    def fault(handler, body):
        handler.send_response(400)
        handler.end_headers()
        handler.close_connection = True
        while not handler.server.closing.is_set():
            taken.append(handler.wfile.write(b"no " * 2**18))

    asked = run(for_prompt(BAD, fault), good=NUMBER - 1)
    one_bad(asked, FAILED, "HTTP 400: no no")
    assert 0 < sum(taken) < 2**25  # what the buffers of both sides hold


def test_events_without_an_answer_are_waited_for_and_then_fail(run, monkeypatch):
    monkeypatch.setattr(client, "_MOST_COMMENTS", 2)
    slow = faults.for_ever(lambda body: {"choices": []}, pause=0.05)
    asked = run(for_prompt(BAD, slow), timeout=1.0, tries=2)
    one_bad(asked, FAILED, "no part of an answer for 2.")


def test_tokens_that_drip_without_end_fail_at_once(run, monkeypatch):
    monkeypatch.setattr(client, "_SLOWEST", 0.05)
    monkeypatch.setattr(client, "_MOST_COMMENTS", 1)
    slow = faults.for_ever(faults.token, pause=0.05)
    asked = run(for_prompt(BAD, slow), timeout=2.0)
    one_bad(asked, FAILED, "the answer is not at its end after 3.")


def test_events_without_an_answer_from_everyone_end_the_run(run):
    slow = faults.for_ever(lambda body: {"choices": []}, pause=0.05)
    asked = run(lambda number, body: slow, timeout=0.4, patience=0.8)
    assert isinstance(asked.error, RunStopped) and asked.kept == {}
    assert "no sign of life for 0.8 s (patience)" in str(asked.error)


def test_an_answer_before_events_without_end_is_an_answer(run):
    def fault(handler, body):
        faults.begin_stream(handler)
        text = answer_to(asked_text(body), body["seed"])
        faults.event(handler, {"choices": [faults.choice(body, 0, text, "stop", part=True)]})
        while not handler.server.closing.wait(0.05):
            faults.event(handler, {"choices": []})

    asked = run(for_prompt(BAD, fault), good=NUMBER, timeout=0.5)
    all_good(asked)
    assert len(asked.server.bodies) == NUMBER


def test_a_reply_that_comes_drop_by_drop_is_an_answer(run):
    asked = run(for_prompt(BAD, faults.drop_by_drop), timeout=0.8)
    all_good(asked)
    assert len(asked.server.bodies) == NUMBER


# ---------------------------------------------------------------------- what nobody can mean


@pytest.mark.parametrize("streams", [True, False])
def test_counts_that_are_none_are_not_kept_and_the_answer_is(run, streams):
    counts = (10**30, 2**63, -1, True, 1.5, "7", None)

    def plan(number, body):
        place = re.search(r"question (\d)\.", asked_text(body))
        if place is None or int(place[1]) >= len(counts):
            return None
        count = counts[int(place[1])]
        details = {"cached_tokens": count}
        return faults.counting(
            prompt_tokens=count, completion_tokens=count, prompt_tokens_details=details
        )

    asked = run(plan, streams=streams)
    all_good(asked)
    for place in range(len(counts)):
        answer = asked.kept[place]
        found = (answer.prompt_tokens, answer.completion_tokens, answer.cached_tokens)
        assert found == (None,) * 3, counts[place]
    assert asked.kept[len(counts)].prompt_tokens == 4


@pytest.mark.parametrize("streams", [True, False])
def test_a_second_reply_is_no_answer_to_the_next_question(run, streams):
    all_good(run(lambda number, body: faults.twice, 40, streams=streams, good=40))
