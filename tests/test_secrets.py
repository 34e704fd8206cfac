"""Keys and passwords are seen, wherever they stand."""

import contextlib
import dataclasses
import io
import logging
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_longbench.options import Options
from lm_eval_longbench.records.answer import Answer
from lm_eval_longbench.records.store import COLUMNS
from lm_eval_longbench.secrets import (
    MASK,
    hide_keys,
    masked,
    masked_command,
    masked_url,
    secret_part,
    without_keys,
)
from lm_eval_longbench.signature.ingredients import INGREDIENTS

SECRET = "S3cr3tK3y"
HARMLESS = [
    "http://localhost:8000",
    "https://h/v1/embeddings/",
    "https://h/v1?api-version=2024-10-21",
    "https://h/v1?model=a&region=b",
    "https://h/v1?api-version=1;model=a&",
    "http://h/auth/v1/chat",
    "http://h/v1/tokenizer/completions",
]
HOLDING = {
    "https://me:S3cr3tK3y@h/v1": "https://***@h/v1",
    "https://S3cr3tK3y@h:8000/v1": "https://***@h:8000/v1",
    "https://me:S3cr/3tK3y@h/v1": "https://***@h/v1",
    "https://h/v1?api-key=S3cr3tK3y": "https://h/v1?api-key=***",
    "https://h/v1?api-version=1&code=S3cr3tK3y": "https://h/v1?api-version=1&code=***",
    "https://h/v1?API-VERSION=S3cr3tK3y": "https://h/v1?API-VERSION=***",
    "https://h/v1?S3cr3tK3y": "https://h/v1?***",
    "https://h/v1?=S3cr3tK3y": "https://h/v1?=***",
    "https://h/v1?x=1;k=S3cr3tK3y": "https://h/v1?x=***;k=***",
    "https://h/v1#S3cr3tK3y": "https://h/v1#***",
    "https://[h/S3cr3tK3y": MASK,
    "http://h/key/S3cr3tK3y/v1": "http://h/key/***/v1",
    "http://h/v1;token=S3cr3tK3y/x": "http://h/v1;token=***/x",
}


@pytest.mark.parametrize("url", [*HARMLESS, *HOLDING])
def test_addresses(url):
    assert masked_url(url) == HOLDING.get(url, url)
    if HOLDING.get(url) != MASK:
        told = secret_part(url)
        assert (told is None) == (url in HARMLESS)
        assert SECRET not in (told or "")


@given(
    user=st.text(string.ascii_letters + "/:%@", max_size=5),
    name=st.text(string.ascii_lowercase + "-", max_size=6),
)
def test_no_way_to_spell_a_url_lets_a_secret_through(user, name):
    for url in (
        f"https://{user}{SECRET}@host/v1",
        f"https://host/v1?{name}x={SECRET}",
        f"https://host/v1?a=b&{SECRET}&{name}",
        f"https://host/v1#{name}{SECRET}",
    ):
        assert SECRET not in masked_url(url)
        with contextlib.suppress(ValueError):  # no URL at all
            assert secret_part(url)


@pytest.fixture(autouse=True)
def _nothing_remembered(monkeypatch):
    monkeypatch.setattr("lm_eval_longbench.secrets._hidden", set())


@pytest.mark.parametrize(
    "name",
    [
        *("api_key", "api-key", "apiKey", "key", "OPENAI_API_KEY", "x.api-key", "secret"),
        *("token", "auth_token", "use_auth_token", "accessToken", "hf_token", "client_secret"),
        *("password", "Authorization", "cookie", "credentials", "header", "extra_headers"),
    ],
)
def test_names_of_what_opens_a_server(name):
    assert masked({"a": [{name: SECRET}]}) == {"a": [{name: MASK}]}
    assert masked({"a": {name: {"b": [SECRET, 1, True]}}}) == {"a": {name: {"b": [MASK, 1, True]}}}


@pytest.mark.parametrize(
    "name", ["my_token", "key_file", "secretSanta", "AUTH", "x-auth-user", "APIKeyName"]
)
def test_other_names_of_secrets_keep_two_settings_apart(name):
    one, two = masked([{name: SECRET}, {name: f"{SECRET}2"}])
    assert SECRET not in str(one) and one[name].startswith(f"{MASK} (sha256 ")
    assert one != two
    assert masked(one) == one  # once is enough


OWN = (
    *INGREDIENTS,
    *(one.name for one in dataclasses.fields(Options)),
    *COLUMNS,
    *(one.name for one in dataclasses.fields(Answer)),
)


@pytest.mark.parametrize(
    "name",
    [
        *("tokenizer", "tokenized_requests", "max_gen_toks", "eos_token", "add_bos_token"),
        *("think_end_token", "pretrained", "model", "keys", "monkey", "max_tokens", "data_dir"),
        *("token_ids", "token_length", "pad_token_id", "tokenizer_pad_token", "keyboard", "author"),
        *OWN,
    ],
)
def test_other_names(name):
    assert masked({name: SECRET}) == {name: SECRET}


def test_data_keep_their_shape_and_are_not_changed():
    given = {
        "base_url": f"http://me:{SECRET}@h/v1",
        "longbench": {"only": {"language": ["English"]}, "truncate_to": 500},
        "header": {"X-Key": SECRET, "Accept": "json"},
        "use_auth_token": True,
        "token": "",
        "max_length": None,
        "urls": [f"http://h?key={SECRET}", "http://h"],
    }
    before = repr(given)
    assert masked(given) == {
        "base_url": "http://***@h/v1",
        "longbench": {"only": {"language": ["English"]}, "truncate_to": 500},
        "header": {"X-Key": MASK, "Accept": MASK},
        "use_auth_token": True,
        "token": "",
        "max_length": None,
        "urls": ["http://h?key=***", "http://h"],
    }
    assert repr(given) == before


# ---------------------------------------------------------------------- no key reaches a log


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
    plain = ("The bearer of this", "A score of 3.5", "{'a': [1, 2]}", "no key here")
    like_secrets = ("KeyError: 'model'", "Unknown key: x", "no key=value", "token: 5")
    for text in (*plain, *like_secrets, "max_token=5"):
        assert without_keys(text) == text


# The harness gives its logger a handler and keeps its records from the root; another program may
# have set up the root alone.
@pytest.fixture(params=["", "lm_eval"], ids=["root", "lm_eval"])
def log(request):
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    holder, harness = logging.getLogger(request.param), logging.getLogger("lm_eval")
    before = harness.propagate
    harness.propagate = not request.param
    holder.addHandler(handler)
    yield stream
    holder.removeHandler(handler)
    harness.propagate = before


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


def test_what_was_masked_is_remembered():
    masked(
        {
            "model": "plain-model-name",
            "header": {"X-Team": "Bearer first-secret", "X-Short": "a"},
            "headers": '{"X-Key": "second-secret"}',
            "auth_token": "third-secret",
            "nested": [{"password": "fourth-secret"}],
            "base_url": "http://me:fifth-secret@h/v1?code=sixth%2Fsecret&api-version=plain-2024",
        }
    )
    text = "plain-model-name first-secret second-secret third-secret fourth-secret a plain-2024"
    assert without_keys(text) == "plain-model-name *** *** *** *** a plain-2024"
    assert without_keys("fifth-secret sixth/secret sixth%2Fsecret") == "*** *** ***"


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["model=m,api_key=a,x=1"], "'model=m,api_key=***,x=1'"),
        (["--auth-token=a"], "'--auth-token=***'"),
        (["--token", "a", "b"], "--token '***' b"),
        (["base_url=http://h/v1?code=a,x=1"], "'base_url=http://h/v1?code=***'"),
        (['model=m,header={"a": "b,c=d"},tries=2'], "'model=m,header=***,tries=2'"),
        (["extra_body={'my_token': 'a', 'n': 1}"], """'extra_body={"my_token": "***", "n": 1}'"""),
        (['{"deep": [{"secret": {"x": "a"}}]}'], """'{"deep": [{"secret": {"x": "***"}}]}'"""),
        (["a b", "--tokenizer", "x/y", "max_tokens=5"], "'a b' --tokenizer x/y max_tokens=5"),
        (["key=5"], "key=5"),
    ],
)
def test_command_lines(words, shown):
    assert masked_command(words) == shown
