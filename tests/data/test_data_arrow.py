"""Converted rows appear whole or not at all, and are mapped rather than read."""

import json
import multiprocessing
import os
import subprocess
import sys

import datasets
import pytest

from lm_eval_longbench.data.arrow import V1_FEATURES, cached
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
    found = cached("b", SHA, "qasper", V1_FEATURES, lambda: given)
    assert list(found) == given
    assert found.features == V1_FEATURES
    assert list(found.features) == list(row())
    assert arrows() == ["lm_eval_longbench/b/0123456789abcdef-1/qasper.arrow"]


def test_rows_are_memory_mapped_and_not_converted_again(cache, arrows, row):
    given = rows_of(NUMBER, row())
    first = cached("b", SHA, "qasper", V1_FEATURES, lambda: given)
    (name,) = arrows()
    before = (cache / name).stat()
    second = cached("b", SHA, "qasper", V1_FEATURES, never)
    assert list(second) == list(first) == given
    after = (cache / name).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert second.cache_files == [{"filename": str(cache / name)}]
    # Mapped from the file: the table holds none of its bytes in memory.
    assert isinstance(second.data, datasets.table.MemoryMappedTable)


def test_rows_are_not_all_in_memory_at_once(cache, row):
    """Rows are written in batches: early ones are on disk before late ones are made."""
    sizes = []

    def rows():
        for number in range(400):
            if number % 100 == 99:
                partials = list(cache.rglob("*.partial"))
                sizes.append(sum(path.stat().st_size for path in partials))
            yield row(context="x" * 10_000, _id=str(number))

    assert len(cached("b", SHA, "qasper", V1_FEATURES, rows)) == 400
    assert sizes == sorted(sizes)
    assert sizes[1] > 500_000


@pytest.mark.parametrize("change", ["benchmark", "sha256", "name"])
def test_other_bytes_or_names_get_another_file(cache, arrows, row, change):
    key = {"benchmark": "b", "sha256": SHA, "name": "qasper"}
    cached(**key, features=V1_FEATURES, rows=lambda: [row()])
    other = {**key, change: "f" + key[change]}
    found = cached(**other, features=V1_FEATURES, rows=lambda: rows_of(2, row()))
    assert len(found) == 2
    assert len(arrows()) == 2


@pytest.mark.parametrize("error", [DataError("line 3 is wrong"), KeyboardInterrupt()])
@pytest.mark.parametrize("after", [0, 1, NUMBER])
def test_rows_that_break_off_leave_nothing(cache, arrows, row, error, after):
    def breaking():
        yield from rows_of(after, row())
        raise error

    with pytest.raises(type(error)) as caught:
        cached("b", SHA, "qasper", V1_FEATURES, breaking)
    assert caught.value is error
    assert arrows() == []
    # The next run starts afresh.
    whole = cached("b", SHA, "qasper", V1_FEATURES, lambda: rows_of(NUMBER, row()))
    assert len(whole) == NUMBER


def test_a_cache_that_cannot_be_written(cache, row):
    cache.write_text("a file where the cache folder should be")
    with pytest.raises(DataError, match="HF_DATASETS_CACHE") as caught:
        cached("b", SHA, "qasper", V1_FEATURES, lambda: [row()])
    assert str(cache) in str(caught.value)
    assert cache.read_text() == "a file where the cache folder should be"


def test_a_process_that_dies_midway_leaves_no_finished_file(cache, arrows, row):
    code = (
        "import datasets, json, os, sys\n"
        "from lm_eval_longbench.data.arrow import V1_FEATURES, cached\n"
        "datasets.config.HF_DATASETS_CACHE = sys.argv[1]\n"
        "def rows():\n"
        "    yield from [json.loads(sys.argv[3])] * 120\n"
        "    os._exit(9)\n"
        "cached('b', sys.argv[2], 'qasper', V1_FEATURES, rows)\n"
    )
    command = [sys.executable, "-c", code, str(cache), SHA, json.dumps(row())]
    assert subprocess.run(command, timeout=120, check=False).returncode == 9
    (left,) = arrows()
    assert left.endswith(".partial")
    whole = cached("b", SHA, "qasper", V1_FEATURES, lambda: rows_of(NUMBER, row()))
    assert whole["_id"][:] == [str(number) for number in range(NUMBER)]


def test_a_full_disk_is_one_error_and_leaves_nothing(cache, arrows, row):
    code = (
        "import datasets, json, resource, sys\n"
        "from lm_eval_longbench.data.arrow import V1_FEATURES, cached\n"
        "from lm_eval_longbench.errors import DataError\n"
        "datasets.config.HF_DATASETS_CACHE = sys.argv[1]\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))\n"
        "try:\n"
        "    cached('b', sys.argv[2], 'q', V1_FEATURES, lambda: [json.loads(sys.argv[3])] * 500)\n"
        "except DataError as error:\n"
        "    sys.stdout.write(str(error))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(cache), SHA, json.dumps(row())],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.startswith(f"Cannot write {cache}")
    assert "Free some space" in done.stdout
    assert "HF_DATASETS_CACHE" in done.stdout
    assert arrows() == []


def convert(cache, start, counter, row):
    """In another process: convert the file, and count who was asked for the rows."""
    datasets.config.HF_DATASETS_CACHE = cache

    def rows():
        with counter.get_lock():
            counter.value += 1
        yield from rows_of(NUMBER, row)

    start.wait(60)
    return cached("b", SHA, "qasper", V1_FEATURES, rows)


def convert_and_report(cache, start, counter, row, queue):
    found = convert(cache, start, counter, row)
    queue.put((os.getpid(), found["_id"][:]))


def test_two_processes_at_once_both_get_all_rows(cache, arrows, row):
    spawn = multiprocessing.get_context("spawn")
    start, counter, queue = spawn.Barrier(2), spawn.Value("i", 0), spawn.Queue()
    arguments = (str(cache), start, counter, row(), queue)
    both = [spawn.Process(target=convert_and_report, args=arguments) for _ in range(2)]
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
