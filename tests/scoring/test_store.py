"""Scored samples on disk."""

import random
import subprocess
import sys

import pytest

from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.scoring.store import Row
from lm_eval_longbench.scoring.store import open_store


def row(number, **more):
    own = Row(0, 1, number, b"q", 0, 1, 0, number + 1, b"gold", 0.5, 0, None, 0, '{"a": 1}')
    return own._replace(**more)


@pytest.fixture(params=["disk", "memory"])
def store(request, tmp_path):
    with open_store(tmp_path if request.param == "disk" else None) as opened:
        yield opened


def test_rows_come_back_in_the_order_of_their_keys(store):
    rows = [row(number) for number in range(3000)]
    rows += [row(5, id=b"\xed\xa0\x80\x00"), row(5, id=b"a"), row(5, run=3), row(5, repeat=2)]
    mixed = random.Random(1).sample(rows, len(rows))
    store.add(mixed[:1000])
    store.add(mixed[1000:])
    assert list(store.rows()) == sorted(rows)


def test_values_come_back_as_they_are(store):
    one = row(0, score=None, failed=1, truncated=1, shown='{"x": "\\ud800"}')
    two = row(1, score=1 / 3, failed=0, truncated=0, gold=b"\0\xff")
    store.add([two, one])
    assert list(store.rows()) == [one, two]
    assert list(store.rows()) == [one, two]


def test_summaries_come_in_batches_and_can_be_changed_between_them(store):
    rows = [row(number, score=None) for number in range(10)]
    texts = [(own, False, f"text {own.place} \ud800", ["ref", "参考"]) for own in rows[::2]]
    store.add(rows, texts)
    sizes = []
    for batch in store.summaries(2):
        sizes.append(len(batch))
        for own, other, text, references in batch:
            assert not other
            assert text == f"text {own.place} \ud800"
            assert references == ["ref", "参考"]
        store.change([own._replace(score=1.0, failed=1, shown="{}") for own, *_ in batch])
    assert sizes == [2, 2, 1]
    assert [own.score for own in store.rows()] == [1.0, None] * 5
    assert [own.shown for own in store.rows()] == ["{}", '{"a": 1}'] * 5


def test_nothing_is_left_in_the_folder(tmp_path):
    with open_store(tmp_path / "new" / "deeper") as store:
        store.add([row(0)])
        assert list((tmp_path / "new" / "deeper").iterdir())
    assert list((tmp_path / "new" / "deeper").iterdir()) == []
    with pytest.raises(KeyboardInterrupt), open_store(tmp_path) as store:
        store.add([row(0)])
        raise KeyboardInterrupt
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new"]


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(LongBenchError, match="cannot be written") as caught:
        open_store(tmp_path / "out").__enter__()
    assert str(tmp_path / "out") in str(caught.value)


FULL = """
import resource, sys
from pathlib import Path
from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.offline.scored import Row
from lm_eval_longbench.offline.store import open_store

# No file may grow beyond a megabyte from here on, as if the disk were full.
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
shown = '"' + "x" * 1000 + '"'
try:
    with open_store(Path(sys.argv[1])) as store:
        for start in range(0, 200_000, 1000):
            rows = range(start, start + 1000)
            store.add(
                Row(0, 0, n, b"q", 0, 1, 0, n, b"gold", 0.5, 0, None, 0, shown) for n in rows
            )
except LongBenchError as error:
    sys.stdout.write(str(error))
"""


def test_a_full_disk_is_named_and_leaves_nothing(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(f"{tmp_path}, where scored samples are sorted, cannot be used:")
    assert "Free some space" in done.stdout
    assert list(tmp_path.iterdir()) == []
