"""No key reaches a log."""

import io
import logging

import pytest

from lm_eval_longbench.secrets import hide_keys, without_keys


@pytest.mark.parametrize(
    "text",
    [
        "headers={'Authorization': 'Bearer sk-abc.123_DEF'}",
        'headers={"authorization":"Bearer sk-abc.123_DEF"}',
        "Authorization: Bearer sk-abc.123_DEF",
        "url='http://h/v1?api-key=sk-abc.123_DEF'",
        "{'api_key': 'sk-abc.123_DEF'}",
        "bearer sk-abc.123_DEF was refused",
        "x-api-key=sk-abc.123_DEF",
    ],
)
def test_marked_keys(text):
    found = without_keys(text)
    assert "sk-abc" not in found
    assert "***" in found


def test_keys_of_the_environment(monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "plain-secret-17")
    monkeypatch.setenv("HF_TOKEN", "short")
    assert without_keys("it says plain-secret-17, shortly") == "it says ***, shortly"


def test_other_texts_are_left():
    for text in ("The bearer of this", "A score of 3.5", "{'a': [1, 2]}", "no key here"):
        assert without_keys(text) == text


@pytest.fixture
def log():
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    root = logging.getLogger()
    root.addHandler(handler)
    yield stream
    root.removeHandler(handler)


def test_records_of_every_logger(log):
    hide_keys()
    hide_keys()  # once is enough
    logger = logging.getLogger("lm_eval.models.api_models")
    logger.error("failed: %s", {"Authorization": "Bearer sk-abcdefgh"})
    try:
        raise ValueError("headers={'Authorization': 'Bearer sk-abcdefgh'}")
    except ValueError:
        logger.exception("again")
    logger.error("100% sure")
    text = log.getvalue()
    assert "sk-abc" not in text
    assert text.count("***") == 3  # the traceback has it twice
    assert "Traceback" in text and "100% sure" in text
