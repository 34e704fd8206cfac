import logging

import datasets
import numpy as np
import pytest

from lm_eval_longbench.retrieval.vectors import VectorCache

TEXTS = ["one", "two", "three 三", "half \ud800"]
VECTORS = np.arange(32, dtype=np.float32).reshape(4, 8) / 7


def test_vectors_come_back_bit_for_bit_in_another_instance(tmp_path):
    VectorCache(tmp_path).put("model", TEXTS, VECTORS)
    found = VectorCache(tmp_path).get("model", [*TEXTS, "four"])
    assert list(found) and set(found) == set(TEXTS)
    for text, vector in zip(TEXTS, VECTORS, strict=True):
        assert found[text].dtype == np.float32
        np.testing.assert_array_equal(found[text], vector)


def test_models_do_not_share_vectors(cache):
    cache.put("model", TEXTS, VECTORS)
    assert cache.get("other", TEXTS) == {}
    cache.put("ab", ["c"], VECTORS[:1])
    assert cache.get("a", ["bc"]) == {}


def test_many_texts(cache):
    texts = [f"text {number}" for number in range(2500)]
    vectors = np.arange(5000, dtype=np.float32).reshape(2500, 2)
    cache.put("model", texts, vectors)
    found = cache.get("model", texts)
    np.testing.assert_array_equal(np.stack([found[text] for text in texts]), vectors)


def test_default_place_is_the_datasets_cache():
    path = VectorCache().path
    assert path.is_relative_to(datasets.config.HF_DATASETS_CACHE)
    assert path.parent.name == "embeddings"


def damage_all(path):
    path.write_bytes(b"this is no database" * 500)


def damage_pages(path):
    raw = bytearray(path.read_bytes())
    raw[4096:] = b"\xff" * (len(raw) - 4096)
    path.write_bytes(bytes(raw))


@pytest.mark.parametrize("damage", [damage_all, damage_pages])
@pytest.mark.parametrize("first", ["get", "put"])
def test_a_file_that_cannot_be_read_is_begun_anew(cache, caplog, damage, first):
    cache.put("model", TEXTS, VECTORS)
    damage(cache.path)
    with caplog.at_level(logging.WARNING):
        if first == "get":
            assert cache.get("model", TEXTS) == {}
        cache.put("model", TEXTS, VECTORS)
    assert "was damaged. It is begun anew" in caplog.text
    found = cache.get("model", TEXTS)
    np.testing.assert_array_equal(np.stack([found[text] for text in TEXTS]), VECTORS)


def test_a_folder_that_cannot_be_used_is_a_warning(tmp_path, caplog):
    (tmp_path / "file").write_text("in the way")
    cache = VectorCache(tmp_path / "file" / "cache")
    with caplog.at_level(logging.WARNING):
        cache.put("model", TEXTS, VECTORS)
        cache.put("model", TEXTS, VECTORS)
        assert cache.get("model", TEXTS) == {}
    assert caplog.text.count("cannot be written") == 1
    assert "HF_DATASETS_CACHE" in caplog.text
