import logging
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from lm_eval_longbench.errors import EmbeddingError
from lm_eval_longbench.retrieval.embedding import LocalEmbedder

TEXTS = [
    "a cat sat on the mat",
    "the quick brown fox jumps over the lazy dog " * 12,
    "snow",
    "the committee adopted the annual budget after a long debate",
    "a dog lay on the rug",
]


@pytest.fixture(scope="module")
def reference(small_model):
    """The library itself, as it comes."""
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(small_model, device="cpu")


def test_vectors_are_the_librarys_own(local, reference):
    vectors = local.embed(TEXTS)
    assert vectors.shape == (5, 384)
    assert vectors.dtype == np.float32
    alone = np.concatenate([reference.encode([text]) for text in TEXTS])
    np.testing.assert_allclose(vectors, alone, atol=2e-6)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_a_vector_does_not_depend_on_the_batch(local):
    """Left padding would shift this model's positions: such a batch is off by 0.2 in cosine."""
    together = local.embed(TEXTS)
    library = local._model.encode(TEXTS)
    alone = np.concatenate([local.embed([text]) for text in TEXTS])
    assert (library[0] @ alone[0]) < 0.9  # the danger is real
    np.testing.assert_allclose(together, alone, atol=2e-6)


def test_texts_of_equal_length_share_batches(small_model, monkeypatch):
    local = LocalEmbedder(small_model)  # no other test's threads use it
    local.embed(["load"])
    sizes = []
    encode = local._model.encode
    monkeypatch.setattr(
        local._model,
        "encode",
        lambda texts, **rest: sizes.append(len(texts)) or encode(texts, **rest),
    )
    local.embed(["cat"] * 70 + ["a cat"] * 3)
    assert sizes == [3, 32, 32, 6]
    del sizes[:]
    monkeypatch.setattr("lm_eval_longbench.retrieval.embedding._TOKENS", 7)
    local.embed(["a b c"] * 2 + ["cat"] * 4)
    assert sizes == [1, 1, 2, 2]


def test_texts_beyond_the_models_length_are_announced(local, caplog):
    with caplog.at_level(logging.WARNING):
        vectors = local.embed(["cat " * 300, "cat " * 400, "cat"])
    assert "takes 256 tokens: 2 of 3 texts are longer" in caplog.text
    np.testing.assert_allclose(vectors[0], vectors[1], atol=1e-6)
    assert caplog.text.count("takes 256 tokens") == 1


def test_the_identity_of_a_folder_changes_with_its_files(small_model, tmp_path):
    copy = shutil.copytree(small_model, tmp_path / "model")
    first = LocalEmbedder(str(copy)).identity
    assert LocalEmbedder(str(copy)).identity == first
    os.utime(copy / "model.safetensors", ns=(1, 1))
    assert LocalEmbedder(str(copy)).identity != first
    assert LocalEmbedder("a/b").identity != LocalEmbedder("a/c").identity


@pytest.mark.parametrize("name", ["nobody/nothing", "nothing", "/no/such/folder"])
@pytest.mark.parametrize("method", ["check", "embed"])
def test_unknown_model(name, method, monkeypatch):
    import huggingface_hub.constants as constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    arguments = (["text"],) if method == "embed" else ()
    with pytest.raises(EmbeddingError, match="cannot be loaded") as caught:
        getattr(LocalEmbedder(name, device="cpu"), method)(*arguments)
    assert repr(name) in str(caught.value)
    assert "embedding_url" in str(caught.value)


def test_a_model_that_fails(small_model, monkeypatch):
    embedder = LocalEmbedder(small_model, device="cpu")
    embedder.embed(["load"])

    def fail(*arguments, **rest):
        raise RuntimeError("CUDA out of memory")

    monkeypatch.setattr(embedder._model, "encode", fail)
    with pytest.raises(EmbeddingError, match=r"RuntimeError: CUDA out of memory.*embedding_url"):
        embedder.embed(["text"])


def test_threads_embed_one_after_the_other(small_model, monkeypatch):
    embedder = LocalEmbedder(small_model, device="cpu")
    vector = embedder.embed(["load"])
    inside, most = [], []
    encode = embedder._model.encode

    def slow(*arguments, **rest):
        inside.append(1)
        most.append(len(inside))
        time.sleep(0.05)
        inside.pop()
        return encode(*arguments, **rest)

    monkeypatch.setattr(embedder._model, "encode", slow)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(embedder.embed, [["load"]] * 4))
    assert most == [1, 1, 1, 1]
    assert all((one == vector).all() for one in found)


@pytest.mark.parametrize("method", ["check()", "embed(['text'])"])
def test_missing_package(method, small_model):
    program = (
        "import sys; sys.modules['sentence_transformers'] = None\n"
        "from lm_eval_longbench.errors import EmbeddingError\n"
        "from lm_eval_longbench.retrieval.embedding import LocalEmbedder\n"
        f"try: LocalEmbedder({small_model!r}).{method}\n"
        "except EmbeddingError as error: sys.exit(str(error))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 1
    assert 'pip install "lm-eval-longbench[semantic]"' in done.stderr
    assert "Traceback" not in done.stderr
