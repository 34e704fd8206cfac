import pytest

from lm_eval_longbench.errors import EmbeddingError, OptionError
from lm_eval_longbench.retrieval.embedding import LocalEmbedder, choose_embedder
from lm_eval_longbench.retrieval.remote import RemoteEmbedder


def test_neither():
    assert choose_embedder(None, None) is None


def test_model():
    embedder = choose_embedder("Qwen/Qwen3-Embedding-8B", None)
    assert isinstance(embedder, LocalEmbedder)
    assert embedder.official


def test_model_on_a_server(server):
    embedder = choose_embedder("small", server.url)
    assert isinstance(embedder, RemoteEmbedder)
    embedder.check()
    assert server.bodies[0]["model"] == "small"


def test_server_without_model():
    with pytest.raises(OptionError, match="'embedding_url' needs 'embedding_model'"):
        choose_embedder(None, "http://localhost:8000")


def test_unusable_url():
    with pytest.raises(EmbeddingError, match="not an http or https URL"):
        choose_embedder("small", "localhost")
