"""What servers say, and what follows from it; the messages are those of known servers."""

import socket
import ssl
import time
from email.utils import formatdate

import pytest

from lm_eval_longbench.server.faults import (
    BUSY,
    FATAL,
    NOT_TAKEN,
    REFUSED,
    TOO_MUCH,
    TROUBLE,
    WITHHELD,
    of_connection,
    of_error,
    of_status,
    retry_after,
    shortened,
)

SENT = {
    "model": "tiny",
    "seed": 1,
    "stop": ["x"],
    "n": 3,
    "temperature": 0.0,
    "max_tokens": 5000,
    "stream": True,
    "stream_options": {},
}


def found(status, message="", **more):
    return of_status(status, {"message": message, **more} if message else None, {}, SENT)


@pytest.mark.parametrize(
    ("status", "message", "more", "kind"),
    [
        (401, "bad key", {}, FATAL),
        (402, "Insufficient Balance", {}, FATAL),
        (403, "forbidden", {}, FATAL),
        (403, "Your input was flagged", {}, WITHHELD),
        (400, "no", {"code": "content_filter"}, WITHHELD),
        (404, "", {}, FATAL),
        (404, "Not Found", {}, FATAL),
        (404, "The model `tiny` does not exist.", {}, FATAL),
        (400, "Model Not Exist", {}, FATAL),
        (404, "no such file", {}, REFUSED),
        (405, "Method Not Allowed", {}, FATAL),
        (307, "", {}, FATAL),
        (408, "", {}, TROUBLE),
        (413, "too large", {}, REFUSED),
        (429, "slow down", {}, BUSY),
        (429, "Too many requests: please reduce your request rate.", {}, BUSY),
        (429, "Too many tokens, please wait before trying again.", {}, BUSY),
        (429, "on tokens per min (TPM): Limit 10000, Used 9500, Requested 800.", {}, BUSY),
        (429, "on tokens per min (TPM): Limit 30,000, Requested 34,512.", {}, TOO_MUCH),
        (429, f"Limit 1, Requested {'9' * 5000}", {}, TOO_MUCH),
        (429, "Request too large for gpt-4o in organization org-1", {}, TOO_MUCH),
        (429, "You exceeded your current quota", {"code": "insufficient_quota"}, FATAL),
        (500, "oops", {}, TROUBLE),
        (529, "overloaded", {}, TROUBLE),
    ],
)
def test_what_follows_from_a_status(status, message, more, kind):
    fault = found(status, message, **more)
    assert fault.kind == kind
    assert fault.reason.startswith(f"HTTP {status}")


@pytest.mark.parametrize(
    ("status", "message", "more", "parameter"),
    [
        (400, "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
         "'max_completion_tokens' instead.", {"param": "max_tokens"}, "max_tokens"),
        (400, "Unsupported value: 'temperature' does not support 0.0 with this model. Only the "
         "default (1) value is supported.", {"param": "temperature"}, "temperature"),
        (400, "Unrecognized request argument supplied: seed", {}, "seed"),
        (400, "'stop' is not supported with this model.", {"param": "stop"}, "stop"),
        (400, "Only n = 1 is allowed", {}, "n"),
        (400, "property 'n' must be 1", {}, "n"),
        (400, "stream_options: Extra inputs are not permitted", {}, "stream_options"),
        (500, "multiple completions are not implemented", {}, "n"),
    ],
)  # fmt: skip
def test_a_parameter_that_is_not_taken(status, message, more, parameter):
    fault = found(status, message, **more)
    assert (fault.kind, fault.parameter) == (NOT_TAKEN, parameter)


@pytest.mark.parametrize(
    "message",
    [
        "'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context "
        "length is 4096 tokens and your request has 200 input tokens",
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
        "temperature must be between 0 and 2",
        "Nonsense in messages",
    ],
)
def test_other_complaints_refuse_the_request(message):
    assert found(400, message).kind == REFUSED


def test_a_parameter_that_was_not_sent_is_not_to_blame():
    body = {"message": "Unrecognized request argument supplied: seed"}
    assert of_status(400, body, {}, {"model": "tiny"}).kind == REFUSED


def test_words_about_a_key_are_not_quoted():
    assert "sk-" not in found(401, "Incorrect API key provided: sk-ab***yz").reason


def test_pages_and_lists_of_problems():
    assert of_status(502, "<html>x</html>", {}, SENT).reason == "HTTP 502: an HTML page"
    detail = {"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}
    assert of_status(422, detail, {}, SENT).parameter == "seed"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"error": {"message": "content_filter"}}, WITHHELD),
        ({"error": {"message": "maximum context length"}}, REFUSED),
        ({"error": {"message": "Rate limit reached", "code": 429}}, BUSY),
        ({"error": "overloaded"}, TROUBLE),
        ({"error": {"message": "no", "code": "400"}}, REFUSED),
        ({"error": {"message": "no", "code": 401, "type": "AuthenticationError"}}, FATAL),
        ({"error": {"message": "seed is not supported", "code": 400}}, NOT_TAKEN),
        ({"error": {"message": "no", "code": 4001}}, TROUBLE),
        ({"error": {"message": "boom", "code": 502}}, TROUBLE),
    ],
)
def test_errors_with_status_200(body, kind):
    assert of_error(body, SENT).kind == kind


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "-3"}, 0),
        ({}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
    ],
)
def test_retry_after(headers, seconds):
    assert retry_after(headers) == seconds


@pytest.mark.parametrize(("ahead", "least", "most"), [(30, 28, 30), (-30, 0, 0)])
def test_retry_after_as_a_date(ahead, least, most):
    headers = {"retry-after": formatdate(time.time() + ahead, usegmt=True)}
    assert least <= retry_after(headers) <= most


def beneath(error):
    """An error of a library that came from another one."""
    outer = RuntimeError("with a header: Bearer sk-secret")
    outer.__cause__ = error
    return outer


def test_faults_of_connections():
    certificate = ssl.SSLCertVerificationError(1, "x")
    certificate.verify_message = "self-signed certificate"
    assert of_connection(beneath(certificate), has_answered=True).kind == FATAL
    name = socket.gaierror(-2, "unknown")
    assert of_connection(beneath(name), has_answered=False).kind == FATAL
    assert of_connection(beneath(name), has_answered=True).kind == TROUBLE
    fault = of_connection(beneath(ConnectionResetError("x")), has_answered=True)
    assert fault.kind == TROUBLE and "ConnectionResetError" in fault.reason
    assert "secret" not in fault.reason


def test_a_long_reason_is_shortened_to_one_line():
    text = shortened("a\nb " * 1000)
    assert "\n" not in text and len(text) < 310
