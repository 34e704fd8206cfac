"""Converting is one pass, whole or not at all, in one process or many; Pro stands for all."""

import errno
import hashlib
import json
import os
import signal
import sys

import datasets
import pytest
from forking import FORKING
from longbench_pro_facts import SECONDARY_TASKS
from pro_rows import ROW, load, official_rows, write_rows

from lm_eval_longbench.benchmarks.longbench_pro import PRO
from lm_eval_longbench.data import convert
from lm_eval_longbench.data import open as opening
from lm_eval_longbench.errors import DataError

T1_1 = "t1_1"
ROWS = official_rows()


@pytest.fixture
def full_file(tmp_path):
    """A file with the official counts."""
    return write_rows(tmp_path / "full" / "longbench_pro.json", ROWS)


def finished(file):
    """The name of the folder that a file is converted into."""
    return f"{hashlib.sha256(file.read_bytes()).hexdigest()[:16]}-3"


def names(paths):
    return [path.name for path in paths]


def never(*_):
    raise AssertionError("the source was read again")


# Files that are not converted


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"id": 1}', "is not a JSON array"),
        (b"PK\x03\x04", "is not a JSON array"),
        (b"PK\x03\x04\xff\xfe", "is not UTF-8 at byte 4"),
        (b" [ ] ", "holds no questions"),
        (b"[{]", "is not a JSON array: Expecting property name"),
        (json.dumps([ROW]).encode()[:-9], "is not a JSON array: "),
        (json.dumps([ROW, {**ROW, "id": 3}]).encode(), "element 2, has a field 'id'"),
        (json.dumps([ROW, {**ROW, "context": "\ud800"}]).encode(), "element 2, has a field 'con"),
    ],
)
def test_damaged_local_files(folders, tmp_path, content, message):
    file = tmp_path / "mine.json"
    file.write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        load(T1_1, str(file))
    assert str(file) in str(caught.value)
    assert folders() == []


def test_a_file_that_changes_while_it_is_read(folders, tmp_path, monkeypatch):
    file = write_rows(tmp_path / "mine.json", [ROW])
    real = opening.array_items

    def changing(path, progress):
        items = list(real(path, progress))
        write_rows(path, [ROW, ROW])
        return items

    monkeypatch.setattr(opening, "array_items", changing)
    with pytest.raises(DataError, match="was changed while it was read"):
        load(T1_1, str(file))
    assert folders() == []


# The conversion


def test_rows_come_back_unchanged_and_memory_mapped(folders, tmp_path, monkeypatch):
    monkeypatch.setattr(convert, "BATCH_CHARACTERS", 300)
    hard = [
        {**ROW, "id": str(number), "context": "{x} $Q$ \u2028\x00\r\n 🙂 汉字" * number}
        for number in range(40)
    ]
    file = write_rows(tmp_path / "mine.json", hard)
    first = load(T1_1, str(file))
    monkeypatch.setattr(opening, "array_items", never)
    second = load(T1_1, str(file))
    assert list(first.rows) == list(second.rows) == hard
    (folder,) = folders()
    assert (folder / "t1_1.arrow").is_file()


def test_only_a_batch_of_each_task_is_in_memory(cache, tmp_path, monkeypatch):
    """Batches are bound by their texts: early rows are on disk before late ones are read."""
    rows = [
        {**ROW, "id": str(number), "context": "x" * 200_000, "secondary_task": name}
        for number in range(20)
        for name in ("T1.1 Global Cohesive Retrieval", "T1.2 Key-Snippet Retrieval")
    ]
    file = write_rows(tmp_path / "mine.json", rows)
    waiting = []
    real = convert._Writer.flush

    def watched(self):
        waiting.append(sum(len(row["context"]) for row in self._waiting))
        real(self)

    monkeypatch.setattr(convert._Writer, "flush", watched)
    assert len(load(T1_1, str(file)).rows) == 20
    assert waiting == [1_000_000] * 8


@pytest.mark.parametrize("error", [DataError("wrong"), KeyboardInterrupt(), MemoryError()])
def test_an_interrupted_conversion_leaves_nothing(folders, full_file, monkeypatch, error):
    real = opening.array_items

    def interrupted(path, progress):
        for number, item in enumerate(real(path, progress)):
            if number == 700:
                (partial,) = folders()
                assert partial.suffix == ".partial"
                assert len(list(partial.glob("*.arrow"))) == 25
                raise error
            yield item

    monkeypatch.setattr(opening, "array_items", interrupted)
    with pytest.raises(type(error)):
        load(T1_1, str(full_file))
    assert folders() == []
    monkeypatch.setattr(opening, "array_items", real)
    assert len(load(T1_1, str(full_file)).rows) == 60


def test_a_full_disk_is_a_clear_error(folders, full_file, monkeypatch):
    def full(self):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(convert._Writer, "flush", full)
    with pytest.raises(DataError, match=r"No space left on device.*Free some space.*HF_DATASETS"):
        load(T1_1, str(full_file))
    assert folders() == []


def test_a_cache_that_cannot_be_made(tmp_path, monkeypatch, full_file):
    (tmp_path / "cache").write_text("in the way")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))
    with pytest.raises(DataError, match="Cannot write"):
        load(T1_1, str(full_file))


# Several processes. Each says "ready", waits for a word, and then converts.


def load_all_tasks(connection, cache_home, file, words):
    """In another process: load all tasks of a file, and send what came of it."""
    datasets.config.HF_DATASETS_CACHE = cache_home
    read, real = [], opening.array_items

    def watched(path, progress):
        read.append(str(path))
        for number, item in enumerate(real(path, progress)):
            if number == 700 and "stop" in words:
                connection.send("half")
                connection.recv()
            yield item

    opening.array_items = watched
    connection.send("ready")
    connection.recv()
    if "small" in words:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    try:
        ids = [
            PRO.load(task, file).rows["id"][:]
            for task in PRO.tables["longbench_pro"].tasks.values()
        ]
    except DataError as error:
        connection.send(str(error))
    else:
        connection.send({"ids": ids, "read": len(read)})


class Process:
    """One process that loads all tasks of a file."""

    def __init__(self, cache_home, file, *words):
        self._ours, theirs = FORKING.Pipe()
        self._process = FORKING.Process(
            target=load_all_tasks, args=(theirs, str(cache_home), str(file), words)
        )
        self._process.start()
        theirs.close()
        self.wait_for("ready")

    def wait_for(self, word):
        assert self._ours.poll(120)
        assert self._ours.recv() == word

    def go(self):
        self._ours.send("go")

    def kill(self):
        self._process.kill()
        self._process.join(60)
        assert self._process.exitcode == -signal.SIGKILL

    def result(self):
        assert self._ours.poll(120)
        found = self._ours.recv()
        self._process.join(60)
        assert self._process.exitcode == 0
        return found


EXPECTED = [
    [row["id"] for row in ROWS if row["secondary_task"] == name] for name in SECONDARY_TASKS
]


def test_two_processes_at_once_convert_once(cache, folders, tmp_path):
    file = write_rows(tmp_path / "mine.json", official_rows("y" * 3_000))
    processes = [Process(cache, file) for _ in range(2)]
    for process in processes:
        process.go()
    results = [process.result() for process in processes]
    assert [result["ids"] for result in results] == [EXPECTED, EXPECTED]
    assert sorted(result["read"] for result in results) == [0, 1]
    assert names(folders()) == [finished(file)]


def test_a_second_process_waits_for_the_first(cache, folders, full_file):
    first = Process(cache, full_file, "stop")
    first.go()
    first.wait_for("half")
    second = Process(cache, full_file)
    second.go()
    (half,) = folders()
    assert half.suffix == ".partial"
    first.go()
    assert (first.result(), second.result()) == (
        {"ids": EXPECTED, "read": 1},
        {"ids": EXPECTED, "read": 0},
    )


def test_a_killed_process_leaves_no_finished_folder_and_is_swept_up(cache, folders, full_file):
    process = Process(cache, full_file, "stop")
    process.go()
    process.wait_for("half")
    process.kill()
    (left,) = folders()
    assert left.suffix == ".partial"
    assert len(load(T1_1, str(full_file)).rows) == 60
    assert names(folders()) == [finished(full_file)]


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of the system")
def test_a_write_that_the_system_refuses(cache, folders, tmp_path):
    """A limit on the size of files stands in for a full disk: the write itself fails."""
    file = write_rows(tmp_path / "mine.json", official_rows("y" * 10_000))
    process = Process(cache, file, "small")
    process.go()
    said = process.result()
    assert said.startswith("Cannot write ") and "File too large" in said and "HF_DATASETS" in said
    assert folders() == []
