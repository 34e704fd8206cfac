import logging
import subprocess
import sys
from pathlib import Path

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


def test_a_newer_vector_replaces_an_older_one(cache):
    cache.put("model", ["one"], VECTORS[:1])
    cache.put("model", ["one"], VECTORS[1:2])
    np.testing.assert_array_equal(cache.get("model", ["one"])["one"], VECTORS[1])


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


def run(program, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


FULL = """
import logging, resource, signal, sys
import numpy as np
from pathlib import Path
from lm_eval_longbench.retrieval.vectors import VectorCache
logging.basicConfig()
cache = VectorCache(Path(sys.argv[1]))
cache.put("model", ["first"], np.ones((1, 8), np.float32))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
cache.put("model", [str(n) for n in range(999)], np.ones((999, 64), np.float32))
found = cache.get("model", ["first", "0", "998"])
assert list(found) == ["first"], list(found)
"""


def test_a_full_disk_is_a_warning_and_loses_nothing(tmp_path):
    process = run(FULL, str(tmp_path))
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    assert b"cannot be written" in errors
    assert set(VectorCache(tmp_path).get("model", ["first", "0", "998"])) == {"first"}


WORKER = """
import logging, sys
import numpy as np
from pathlib import Path
from lm_eval_longbench.retrieval.vectors import VectorCache
logging.basicConfig()
cache, me = VectorCache(Path(sys.argv[1])), int(sys.argv[2])
sys.stdin.readline()
for turn in range(15):
    number = me * 1000 + turn
    texts = [f"own {number}", f"shared {turn}"]
    cache.put("model", texts, np.array([[number, 1], [turn, 2]], np.float32))
    assert cache.get("model", texts)[texts[0]].tolist() == [number, 1]
"""


def test_processes_at_once(tmp_path):
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(tmp_path), str(me)],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for me in range(3)
    ]
    for worker in workers:
        worker.stdin.write("go\n")
        worker.stdin.flush()
    for worker in workers:
        _, errors = worker.communicate()
        assert worker.returncode == 0, errors
        assert errors == ""
    own = [f"own {me * 1000 + turn}" for me in range(3) for turn in range(15)]
    shared = [f"shared {turn}" for turn in range(15)]
    assert len(VectorCache(Path(tmp_path)).get("model", own + shared)) == 60
