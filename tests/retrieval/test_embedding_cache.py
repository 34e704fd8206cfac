import logging

import numpy as np

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


def test_a_file_that_cannot_be_read_is_a_warning(cache, caplog):
    cache.put("model", TEXTS, VECTORS)
    cache.path.write_bytes(b"this is no database" * 500)
    with caplog.at_level(logging.WARNING):
        assert cache.get("model", TEXTS) == {}
    assert "cannot be read" in caplog.text and "Delete it" in caplog.text


def test_a_folder_that_cannot_be_used_is_a_warning(tmp_path, caplog):
    (tmp_path / "file").write_text("in the way")
    cache = VectorCache(tmp_path / "file" / "cache")
    with caplog.at_level(logging.WARNING):
        cache.put("model", TEXTS, VECTORS)
        cache.put("model", TEXTS, VECTORS)
        assert cache.get("model", TEXTS) == {}
    assert caplog.text.count("cannot be written") == 1
    assert "HF_DATASETS_CACHE" in caplog.text
