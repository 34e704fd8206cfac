import logging
import sqlite3
import subprocess
import sys
from pathlib import Path
from random import Random

import datasets
import numpy as np
import pytest

from lm_eval_longbench.semantic import cache as module
from lm_eval_longbench.semantic.cache import VectorCache

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
def test_a_damaged_file_is_set_aside(cache, caplog, damage, first):
    cache.put("model", TEXTS, VECTORS)
    damage(cache.path)
    damaged = cache.path.read_bytes()
    with caplog.at_level(logging.WARNING):
        if first == "get":
            assert cache.get("model", TEXTS) == {}
        cache.put("model", TEXTS, VECTORS)
    assert "was damaged and is now" in caplog.text
    assert cache.path.with_name(f"{cache.path.name}.damaged").read_bytes() == damaged
    assert len(cache.get("model", TEXTS)) == 4


def test_a_sound_file_stays_when_another_process_replaced_the_damaged_one(cache):
    cache.put("model", TEXTS, VECTORS)
    cache._set_aside()
    assert len(cache.get("model", TEXTS)) == 4


def test_flipped_bits_in_a_vector_are_noticed(cache):
    cache.put("model", TEXTS, VECTORS)
    raw = cache.path.read_bytes()
    old = VECTORS[1].tobytes()
    assert raw.count(old) == 1
    cache.path.write_bytes(raw.replace(old, old[:-1] + bytes([old[-1] ^ 1])))
    assert set(cache.get("model", TEXTS)) == {"one", "three 三", "half \ud800"}


def test_the_vector_of_another_text_is_noticed(cache):
    """As where a damaged index leads to another row: SQLite takes the key from the index."""
    cache.put("model", TEXTS, VECTORS)
    with sqlite3.connect(cache.path) as connection:
        rows = connection.execute("SELECT key, vector FROM vectors ORDER BY key").fetchall()
        swapped = [(vector, key) for (key, _), (_, vector) in zip(rows, rows[::-1], strict=True)]
        connection.executemany("UPDATE vectors SET vector = ? WHERE key = ?", swapped)
    connection.close()
    assert cache.get("model", TEXTS) == {}


SCHEMAS = {
    "other columns": "DROP TABLE vectors; CREATE TABLE vectors (key, vector, third)",
    "one column": "DROP TABLE vectors; CREATE TABLE vectors (key BLOB PRIMARY KEY)",
    "no table": "DROP TABLE vectors; CREATE TABLE other (key)",
    "a view": "DROP TABLE vectors; CREATE VIEW vectors AS SELECT 1 AS key, 2 AS vector",
    "a trigger": "CREATE TRIGGER late AFTER INSERT ON vectors BEGIN SELECT 1; END",
    "text keys": "UPDATE vectors SET key = CAST(hex(key) AS TEXT)",
    "broken text keys": "UPDATE vectors SET key = CAST(key AS TEXT)",
    "text vectors": "UPDATE vectors SET vector = CAST(vector AS TEXT)",
    "numbers": "UPDATE vectors SET vector = 0.5",
    "short keys": "UPDATE vectors SET key = rowid",
}


@pytest.mark.parametrize("change", SCHEMAS.values(), ids=SCHEMAS)
@pytest.mark.parametrize("first", ["get", "put"])
def test_another_schema_or_other_types_cost_time_only(cache, change, first):
    cache.put("model", TEXTS, VECTORS)
    connection = sqlite3.connect(cache.path)
    connection.executescript(change)
    connection.close()
    if first == "get":
        for text, vector in cache.get("model", TEXTS).items():
            np.testing.assert_array_equal(vector, VECTORS[TEXTS.index(text)])
    cache.put("model", TEXTS, VECTORS)
    found = cache.get("model", TEXTS)
    np.testing.assert_array_equal(np.stack([found[text] for text in TEXTS]), VECTORS)


def damage(raw, random):
    """Change a file's bytes as broken disks and killed processes do."""
    raw = bytearray(raw)
    page = 4096
    kind = random.randrange(8)
    if kind == 0:  # bits, in the first pages or anywhere
        for _ in range(random.choice([1, 3, 100])):
            place = random.randrange(random.choice([100, page, len(raw)]))
            raw[place] ^= 1 << random.randrange(8)
    elif kind == 1:
        del raw[random.randrange(len(raw)) :]
    elif kind == 2:
        del raw[random.randrange(len(raw) // page) * page :]
    elif kind in (3, 4, 5):  # pages lost, mixed up, or of another file
        first, second = (random.randrange(len(raw) // page) * page for _ in range(2))
        other = {
            3: bytes(page),
            4: bytes(raw[second : second + page]),
            5: random.randbytes(page),
        }[kind]
        raw[second : second + page], raw[first : first + page] = raw[first : first + page], other
    elif kind == 6:  # a piece
        start = random.randrange(len(raw))
        size = random.randrange(1, 200)
        raw[start : start + size] = random.randbytes(size)
    else:  # what stands in every page: its kind, the number and the places of its cells
        for _ in range(random.randrange(1, 6)):
            place = random.randrange(len(raw) // page) * page + random.randrange(16)
            raw[place] = random.randrange(256)
    return bytes(raw)


def test_whatever_the_damage_vectors_are_right_or_computed_anew(cache, monkeypatch):
    monkeypatch.setattr(module, "_PATIENCE", 0.2)
    random = Random(3)
    numbers = np.random.default_rng(4)
    texts = [f"text {number}" for number in range(40)]
    # Long vectors lie on several pages, short ones beside each other.
    vectors = {
        size: numbers.standard_normal((len(texts), size)).astype(np.float32) for size in (24, 1500)
    }
    for size, own in vectors.items():
        cache.put(f"model {size}", texts, own)
    sound = cache.path.read_bytes()
    kept = 0
    for turn in range(150):
        for file in cache.path.parent.iterdir():
            file.unlink()
        cache.path.write_bytes(damage(sound, random))
        size, own = list(vectors.items())[turn % 2]
        for again in range(2):
            found = cache.get(f"model {size}", texts)
            for text, vector in found.items():
                np.testing.assert_array_equal(vector, own[texts.index(text)])
            kept += len(found)
            if not again:
                cache.put(f"model {size}", texts, own)
    # Not by giving everything up, nor was there nothing to notice.
    assert 150 * 40 < kept < 150 * 2 * 40


@pytest.mark.parametrize("value", [b"", b"1234", b"123456789", "text", 5])
def test_values_that_are_no_vectors(cache, value):
    cache.put("model", TEXTS, VECTORS)
    with sqlite3.connect(cache.path) as connection:
        connection.execute("UPDATE vectors SET vector = ?", (value,))
    connection.close()
    assert cache.get("model", TEXTS) == {}


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
from lm_eval_longbench.semantic.cache import VectorCache
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
from lm_eval_longbench.semantic.cache import VectorCache
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
