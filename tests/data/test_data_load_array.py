"""Both benchmarks of one JSON array: from the hub, from a local copy, told apart in results."""

import hashlib
import json
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest
import v2_rows
from pro_rows import ROW, official_rows, write_rows

from lm_eval_longbench.benchmarks.longbench_pro import BY_CODE, SECONDARY_TASKS
from lm_eval_longbench.benchmarks.longbench_v2 import DOMAINS
from lm_eval_longbench.data import (
    load_array as convert_array,
    load_array,
    longbench_pro,
    longbench_v2,
)
from lm_eval_longbench.data.hub import THREE_WAYS
from lm_eval_longbench.errors import DataError


@dataclass(frozen=True)
class Case:
    """A benchmark, what it is asked for, and rows to ask about."""

    module: ModuleType
    first: Any
    everything: tuple
    rows: list
    row: dict
    file: str
    arrow: str

    @property
    def name(self):
        return self.module.BENCHMARK.name

    def load(self, data_dir=None):
        return self.module.load(self.first, data_dir)


PRO = Case(
    longbench_pro,
    BY_CODE["t1_1"],
    tuple(SECONDARY_TASKS.values()),
    official_rows(),
    ROW,
    "longbench_pro.json",
    "t1_1.arrow",
)
V2 = Case(
    longbench_v2,
    None,
    (None, *DOMAINS),
    v2_rows.official_rows(),
    v2_rows.ROW,
    "data.json",
    "questions.arrow",
)


@pytest.fixture(params=[PRO, V2], ids=["pro", "v2"])
def case(request):
    return request.param


@pytest.fixture
def full_file(case, tmp_path):
    """A file with the official counts."""
    return write_rows(tmp_path / "full" / case.file, case.rows)


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def never(*_):
    raise AssertionError("the source was read again")


# What is pinned


def test_the_pinned_file_is_official(case, folders, hub_file, caplog):
    source, _, _ = hub_file(case.module, json.dumps(case.rows).encode())
    for part in case.everything:
        documents = case.module.load(part)
        assert documents.official
        assert documents.label == f"{source.repo}@0123456" == source.label
        assert documents.sha256 == source.sha256
    assert caplog.records == []
    assert [folder.name for folder in folders(case.name)] == [f"{source.sha256[:16]}-2"]


def test_pinned_and_converted_needs_the_file_no_more(case, hub_file, monkeypatch):
    _, blob, pointer = hub_file(case.module, json.dumps(case.rows).encode())
    before = [list(case.module.load(part).rows) for part in case.everything]
    pointer.unlink()
    blob.unlink()
    monkeypatch.setattr(convert_array, "sha256_of", never)
    monkeypatch.setattr(convert_array, "array_items", never)
    assert [list(case.module.load(part).rows) for part in case.everything] == before


def test_a_wrong_hash_removes_the_file_from_the_hub_cache(case, folders, hub_file):
    content = json.dumps(case.rows).encode()
    _, blob, pointer = hub_file(case.module, content + b" ", pinned=content)
    with pytest.raises(DataError, match=r"is damaged: sha256 .*run again"):
        case.load()
    assert not blob.exists() and not pointer.is_symlink()
    assert folders(case.name) == []
    with pytest.raises(DataError, match="cannot be downloaded") as caught:
        case.load()
    assert THREE_WAYS in str(caught.value)
    hub_file(case.module, content)
    assert case.load().official


@pytest.mark.parametrize("given", ["file", "folder"])
def test_a_local_copy_of_the_pinned_file_is_official(case, cache, full_file, pin, caplog, given):
    pinned = pin(case.module, full_file.read_bytes())
    documents = case.load(str(full_file if given == "file" else full_file.parent))
    assert documents.official
    assert (documents.label, documents.sha256) == (pinned.label, pinned.sha256)
    assert caplog.records == []


# Local data


def test_local_data_is_marked_and_one_warning_names_what_differs(case, cache, tmp_path, caplog):
    kinds = list(case.module.BENCHMARK.counts["difficulty"].items())
    (old, fewer), (new, more) = (kinds[0], kinds[-1])
    changed = next(index for index, row in enumerate(case.rows) if row["difficulty"] == old)
    rows = list(case.rows)
    rows[changed] = {**rows[changed], "difficulty": new}
    file = write_rows(tmp_path / "mine.json", rows)
    digest = sha256(file)
    for part in case.everything:
        documents = case.module.load(part, str(file))
        assert (documents.label, documents.official) == (f"local-{digest[:12]}", False)
        assert documents.sha256 == digest
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert record.getMessage() == (
        f"data_dir {file} is not the pinned official file: sha256 {digest} instead of "
        f"{case.module.BENCHMARK.source.sha256}; difficulty {old!r} {fewer - 1} instead of "
        f"{fewer}; difficulty {new!r} {more + 1} instead of {more}. Results are marked "
        f"'data: local-{digest[:12]}'."
    )


def test_local_data_with_official_counts(case, cache, full_file, caplog):
    case.load(str(full_file.parent))
    assert "all counts are the official ones. Results" in caplog.text


def test_a_small_subset_names_some_of_the_counts(case, cache, tmp_path, caplog):
    case.load(str(write_rows(tmp_path / "mine.json", [case.row])))
    questions = len(case.rows)
    assert f"; 1 questions instead of {questions}; " in caplog.text
    assert "more. Results are marked" in caplog.text


def test_extra_fields_are_dropped(case, cache, tmp_path):
    write_rows(tmp_path / case.file, [case.row, {**case.row, "note": 5}])
    documents = case.load(str(tmp_path))
    assert list(documents.rows) == [case.row, case.row]
    assert tuple(documents.rows.column_names) == tuple(case.row)


def test_other_bytes_are_converted_anew(case, folders, tmp_path):
    file = write_rows(tmp_path / "mine.json", [case.row])
    assert len(case.load(str(file)).rows) == 1
    write_rows(file, [case.row, case.row])
    assert len(case.load(str(file)).rows) == 2
    assert len(folders(case.name)) == 2


def test_the_home_folder_may_be_a_tilde(case, cache, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    write_rows(tmp_path / "copy" / case.file, [case.row])
    assert len(case.load("~/copy").rows) == 1


@pytest.mark.parametrize("place", ["nothing", "empty"])
def test_nothing_there_names_three_ways(case, cache, tmp_path, place):
    (tmp_path / "empty").mkdir()
    message = "does not exist" if place == "nothing" else f"has no {case.file}"
    with pytest.raises(DataError, match=message) as caught:
        case.load(str(tmp_path / place))
    said = str(caught.value)
    assert all(way in said for way in ("(1)", "(2)", "(3)", "data.json", "longbench_pro.json"))


def test_a_file_that_cannot_be_read(case, cache, full_file, monkeypatch):
    def refused(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(load_array, "sha256_of", refused)
    with pytest.raises(DataError, match=r"\.json cannot be read: .*Permission denied"):
        case.load(str(full_file))


def test_the_file_of_the_other_benchmark(case, cache, tmp_path):
    other = V2 if case is PRO else PRO
    file = write_rows(tmp_path / "mine.json", other.rows[:3])
    with pytest.raises(DataError, match=f"element 1, lacks the field '{next(iter(case.row))}'"):
        case.load(str(file))


# The cache


@pytest.mark.parametrize("what", ["the rows", "the counts", "the manifest"])
@pytest.mark.parametrize("how", ["gone", "empty", "cut"])
def test_a_damaged_cache_is_made_anew_or_is_an_error(
    case, folders, hub_file, monkeypatch, caplog, what, how
):
    _, blob, pointer = hub_file(case.module, json.dumps(case.rows).encode())
    expected = list(case.load().rows)
    (folder,) = folders(case.name)
    names = {"the rows": case.arrow, "the counts": "counts.json", "the manifest": "manifest.json"}
    damaged = folder / names[what]
    content = damaged.read_bytes()

    def damage():
        # Not written over: rows that are mapped into memory must not lose their file.
        damaged.unlink()
        if how != "gone":
            damaged.write_bytes(b"" if how == "empty" else content[: len(content) // 2])

    def opened():
        data = load_array.open_array(case.module.BENCHMARK, None)
        assert data.counts() == case.module.BENCHMARK.counts
        return list(case.load().rows)

    damage()
    assert opened() == expected
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert f"The converted data in {folder} was damaged (" in record.getMessage()
    assert "It was not used, but made anew from its source." in record.getMessage()
    assert folders(case.name) == [folder]

    content = damaged.read_bytes()
    damage()
    blob.unlink()
    pointer.unlink()
    with pytest.raises(DataError, match=r"is damaged .* and was not used") as caught:
        opened()
    assert str(folder) in str(caught.value)
    assert THREE_WAYS in str(caught.value)
    assert folders(case.name) == [folder]


def test_each_row_knows_its_document(case, cache, tmp_path):
    rows = [{**case.row, "context": text} for text in ("one", "two", "one", "")]
    file = write_rows(tmp_path / "mine.json", rows)
    hashes = [hashlib.sha256(text.encode()).hexdigest() for text in ("one", "two", "one")]
    documents = case.load(str(file))
    assert documents.context_sha256 == [*hashes, None]
    assert documents.select([2, 3]).context_sha256 == [hashes[0], None]
