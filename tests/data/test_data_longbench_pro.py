"""LongBench Pro: converted once for all tasks, whole or not at all, from any of its places."""

import errno
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter

import datasets
import huggingface_hub
import pytest
from datasets.arrow_writer import ArrowWriter
from pro_rows import ROW, official_rows, write_rows

from lm_eval_longbench.catalog_pro import BY_CODE, COUNTS, QUESTIONS, SECONDARY_TASKS
from lm_eval_longbench.data import arrow_files, convert_pro, longbench_pro
from lm_eval_longbench.data.counts_pro import add_row, differences, no_counts
from lm_eval_longbench.data.longbench_pro import load
from lm_eval_longbench.data.rows_pro import FIELDS, problem_of
from lm_eval_longbench.data.sources import LONGBENCH_PRO, Source
from lm_eval_longbench.errors import DataError

T1_1 = BY_CODE["t1_1"]
ROWS = official_rows()


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """A datasets cache of this test alone: the folder of Pro in it, and what it holds."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "lm_eval_longbench" / "longbench_pro"


def folders(cache):
    """Names of what is in the cache, lock files aside."""
    if not cache.exists():
        return []
    return sorted(path.name for path in cache.iterdir() if path.suffix != ".lock")


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def full_file(tmp_path):
    """A file with the official counts."""
    return write_rows(tmp_path / "full" / "longbench_pro.json", ROWS)


@pytest.fixture
def hub_file(tmp_path, monkeypatch, own_cache):
    """Pin a made-up file and lay bytes into the hub's cache in its place."""
    hub = tmp_path / "hub"
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(hub))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)

    def put(content, pinned=None):
        digest = hashlib.sha256(pinned or content).hexdigest()
        source = Source(LONGBENCH_PRO.repo, "0123456789" * 4, "longbench_pro.json", digest)
        monkeypatch.setattr(longbench_pro, "LONGBENCH_PRO", source)
        folder = hub / "datasets--caskcsg--LongBench-Pro"
        blob = folder / "blobs" / hashlib.sha256(content).hexdigest()
        pointer = folder / "snapshots" / source.revision / source.file
        for path in (blob, pointer):
            path.parent.mkdir(parents=True, exist_ok=True)
        blob.write_bytes(content)
        pointer.unlink(missing_ok=True)
        pointer.symlink_to(os.path.relpath(blob, pointer.parent))
        return source, blob, pointer

    return put


def never(*_):
    raise AssertionError("the source was read again")


# What is pinned


def test_the_pin_is_the_one_of_the_specification():
    assert LONGBENCH_PRO.label == "caskcsg/LongBench-Pro@4996884"
    assert LONGBENCH_PRO.revision == "4996884deae51f5e5d23c88da9d857fc54e5fa15"
    assert LONGBENCH_PRO.sha256.startswith("92ff05f6088e212d") and len(LONGBENCH_PRO.sha256) == 64


def test_official_counts():
    assert {sum(values.values()) for values in COUNTS.values()} == {QUESTIONS} == {1500}
    assert COUNTS["contextual_requirement"] == {"Full": 840, "Partial": 660}
    assert COUNTS["difficulty"] == {"Easy": 482, "Moderate": 289, "Hard": 289, "Extreme": 440}
    assert set(COUNTS["secondary_task"].values()) == {60} and len(COUNTS["secondary_task"]) == 25
    assert COUNTS["language"] == {"Chinese": 750, "English": 750}
    assert set(COUNTS["token_length"].values()) == {250}
    assert COUNTS["primary_task"]["T6. Aggregation & Clustering"] == 180


def test_the_pinned_file_is_official_and_split_by_task(own_cache, hub_file, caplog):
    content = json.dumps(ROWS).encode()
    source, _, _ = hub_file(content)
    for task in SECONDARY_TASKS.values():
        documents = load(task)
        assert documents.rows[:]["id"] == [
            row["id"] for row in ROWS if row["secondary_task"] == task.name
        ]
        assert set(documents.rows["secondary_task"]) == {task.name}
        assert len(documents.rows) == 60
        assert documents.official
        assert documents.label == "caskcsg/LongBench-Pro@0123456"
        assert documents.sha256 == source.sha256
    assert caplog.records == []
    assert folders(own_cache) == [f"{source.sha256[:16]}-1"]


def test_pinned_and_converted_needs_the_file_no_more(own_cache, hub_file, monkeypatch):
    _, blob, pointer = hub_file(json.dumps(ROWS).encode())
    load(T1_1)
    pointer.unlink()
    blob.unlink()
    monkeypatch.setattr(longbench_pro, "sha256_of", never)
    monkeypatch.setattr(convert_pro, "sha256_of", never)
    monkeypatch.setattr(convert_pro, "array_items", never)
    assert sum(len(load(task).rows) for task in SECONDARY_TASKS.values()) == 1500


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[:-1], "1499 questions instead of 1500"),
        (lambda rows: [*rows, rows[0]], "1501 questions instead of 1500"),
        (lambda rows: [{**rows[0], "difficulty": "Hard"}, *rows[1:]], "'Easy' 481 instead of 482"),
        (
            lambda rows: [{**rows[0], "contextual_requirement": "Partial"}, *rows[1:]],
            "'Full' 839 instead of 840; contextual_requirement 'Partial' 661 instead of 660",
        ),
        (lambda rows: [{**rows[0], "token_length": "16k"}, *rows[1:]], "'8k' 249 instead of 250"),
        (lambda rows: rows[:3], "3 questions instead of 1500.*; and .* more"),
        (lambda rows: [], "0 questions instead of 1500"),
    ],
)
def test_other_counts_than_pinned_are_an_error(own_cache, hub_file, change, message):
    hub_file(json.dumps(change(ROWS)).encode())
    for _ in range(2):
        with pytest.raises(DataError, match=message):
            load(T1_1)
        assert folders(own_cache) == []


def test_a_wrong_hash_removes_the_file_from_the_hub_cache(own_cache, hub_file):
    content = json.dumps(ROWS).encode()
    _, blob, pointer = hub_file(content + b" ", pinned=content)
    with pytest.raises(DataError, match=r"is damaged: sha256 .*run again"):
        load(T1_1)
    assert not blob.exists() and not pointer.is_symlink()
    assert folders(own_cache) == []
    with pytest.raises(DataError, match=r"cannot be downloaded .*longbench_pro\.json"):
        load(T1_1)
    hub_file(content)
    assert load(T1_1).official


@pytest.mark.parametrize("given", ["file", "folder"])
def test_a_local_copy_of_the_pinned_file_is_official(own_cache, full_file, monkeypatch, given):
    pinned = Source(LONGBENCH_PRO.repo, "f" * 40, "longbench_pro.json", sha256(full_file))
    monkeypatch.setattr(longbench_pro, "LONGBENCH_PRO", pinned)
    documents = load(T1_1, str(full_file if given == "file" else full_file.parent))
    assert documents.official
    assert (documents.label, documents.sha256) == (pinned.label, pinned.sha256)


# Local data


def test_local_data_is_marked_and_one_warning_names_what_differs(own_cache, tmp_path, caplog):
    rows = [{**ROWS[0], "difficulty": "Extreme"}, *ROWS[1:]]
    file = write_rows(tmp_path / "mine.json", rows)
    digest = sha256(file)
    for task in SECONDARY_TASKS.values():
        documents = load(task, str(file))
        assert (documents.label, documents.official) == (f"local-{digest[:12]}", False)
        assert documents.sha256 == digest
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    said = record.getMessage()
    assert f"sha256 {digest} instead of {LONGBENCH_PRO.sha256}" in said
    assert "difficulty 'Easy' 481 instead of 482; difficulty 'Extreme' 441 instead of 440." in said
    assert f"'data: local-{digest[:12]}'" in said


def test_local_data_with_official_counts(own_cache, full_file, caplog):
    load(T1_1, str(full_file.parent))
    assert "all counts are the official ones" in caplog.text


def test_a_subset_serves_the_tasks_it_has(own_cache, tmp_path, caplog):
    file = write_rows(tmp_path / "longbench_pro.json", [ROW, {**ROW, "id": "1", "note": 5}])
    documents = load(T1_1, str(tmp_path))
    assert list(documents.rows) == [ROW, {**ROW, "id": "1"}]
    assert tuple(documents.rows.column_names) == FIELDS
    assert "2 questions instead of 1500" in caplog.text
    with pytest.raises(DataError, match=r"holds no questions of 'T11\.2 ") as caught:
        load(BY_CODE["t11_2"], str(tmp_path))
    assert str(file) in str(caught.value)


def test_other_bytes_are_converted_anew(own_cache, tmp_path):
    file = write_rows(tmp_path / "mine.json", [ROW])
    assert len(load(T1_1, str(file)).rows) == 1
    write_rows(file, [ROW, ROW])
    assert len(load(T1_1, str(file)).rows) == 2
    assert len(folders(own_cache)) == 2


def test_a_file_that_changes_while_it_is_read(own_cache, tmp_path, monkeypatch):
    file = write_rows(tmp_path / "mine.json", [ROW])
    real = convert_pro.array_items

    def changing(path, progress):
        items = list(real(path, progress))
        write_rows(path, [ROW, ROW])
        return items

    monkeypatch.setattr(convert_pro, "array_items", changing)
    with pytest.raises(DataError, match="was changed while it was read"):
        load(T1_1, str(file))
    assert folders(own_cache) == []


@pytest.mark.parametrize(
    ("place", "message"),
    [("nothing", "does not exist"), ("empty", r"has no longbench_pro\.json")],
)
def test_nothing_there_names_three_ways(own_cache, tmp_path, place, message):
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=message) as caught:
        load(T1_1, str(tmp_path / place))
    assert all(way in str(caught.value) for way in ("(1)", "(2)", "(3)", "longbench_pro.json"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"id": 1}', "is not a JSON array"),
        (b"PK\x03\x04", "is not a JSON array"),
        (b"PK\x03\x04\xff\xfe", "is not UTF-8 at byte 4"),
        (b"[{]", "element 1, is not JSON"),
        (json.dumps([ROW]).encode()[:-9], "element 1, is cut short"),
        (json.dumps([ROW, {**ROW, "id": 3}]).encode(), "element 2, has a field 'id'"),
    ],
)
def test_damaged_local_files(own_cache, tmp_path, content, message):
    file = tmp_path / "mine.json"
    file.write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        load(T1_1, str(file))
    assert str(file) in str(caught.value)
    assert folders(own_cache) == []


# Rows


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": 5}, "'id' that is not a text"),
        ({"context": None}, "'context' that is not a text"),
        ({"context": "\ud800"}, "'context' that is not a text"),
        ({"question_thinking": ["x"]}, "'question_thinking' that is not a text"),
        ({"answer": "Emma"}, "'answer' that is not a list of texts"),
        ({"answer": ["Emma", 5]}, "'answer' that is not a list of texts"),
        ({"answer": []}, "has no answer"),
        ({"answer": ["", " \n"]}, "has no answer"),
        ({"secondary_task": "T1.3 Other"}, r"unknown secondary_task 'T1\.3 Other'"),
        ({"primary_task": "T2"}, "unknown primary_task 'T2'"),
        ({"primary_task": "T3. Evidence-Grounded QA"}, "which 'T1.1 .*' is not part of"),
        ({"language": "German"}, "unknown language 'German', not one of Chinese, English"),
        ({"token_length": "8K"}, "unknown token_length '8K'"),
        ({"contextual_requirement": "None"}, "unknown contextual_requirement"),
        ({"difficulty": "easy"}, "unknown difficulty 'easy'"),
    ],
)
def test_rows_that_are_not_official(own_cache, tmp_path, change, message):
    file = write_rows(tmp_path / "mine.json", [ROW])
    file.write_text(json.dumps([ROW, {**ROW, **change}]))  # escapes, for half a surrogate pair
    with pytest.raises(DataError, match=f"element 2, .*{message}"):
        load(T1_1, str(file))
    assert folders(own_cache) == []


@pytest.mark.parametrize("name", FIELDS)
def test_rows_that_lack_a_field(name):
    assert problem_of(ROW) is None
    assert problem_of({key: ROW[key] for key in ROW if key != name}) == f"lacks the field {name!r}"
    assert problem_of([ROW]) == "is not a JSON object"


def test_counting():
    counts = no_counts()
    for row in ROWS:
        add_row(counts, row)
    assert differences(counts) == []
    assert counts["token_length"] == Counter(row["token_length"] for row in ROWS)


# The conversion


def test_rows_come_back_unchanged_and_memory_mapped(own_cache, tmp_path, monkeypatch):
    monkeypatch.setattr(arrow_files, "BATCH_CHARACTERS", 300)
    hard = [
        {**ROW, "id": str(number), "context": "{x} $Q$ \u2028\x00\r\n 🙂 汉字" * number}
        for number in range(40)
    ]
    file = write_rows(tmp_path / "mine.json", hard)
    first = load(T1_1, str(file))
    monkeypatch.setattr(convert_pro, "array_items", never)
    second = load(T1_1, str(file))
    assert list(first.rows) == list(second.rows) == hard
    assert isinstance(second.rows.data, datasets.table.MemoryMappedTable)
    (folder,) = folders(own_cache)
    assert second.rows.cache_files == [{"filename": str(own_cache / folder / "t1_1.arrow")}]


def test_only_a_batch_of_each_task_is_in_memory(own_cache, tmp_path, monkeypatch):
    """Batches are bound by their texts: early rows are on disk before late ones are read."""
    rows = [
        {**ROW, "id": str(number), "context": "x" * 200_000, "secondary_task": name}
        for number in range(20)
        for name in ("T1.1 Global Cohesive Retrieval", "T1.2 Key-Snippet Retrieval")
    ]
    file = write_rows(tmp_path / "mine.json", rows)
    waiting = []
    real = ArrowWriter.write

    def watched(self, row, *arguments):
        real(self, row, *arguments)
        waiting.append(sum(len(example["context"]) for example, _ in self.current_examples))

    monkeypatch.setattr(ArrowWriter, "write", watched)
    assert len(load(T1_1, str(file)).rows) == 20
    assert len(waiting) == 40
    assert max(waiting) == 1_000_000


@pytest.mark.parametrize("error", [DataError("wrong"), KeyboardInterrupt(), MemoryError()])
def test_an_interrupted_conversion_leaves_nothing(own_cache, full_file, monkeypatch, error):
    real = convert_pro.array_items

    def interrupted(path, progress):
        for number, item in enumerate(real(path, progress)):
            if number == 700:
                (partial,) = own_cache.glob("*.partial")
                assert len(list(partial.glob("*.arrow"))) == 25
                raise error
            yield item

    monkeypatch.setattr(convert_pro, "array_items", interrupted)
    with pytest.raises(type(error)):
        load(T1_1, str(full_file))
    assert folders(own_cache) == []
    monkeypatch.setattr(convert_pro, "array_items", real)
    assert len(load(T1_1, str(full_file)).rows) == 60


def test_a_full_disk_is_a_clear_error(own_cache, full_file, monkeypatch):
    def full(self):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(ArrowWriter, "write_examples_on_file", full)
    with pytest.raises(DataError, match=r"No space left on device.*Free some space.*HF_DATASETS"):
        load(T1_1, str(full_file))
    assert folders(own_cache) == []


def test_a_cache_that_cannot_be_made(tmp_path, monkeypatch, full_file):
    (tmp_path / "cache").write_text("in the way")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))
    with pytest.raises(DataError, match="Cannot write"):
        load(T1_1, str(full_file))


@pytest.mark.parametrize("name", ["t1_1.arrow", "counts.json"])
@pytest.mark.parametrize("how", ["gone", "empty", "cut"])
def test_a_damaged_cache_says_what_to_remove(own_cache, full_file, name, how):
    load(T1_1, str(full_file))
    (folder,) = folders(own_cache)
    damaged = own_cache / folder / name
    content = damaged.read_bytes()
    damaged.unlink()
    if how != "gone":
        damaged.write_bytes(b"" if how == "empty" else content[: len(content) // 2])
    with pytest.raises(DataError, match=f"{folder} is damaged.*Remove this folder"):
        load(T1_1, str(full_file))
    shutil.rmtree(own_cache / folder)
    assert len(load(T1_1, str(full_file)).rows) == 60


# Several processes. Each says "ready", waits for a line, and then converts.

WORKER = """
import json, sys
from lm_eval_longbench.catalog_pro import SECONDARY_TASKS
from lm_eval_longbench.data import convert_pro
from lm_eval_longbench.data.longbench_pro import load
from lm_eval_longbench.errors import DataError

real, read = convert_pro.array_items, []

def watched(path, progress):
    read.append(str(path))
    for number, item in enumerate(real(path, progress)):
        if number == 700 and "stop" in sys.argv:
            print("half", flush=True)
            sys.stdin.readline()
        yield item

convert_pro.array_items = watched
print("ready", flush=True)
sys.stdin.readline()
if "small" in sys.argv:
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    ids = [load(task, sys.argv[1]).rows["id"][:] for task in SECONDARY_TASKS.values()]
except DataError as error:
    print(json.dumps(str(error)))
else:
    print(json.dumps({"ids": ids, "read": len(read)}))
"""


class Process:
    """One process that loads all tasks of a file."""

    def __init__(self, cache_home, file, *words):
        self._process = subprocess.Popen(
            [sys.executable, "-c", WORKER, str(file), *words],
            env={**os.environ, "HF_DATASETS_CACHE": str(cache_home)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.wait_for("ready")

    def wait_for(self, word):
        assert self._process.stdout.readline() == f"{word}\n"

    def go(self):
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def kill(self):
        self._process.send_signal(signal.SIGKILL)
        self._process.communicate(timeout=60)

    def result(self):
        out, _ = self._process.communicate(timeout=120)
        assert self._process.returncode == 0
        return json.loads(out)


EXPECTED = [
    [row["id"] for row in ROWS if row["secondary_task"] == name] for name in SECONDARY_TASKS
]


def test_two_processes_at_once_convert_once(tmp_path, own_cache):
    file = write_rows(tmp_path / "mine.json", official_rows("y" * 3_000))
    processes = [Process(tmp_path / "cache", file) for _ in range(2)]
    for process in processes:
        process.go()
    results = [process.result() for process in processes]
    assert [result["ids"] for result in results] == [EXPECTED, EXPECTED]
    assert sorted(result["read"] for result in results) == [0, 1]
    assert folders(own_cache) == [f"{sha256(file)[:16]}-1"]


def test_a_second_process_waits_for_the_first(tmp_path, own_cache, full_file):
    first = Process(tmp_path / "cache", full_file, "stop")
    first.go()
    first.wait_for("half")
    second = Process(tmp_path / "cache", full_file)
    second.go()
    (name,) = folders(own_cache)
    assert name.endswith(".partial")
    first.go()
    assert (first.result(), second.result()) == (
        {"ids": EXPECTED, "read": 1},
        {"ids": EXPECTED, "read": 0},
    )


def test_a_killed_process_leaves_no_finished_folder_and_is_swept_up(tmp_path, own_cache, full_file):
    process = Process(tmp_path / "cache", full_file, "stop")
    process.go()
    process.wait_for("half")
    process.kill()
    (left,) = folders(own_cache)
    assert left.endswith(".partial")
    assert len(load(T1_1, str(full_file)).rows) == 60
    assert folders(own_cache) == [f"{sha256(full_file)[:16]}-1"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of the system")
def test_a_write_that_the_system_refuses(tmp_path, own_cache):
    """A limit on the size of files stands in for a full disk: the write itself fails."""
    file = write_rows(tmp_path / "mine.json", official_rows("y" * 10_000))
    process = Process(tmp_path / "cache", file, "small")
    process.go()
    said = process.result()
    assert said.startswith("Cannot write ") and "File too large" in said and "HF_DATASETS" in said
    assert folders(own_cache) == []
