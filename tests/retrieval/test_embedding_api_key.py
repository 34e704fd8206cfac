import logging
import pickle
import traceback

import pytest

from lm_eval_longbench.errors import EmbeddingError
from lm_eval_longbench.retrieval.remote import RemoteEmbedder

KEY = "sk-test-VerySecret/42"


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv("LONGBENCH_EMBEDDING_API_KEY", KEY)


def client(server, **arguments):
    return RemoteEmbedder(server.url, "small", **arguments)


@pytest.mark.parametrize(
    ("variables", "sent"),
    [
        ({"LONGBENCH_EMBEDDING_API_KEY": KEY}, KEY),
        ({"OPENAI_API_KEY": KEY}, KEY),
        ({"LONGBENCH_EMBEDDING_API_KEY": KEY, "OPENAI_API_KEY": "other"}, KEY),
        ({"LONGBENCH_EMBEDDING_API_KEY": " ", "OPENAI_API_KEY": KEY}, KEY),
        ({"LONGBENCH_EMBEDDING_API_KEY": f" {KEY}\n"}, KEY),
    ],
)
def test_where_the_key_comes_from(server, monkeypatch, variables, sent):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    client(server).embed(["text"])
    assert server.headers[0]["Authorization"] == f"Bearer {sent}"


def test_a_netrc_file_does_not_replace_the_key(server, monkeypatch, tmp_path, key):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login someone password else\n")
    monkeypatch.setenv("NETRC", str(netrc))
    client(server).embed(["text"])
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_named_not_shown(server, key, status):
    # Servers quote keys in part, where nobody can find them again.
    server.script = [(status, {}, {"error": {"message": f"Incorrect key {KEY[:12]}***"}})]
    with pytest.raises(EmbeddingError) as caught:
        client(server).embed(["text"])
    assert len(server.bodies) == 1
    message = str(caught.value)
    assert "refuses the key in the environment variable LONGBENCH_EMBEDDING_API_KEY" in message
    assert f"{server.url} answered with status {status}" in message
    assert KEY[:6] not in message


def test_a_key_is_wanted(server):
    server.script = [401]
    with pytest.raises(EmbeddingError, match=r"wants a key\. .*LONGBENCH_EMBEDDING_API_KEY"):
        client(server).embed(["text"])


SAYS = {
    "message": {"error": {"message": f"bad request with {KEY}"}},
    "far behind": {"error": {"message": "x" * 290 + KEY}},
    "plain": f"bad request with {KEY}".encode(),
    "list": {"detail": [{"header": KEY}]},
}


@pytest.mark.parametrize("status", [400, 429, 500])
@pytest.mark.parametrize("name", SAYS)
def test_a_server_that_quotes_the_key(server, key, caplog, name, status):
    server.script = [(status, {}, SAYS[name])] * 2
    with caplog.at_level(logging.DEBUG), pytest.raises(EmbeddingError) as caught:
        client(server, attempts=2).embed(["text"])
    shown = "".join(traceback.format_exception(caught.value)) + caplog.text
    assert "says: " in shown
    assert KEY[:9] not in shown


def test_a_key_that_json_escapes(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", 'quo"te\\key')
    server.script = [(400, {}, {"detail": ['quo"te\\key']})]
    with pytest.raises(EmbeddingError) as caught:
        client(server).embed(["text"])
    assert "key'" not in str(caught.value)
    assert "***" in str(caught.value)
    assert "quo" not in str(caught.value)


def test_no_trace_in_objects_logs_and_errors(server, key, caplog):
    embedder = client(server, attempts=2, timeout=1.0)
    with caplog.at_level(logging.DEBUG):
        embedder.embed(["text"])
        server.seconds = 2.0
        with pytest.raises(EmbeddingError) as caught:
            embedder.embed(["text"])
    assert server.headers[-1]["Authorization"] == f"Bearer {KEY}"
    places = {
        "repr": repr(embedder) + str(embedder),
        "state": repr(vars(embedder)),
        "pickle": repr(pickle.dumps(embedder)),
        "identity": embedder.identity,
        "error": repr(caught.value) + "".join(traceback.format_exception(caught.value)),
        "log": caplog.text,
    }
    assert {place for place, text in places.items() if KEY in text} == set()
    # Nor does an error lead to the request, whose headers have it.
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize("bad", [f"{KEY}\nX-Other: 1", f"{KEY} b", f"{KEY}é", f"{KEY}钥"])
def test_a_key_no_header_can_carry(server, monkeypatch, bad):
    monkeypatch.setenv("OPENAI_API_KEY", bad)
    with pytest.raises(EmbeddingError, match="variable OPENAI_API_KEY holds blanks") as caught:
        client(server).embed(["text"])
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert server.bodies == []


@pytest.mark.parametrize(
    "url", [f"http://user:{KEY}@host/v1", f"http://{KEY}@host", f"https://u:{KEY}@h:port/"]
)
def test_a_password_in_the_url_is_refused_and_not_shown(url):
    with pytest.raises(EmbeddingError) as caught:
        RemoteEmbedder(url, "small")
    assert "VerySecret" not in "".join(traceback.format_exception(caught.value))


def test_a_query_is_sent_and_not_shown(server, caplog):
    embedder = RemoteEmbedder(f"{server.url}?api-key={KEY}", "small", attempts=1)
    with caplog.at_level(logging.DEBUG):
        embedder.embed(["text"])
    assert KEY not in caplog.text
    assert server.paths == [f"/v1/embeddings?api-key={KEY}"]
    server.script = [500]
    with pytest.raises(EmbeddingError) as caught:
        embedder.embed(["text"])
    assert KEY not in repr(embedder) + embedder.identity + str(caught.value)
