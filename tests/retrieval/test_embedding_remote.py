import socket
import time

import numpy as np
import pytest

from lm_eval_longbench.errors import EmbeddingError
from lm_eval_longbench.retrieval import remote
from lm_eval_longbench.retrieval.remote import RemoteEmbedder

TEXTS = [f"text number {number} about {'cats' if number % 2 else 'taxes'}" for number in range(7)]


def client(server, **arguments):
    return RemoteEmbedder(server.url, "small", **arguments)


def test_vectors_and_order_over_batches(server, local, monkeypatch):
    monkeypatch.setattr(remote, "_BATCH", 3)
    vectors = client(server).embed(TEXTS)
    assert vectors.shape == (7, 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, local.embed(TEXTS), atol=2e-6)
    assert server.sizes == [3, 3, 1]


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/", "/v1/embeddings", "/v1/embeddings/"])
def test_parts_of_the_url_may_be_left_out(server, path):
    base = server.url.removesuffix("/v1/embeddings")
    RemoteEmbedder(base + path, "small").embed(["text"])
    assert server.paths == ["/v1/embeddings"]


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://host/v1", "http://", "http://h:port", ""])
def test_no_url(url):
    with pytest.raises(EmbeddingError, match="not an http or https URL"):
        RemoteEmbedder(url, "small")


def test_an_odd_address_of_which_the_http_library_has_errors_of_its_own():
    with pytest.raises(EmbeddingError, match="cannot be reached"):
        RemoteEmbedder("http://127.0.0.1:1/v1\x01", "small", attempts=1).embed(["text"])


def test_a_reply_need_not_say_that_it_is_json(server):
    data = [{"index": 0, "embedding": [3.0, 4.0]}]
    server.script = [(200, {"Content-Type": "text/plain"}, {"data": data})]
    np.testing.assert_allclose(client(server).embed(["text"]), [[0.6, 0.8]], atol=1e-6)


@pytest.mark.parametrize("status", [500, 503, 429])
def test_temporary_failures_are_tried_again(server, local, status):
    server.script = [status, status]
    vectors = client(server).embed(TEXTS)
    np.testing.assert_allclose(vectors, local.embed(TEXTS), atol=2e-6)
    assert server.sizes == [7, 7, 7]


def test_a_server_may_ask_for_a_pause(server):
    server.script = [(429, {"Retry-After": "1"}, {})]
    client(server).embed(["text"])
    assert np.diff(server.times)[0] >= 1


@pytest.mark.parametrize("status", [400, 404, 413, 422])
def test_a_refusal_is_final(server, status):
    server.script = [status]
    with pytest.raises(EmbeddingError) as caught:
        client(server).embed(["text"])
    assert len(server.bodies) == 1
    message = str(caught.value)
    assert f"{server.url} answered with status {status} and says: scripted {status}" in message
    assert "'small'" in message


@pytest.mark.parametrize("status", [302, 307])
def test_redirects_are_not_followed(server, status):
    server.script = [(status, {"Location": server.url}, {})]
    with pytest.raises(EmbeddingError, match=f"status {status}"):
        client(server).embed(["text"])
    assert server.paths == ["/v1/embeddings"]


def test_shuffled_replies_are_put_in_order(server, local):
    server.script = [lambda data: [data[index] for index in (4, 0, 6, 2, 5, 1, 3)]]
    vectors = client(server).embed(TEXTS)
    np.testing.assert_allclose(vectors, local.embed(TEXTS), atol=2e-6)


def change(position, **values):
    def changed(data):
        data[position] |= values
        return data

    return changed


WRONG = {
    "one too few": (lambda data: data[:-1], "returned 6 vectors"),
    "one too many": (lambda data: [*data, data[0]], "returned 8 vectors"),
    "none": (lambda data: [], "returned 0 vectors"),
    "index twice": (change(0, index=1), "6 different indices"),
    "index too large": (change(0, index=7), "each of 0 to 6 is needed once"),
    "no index": (lambda data: [{"embedding": item["embedding"]} for item in data], "did not reply"),
    "no object": (lambda data: {}, "returned 0 vectors"),
    "NaN": (change(3, embedding=[float("nan")] * 384), "NaN or infinite values in 1 of 7"),
    "infinite": (change(3, embedding=[float("inf")] * 384), "NaN or infinite values in 1 of 7"),
    "other dimensions": (change(3, embedding=[1.0] * 383), "unequal dimensions"),
    "no dimensions": (lambda data: [item | {"embedding": []} for item in data], r"shape \(7, 0\)"),
    "numbers, no vectors": (lambda data: [item | {"embedding": 1} for item in data], "shape"),
    "base64": (change(3, embedding="AACAPwAAAAA="), "not numbers"),
    "null": (change(3, embedding=None), "unequal dimensions"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_replies(server, name):
    step, message = WRONG[name]
    server.script = [step]
    with pytest.raises(EmbeddingError, match=message) as caught:
        client(server).embed(TEXTS)
    assert server.url in str(caught.value)
    assert len(server.bodies) == 1


@pytest.mark.parametrize("body", [b"<html>hello</html>", b"", b"[1]", b'{"error": "x"}', b"\xff"])
def test_a_page_is_no_reply(server, body):
    server.script = [(200, {}, body)]
    with pytest.raises(EmbeddingError, match="did not reply as an OpenAI-compatible"):
        client(server).embed(TEXTS)


def test_the_model_behind_the_server_changes(server, monkeypatch):
    monkeypatch.setattr(remote, "_BATCH", 4)
    server.script = [
        lambda data: data,
        lambda data: [item | {"embedding": [1.0, 2.0]} for item in data],
    ]
    with pytest.raises(EmbeddingError, match="different dimensions in one run"):
        client(server).embed(TEXTS)


def test_lengths_other_than_one_are_scaled(server, local):
    def scaled(data):
        for item, factor in zip(data, (1e-30, 1e30, 0, 3e200, 5e-200, 1, 7), strict=True):
            item["embedding"] = [value * factor for value in item["embedding"]]
        return data

    server.script = [scaled]
    vectors = client(server).embed(TEXTS)
    expected = local.embed(TEXTS)
    expected[2] = 0
    np.testing.assert_allclose(vectors, expected, atol=2e-6)


def test_a_silent_server(server):
    server.seconds = 5.0
    started = time.monotonic()
    with pytest.raises(EmbeddingError, match=r"does not answer within 0.2 s \(ReadTimeout\)"):
        client(server, timeout=0.2, attempts=2).embed(["text"])
    assert time.monotonic() - started < 4
    assert len(server.bodies) == 2


def test_nobody_listens():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1/embeddings?api-key=s3cret"
        embedder = RemoteEmbedder(url, "small", attempts=2)
        with pytest.raises(EmbeddingError, match=r"cannot be reached .*\(ConnectError\)") as caught:
            embedder.embed(["text"])
    assert embedder.shown_url in str(caught.value)
    assert "s3cret" not in str(caught.value)
