"""Converted rows appear whole or not at all, are mapped rather than read, and never damaged."""

import gc
import hashlib
import os

import datasets
import pyarrow
import pytest
from converting import cached
from forking import FORKING
from pro_rows import ROW, load, write_rows

from lm_eval_longbench.benchmarks.v1 import V1
from lm_eval_longbench.data.convert import CONTEXT_SHA256, cache_folder, is_whole, schema_of
from lm_eval_longbench.errors import DataError

SHA = "0123456789abcdef" * 4
NUMBER = 120  # more than two batches of 50


def rows_of(number, row):
    return [{**row, "_id": str(index)} for index in range(number)]


def never():
    raise AssertionError("the rows were asked for again")


def test_rows_come_back_with_the_official_schema(cache, arrows, row):
    given = [
        row(),
        row(all_classes=["a", "b"], answers=[], input="", length=-1),
        row(context="{input} {{x}} $Q$ \u2028\x00\r\n 🙂 汉字", all_classes=[]),
    ]
    given.append(row(context=""))
    stored = cached(V1, SHA, "qasper", lambda: given)
    found = stored.without(CONTEXT_SHA256)
    assert list(found) == given
    assert found.schema == schema_of(V1)
    assert found.schema.names == list(row())
    hashes = [hashlib.sha256(one["context"].encode()).hexdigest() for one in given[:-1]]
    assert stored[CONTEXT_SHA256] == [*hashes, None]
    assert arrows() == ["lm_eval_longbench/longbench_v1/0123456789abcdef-3/qasper/qasper.arrow"]


def test_rows_are_memory_mapped_and_not_converted_again(cache, arrows, row):
    given = rows_of(NUMBER, row())
    first = cached(V1, SHA, "qasper", lambda: given)
    (name,) = arrows()
    before = (cache / name).stat()
    gc.collect()  # what other tests left, so that it is not freed in between
    held = pyarrow.total_allocated_bytes()
    second = cached(V1, SHA, "qasper", never)
    assert list(second) == list(first)
    assert list(second.without(CONTEXT_SHA256)) == given
    # Mapped from the file: the rows hold none of its bytes in memory.
    assert pyarrow.total_allocated_bytes() <= held
    after = (cache / name).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize("error", [DataError("line 3 is wrong"), KeyboardInterrupt()])
@pytest.mark.parametrize("after", [0, 1, NUMBER])
def test_rows_that_break_off_leave_nothing(cache, arrows, row, error, after):
    def breaking():
        yield from rows_of(after, row())
        raise error

    with pytest.raises(type(error)) as caught:
        cached(V1, SHA, "qasper", breaking)
    assert caught.value is error
    assert arrows() == []
    # The next run starts afresh.
    whole = cached(V1, SHA, "qasper", lambda: rows_of(NUMBER, row()))
    assert len(whole) == NUMBER


def test_a_cache_that_cannot_be_written(cache, row):
    cache.write_text("a file where the cache folder should be")
    with pytest.raises(DataError, match="HF_DATASETS_CACHE") as caught:
        cached(V1, SHA, "qasper", lambda: [row()])
    assert str(cache) in str(caught.value)
    assert cache.read_text() == "a file where the cache folder should be"


def test_rows_that_cannot_be_mapped(cache, row, monkeypatch):
    cached(V1, SHA, "qasper", lambda: [row()])
    monkeypatch.setattr("mmap.mmap", lambda *given, **more: os.stat("no such device"))
    with pytest.raises(DataError, match="no such device"):
        cached(V1, SHA, "qasper", never)


def convert_and_die(cache, row):
    datasets.config.HF_DATASETS_CACHE = cache

    def rows():
        yield from [row] * 120
        os._exit(9)

    cached(V1, SHA, "qasper", rows)


def test_a_process_that_dies_midway_leaves_no_finished_file(cache, arrows, row):
    process = FORKING.Process(target=convert_and_die, args=(str(cache), row()))
    process.start()
    process.join(120)
    assert process.exitcode == 9
    (left,) = arrows()
    assert left.split("/")[-2].endswith(".partial")
    whole = cached(V1, SHA, "qasper", lambda: rows_of(NUMBER, row()))
    assert whole["_id"][:] == [str(number) for number in range(NUMBER)]


def convert(cache, start, counter, row):
    """In another process: convert the file, and count who was asked for the rows."""
    datasets.config.HF_DATASETS_CACHE = cache

    def rows():
        with counter.get_lock():
            counter.value += 1
        yield from rows_of(NUMBER, row)

    start.wait(60)
    return cached(V1, SHA, "qasper", rows)


def convert_and_report(cache, start, counter, row, queue):
    found = convert(cache, start, counter, row)
    queue.put((os.getpid(), found["_id"][:]))


def test_two_processes_at_once_both_get_all_rows(cache, arrows, row):
    start, counter, queue = FORKING.Barrier(2), FORKING.Value("i", 0), FORKING.Queue()
    arguments = (str(cache), start, counter, row(), queue)
    both = [FORKING.Process(target=convert_and_report, args=arguments) for _ in range(2)]
    for process in both:
        process.start()
    results = [queue.get(timeout=120) for _ in both]
    for process in both:
        process.join(60)
    assert [process.exitcode for process in both] == [0, 0]
    assert len({pid for pid, _ in results}) == 2
    assert [ids for _, ids in results] == [[str(number) for number in range(NUMBER)]] * 2
    assert counter.value == 1
    assert len(arrows()) == 1


# ---------------------------------------------------------------------- changed files


def other_gold(file):
    content = file.read_bytes()
    file.write_bytes(content.replace(b"Emma", b"Anna"))
    return len(content) == file.stat().st_size


def cut_off(file):
    os.truncate(file, file.stat().st_size // 2)
    return True


def gone(file):
    file.unlink()
    return True


@pytest.mark.parametrize("change", [other_gold, cut_off, gone])
@pytest.mark.parametrize("name", ["qasper.arrow", "converted.json"])
def test_what_is_not_as_it_was_written_is_made_anew(cache, row, caplog, change, name):
    """A gold answer that somebody changed in the cache never counts."""
    cached(V1, SHA, "qasper", lambda: [row()])
    folder = cache_folder(V1, SHA, "qasper")
    assert is_whole(folder)
    assert change(folder / name)
    assert is_whole(folder) == (change is other_gold and name == "converted.json")
    found = cached(V1, SHA, "qasper", lambda: [row()])
    assert list(found.without(CONTEXT_SHA256)) == [row()]
    assert is_whole(folder)
    if not (change is other_gold and name == "converted.json"):
        assert f"The converted data in {folder} was changed or cannot be read" in caplog.text


def test_a_changed_answer_of_an_array_is_read_from_its_source_again(cache, tmp_path):
    file = write_rows(tmp_path / "mine.json", [ROW])
    assert load("t1_1", str(file)).rows[0]["answer"] == ROW["answer"]
    (arrow,) = cache.rglob("t1_1.arrow")
    assert other_gold(arrow)
    assert load("t1_1", str(file)).rows[0]["answer"] == ROW["answer"]
