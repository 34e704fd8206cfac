"""Addresses, headers and keys."""

import sys

import pytest

from lm_eval_longbench.errors import LongBenchError, OptionError
from lm_eval_longbench.server.server import Server, headers, openai_package, read_address


@pytest.mark.parametrize(
    ("base_url", "endpoint", "found"),
    [
        ("http://h:8000/v1", "chat", ("http://h:8000/v1", "chat", {})),
        ("http://h/v1/", "completions", ("http://h/v1", "completions", {})),
        ("https://h/v1/chat/completions", None, ("https://h/v1", "chat", {})),
        ("https://h/v1/completions/", None, ("https://h/v1", "completions", {})),
        ("https://h/x/completions?api-version=1", "completions",
         ("https://h/x", "completions", {"api-version": "1"})),
    ],
)  # fmt: skip
def test_addresses(base_url, endpoint, found):
    assert read_address(base_url, endpoint) == found


@pytest.mark.parametrize(
    ("base_url", "endpoint", "words"),
    [
        ("http://h/v1", None, "endpoint=chat"),
        ("http://h/v1/completions", "chat", "Leave one"),
        ("http://h/v1", "embeddings", "'embeddings'"),
        ("h:8000/v1", "chat", "no http"),
        ("http://user:pass word@/v1", "chat", "no http"),
    ],
)
def test_addresses_that_cannot_be_used(base_url, endpoint, words):
    with pytest.raises(OptionError, match=words) as error:
        read_address(base_url, endpoint)
    assert "pass word" not in str(error.value)


def server(**more):
    return Server("http://h/v1", "chat", "tiny", **more)


def test_the_key_comes_from_the_environment(monkeypatch):
    assert headers(server()) == {"Authorization": "Bearer EMPTY"}
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1234567890")
    assert headers(server()) == {"Authorization": "Bearer sk-1234567890"}
    own = {"authorization": "Basic abc", "X-Team": "a"}
    assert headers(server(header=own)) == own


def test_a_key_that_no_header_can_carry_is_not_quoted(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-12345\n67890")
    with pytest.raises(OptionError, match="OPENAI_API_KEY") as error:
        headers(server())
    assert "12345" not in str(error.value)
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(OptionError, match="X-Key") as error:
        headers(server(header={"X-Key": "12345\n"}))
    assert "12345" not in str(error.value)


def test_keys_are_hidden(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1234567890")
    own = server(header={"X-Key": "Bearer abcdefghijk"}, query={"sig": "0123456789"})
    text = "sk-1234567890 and abcdefghijk and 0123456789"
    assert own.hide(text) == "*** and *** and ***"
    assert "abcdefghijk" not in repr(own) and "0123456789" not in repr(own)


def test_a_missing_package_names_the_line_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(LongBenchError, match=r'pip install "lm-eval-longbench\[api\]"'):
        openai_package()
