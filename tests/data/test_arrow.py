"""Converted rows appear whole or not at all, are mapped rather than read, and never damaged."""

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
from types import SimpleNamespace

import datasets
import pro_rows
import pyarrow
import pytest
import v2_rows
from forking import FORKING
from longbench_pro_facts import BY_CODE
from longbench_v2_facts import DOMAINS
from pro_rows import ROW as PRO_ROW
from pro_rows import write_rows
from v1_tasks import BY_FILE, load

from lm_eval_longbench.benchmarks.longbench_v1 import V1
from lm_eval_longbench.data.arrow import (
    CONTEXT_SHA256,
    CachedFolder,
    cache_folder,
    cached,
    is_sound,
    schema_of,
)
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
    assert found.column_names == list(row())
    hashes = [hashlib.sha256(one["context"].encode()).hexdigest() for one in given[:-1]]
    assert stored[CONTEXT_SHA256] == [*hashes, None]
    assert arrows() == ["lm_eval_longbench/longbench_v1/0123456789abcdef-2/qasper/qasper.arrow"]


def test_rows_are_memory_mapped_and_not_converted_again(cache, arrows, row):
    given = rows_of(NUMBER, row())
    first = cached(V1, SHA, "qasper", lambda: given)
    (name,) = arrows()
    before, held = (cache / name).stat(), pyarrow.total_allocated_bytes()
    second = cached(V1, SHA, "qasper", never)
    assert list(second) == list(first)
    assert list(second.without(CONTEXT_SHA256)) == given
    # Mapped from the file: the rows hold none of its bytes in memory.
    assert pyarrow.total_allocated_bytes() == held
    after = (cache / name).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_rows_are_not_all_in_memory_at_once(cache, row):
    """Rows are written in batches: early ones are on disk before late ones are made."""
    sizes = []

    def rows():
        for number in range(400):
            if number % 100 == 99:
                partials = list(cache.rglob("*.partial"))
                sizes.append(
                    sum(file.stat().st_size for path in partials for file in path.iterdir())
                )
            yield row(context="x" * 20_000, _id=str(number))

    assert len(cached(V1, SHA, "qasper", rows)) == 400
    assert sizes == sorted(sizes)
    assert sizes[1] > 2_000_000


@pytest.mark.parametrize("change", ["benchmark", "sha256", "name"])
def test_other_bytes_or_names_get_another_file(cache, arrows, row, change):
    key = {"benchmark": V1, "sha256": SHA, "name": "qasper"}
    cached(**key, rows=lambda: [row()])
    family = SimpleNamespace(family="another", fields=V1.fields, kinds=V1.kinds)
    other = {**key, change: family if change == "benchmark" else "f" + key[change]}
    found = cached(**other, rows=lambda: rows_of(2, row()))
    assert len(found) == 2
    assert len(arrows()) == 2


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


def test_a_full_disk_is_one_error_and_leaves_nothing(cache, arrows, row):
    code = (
        "import datasets, json, resource, sys\n"
        "from lm_eval_longbench.benchmarks.longbench_v1 import V1\n"
        "from lm_eval_longbench.data.arrow import cached\n"
        "from lm_eval_longbench.errors import DataError\n"
        "datasets.config.HF_DATASETS_CACHE = sys.argv[1]\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))\n"
        "try:\n"
        "    cached(V1, sys.argv[2], 'q', lambda: [json.loads(sys.argv[3])] * 500)\n"
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


# ---------------------------------------------------------------------- damage


def flip(file, rng):
    content = bytearray(file.read_bytes())
    for _ in range(rng.choice([1, 1, 1, 5])):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    file.write_bytes(content)


def digits(file, rng):
    """Change digits as somebody would who wants another gold answer."""
    content = bytearray(file.read_bytes())
    places = [place for place, byte in enumerate(content) if chr(byte).isdigit()]
    place = rng.choice(places)
    content[place] = ord("1") if content[place] != ord("1") else ord("2")
    file.write_bytes(content)


def truncate(file, rng):
    os.truncate(file, rng.randrange(file.stat().st_size))


def lengthen(file, rng):
    file.write_bytes(file.read_bytes() + rng.randbytes(rng.randrange(1, 50)))


def zeros(file, rng):
    size = file.stat().st_size
    place = rng.randrange(size)
    content = file.read_bytes()
    # Arrow has zeros of its own; not these.
    content = content[:place] + bytes(min(200, size - place)) + content[place + 200 :]
    file.write_bytes(content if content != file.read_bytes() else bytes(size))


def remove(file, rng):
    file.unlink()


def folder_instead(file, rng):
    file.unlink()
    file.mkdir()


def pipe_instead(file, rng):
    file.unlink()
    os.mkfifo(file)


def cache_of(file):
    return file.parents[file.parts[::-1].index("cache") - 1]


def other_instead(file, rng):
    """Put a sound file of the same name in its place, from other data."""
    others = (cache_of(file).parent / "other").rglob(file.name)
    shutil.copy(rng.choice(sorted(others)), file)


def swap(file, rng):
    """Swap it with another file of the same cache."""
    others = [path for path in sorted(cache_of(file).rglob("*")) if path.is_file() and path != file]
    other = rng.choice([path for path in others if path.read_bytes() != file.read_bytes()])
    mine, theirs = file.read_bytes(), other.read_bytes()
    file.write_bytes(theirs)
    other.write_bytes(mine)


DAMAGES = (
    *(flip, flip, flip, digits, digits, truncate, truncate, lengthen, zeros, remove),
    *(folder_instead, pipe_instead, other_instead, other_instead, swap, swap),
)


class V1Cache:
    """Two datasets of LongBench v1, each with a file and a folder of its own."""

    STEMS = ("qasper", "trec")

    def __init__(self, folder, row, gold):
        self.folder = folder
        folder.mkdir()
        for stem in self.STEMS:
            rows = [row(_id=str(number), dataset=stem, answers=gold) for number in range(5)]
            text = "".join(json.dumps(one) + "\n" for one in rows)
            (folder / f"{stem}.jsonl").write_text(text)

    def load(self):
        documents = [load(BY_FILE[stem], str(self.folder)) for stem in self.STEMS]
        return [(list(one.rows), one.context_sha256) for one in documents]


class ProCache:
    """Three tasks of LongBench Pro."""

    CODES = ("t1_1", "t2_1", "t3_1")

    def __init__(self, folder, row, gold):
        tasks = [BY_CODE[code] for code in self.CODES]
        rows = [
            {**PRO_ROW, "id": f"{number}", "primary_task": task.primary}
            | {"secondary_task": task.name, "answer": gold, "context": f"document {number}"}
            for task in tasks
            for number in range(len(gold[0]) + 1)
        ]
        folder.mkdir()
        self.file = write_rows(folder / "longbench_pro.json", rows)

    def load(self):
        documents = [pro_rows.load(code, str(self.file)) for code in self.CODES]
        return [(list(one.rows), one.context_sha256) for one in documents]


class V2Cache:
    """Questions of LongBench v2, all and of a domain, which reads the counts too."""

    def __init__(self, folder, row, gold):
        rows = [
            {**v2_rows.ROW, "_id": str(number), "question": f"{gold}?"}
            for number in range(len(gold[0]) + 2)
        ]
        folder.mkdir()
        self.file = write_rows(folder / "data.json", rows)
        self.domain = next(code for code, name in DOMAINS.items() if name == rows[0]["domain"])

    def load(self):
        documents = [v2_rows.load(name, str(self.file)) for name in (self.domain, None)]
        return [(list(one.rows), one.context_sha256) for one in documents]


@pytest.mark.parametrize("kind", [V1Cache, ProCache, V2Cache])
def test_no_damage_is_ever_read(kind, tmp_path, monkeypatch, row, caplog):
    """Four seeded damages of each kind: each is seen, and the data is right."""
    seed = f"damage {kind.__name__}"
    rng = random.Random(seed)
    caches = {}
    for name, gold in (("cache", ["17", "x"]), ("other", ["183", "x"])):
        monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / name))
        caches[name] = kind(tmp_path / f"{name} source", row, gold)
        caches[name].load()
    place, whole = tmp_path / "cache", tmp_path / "whole"
    shutil.copytree(place, whole)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(place))
    expected = caches["cache"].load()
    assert expected != caches["other"].load()
    shutil.rmtree(place)
    for number in range(4 * len(DAMAGES)):
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(whole, place)
        if number % 2:  # this process has seen the sound files, and mapped them
            assert caches["cache"].load() == expected
        files = [path for path in sorted(place.rglob("*")) if path.suffix in (".arrow", ".json")]
        file, damage = rng.choice(files), DAMAGES[number // 4]
        said = f"{seed}, number {number}: {damage.__name__} of {file.name}"
        caplog.clear()
        damage(file, rng)
        assert caches["cache"].load() == expected, said
        warnings = [one for one in caplog.records if "was damaged (" in one.getMessage()]
        assert warnings, said
        assert caches["cache"].load() == expected, said


def test_a_folder_of_another_source_is_not_taken(cache, row):
    """As if two hashes began with the same digits."""
    other = SHA[:16] + "f" * 48
    cached(V1, other, "qasper", lambda: [row(_id="other")])
    found = cached(V1, SHA, "qasper", lambda: [row(_id="own")])
    assert found["_id"][:] == ["own"]


def test_files_of_an_earlier_format_are_left_alone(cache, row):
    old = cache / "lm_eval_longbench" / "longbench_v1" / f"{SHA[:16]}-1" / "qasper.arrow"
    old.parent.mkdir(parents=True)
    old.write_bytes(b"of an earlier release")
    assert len(cached(V1, SHA, "qasper", lambda: [row()])) == 1
    assert old.read_bytes() == b"of an earlier release"


def test_a_sound_cache_that_cannot_be_written_is_read(cache, row, monkeypatch):
    cached(V1, SHA, "qasper", lambda: [row()])

    def refused(*_):
        raise PermissionError("read only")

    monkeypatch.setattr("lm_eval_longbench.data.arrow.FileLock", refused)
    assert len(cached(V1, SHA, "qasper", never)) == 1
    folder = cache_folder("longbench_v1", SHA) / "qasper"
    flip(folder / "qasper.arrow", random.Random(1))
    with pytest.raises(
        DataError, match=r"to mend it, for it is damaged \(qasper.arrow has another"
    ):
        cached(V1, SHA, "qasper", lambda: [row()])


def test_a_disk_that_returns_other_bytes_is_an_error(cache, row, monkeypatch):
    real = CachedFolder._replace

    def failing(self, reason):
        real(self, reason)
        flip(self.folder / "qasper.arrow", random.Random(1))

    monkeypatch.setattr(CachedFolder, "_replace", failing)
    with pytest.raises(DataError, match="is not as it was written a moment ago"):
        cached(V1, SHA, "qasper", lambda: [row()])


def test_a_folder_is_sound_if_all_its_files_are(cache, row):
    folder = cache_folder("longbench_v1", SHA) / "qasper"
    assert not is_sound(folder, SHA)
    cached(V1, SHA, "qasper", lambda: [row()])
    assert is_sound(folder, SHA)
    assert not is_sound(folder, "f" * 64)
    flip(folder / "qasper.arrow", random.Random(1))
    assert not is_sound(folder, SHA)


def mend_and_report(cache, start, counter, row, queue):
    found = convert(cache, start, counter, row)
    queue.put(found["_id"][:])


def test_processes_that_meet_a_damaged_file_mend_it_once(cache, arrows, row):
    cached(V1, SHA, "qasper", lambda: rows_of(NUMBER, row()))
    (name,) = arrows()
    digits(cache / name, random.Random(1))
    start, counter, queue = FORKING.Barrier(3), FORKING.Value("i", 0), FORKING.Queue()
    arguments = (str(cache), start, counter, row(), queue)
    processes = [FORKING.Process(target=mend_and_report, args=arguments) for _ in range(3)]
    for process in processes:
        process.start()
    results = [queue.get(timeout=120) for _ in processes]
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert results == [[str(number) for number in range(NUMBER)]] * 3
    assert counter.value == 1
    assert arrows() == [name]
