"""A benchmark of one JSON array: from the hub, from a local copy, told apart in results."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pro_rows
import pytest
import v2_rows
from longbench_pro_facts import BY_CODE, SECONDARY_TASKS
from longbench_v2_facts import COUNTS, DOMAINS
from pro_rows import ROW, official_rows, write_rows

from lm_eval_longbench.benchmarks.pro import PRO
from lm_eval_longbench.benchmarks.v2 import V2
from lm_eval_longbench.data import open as opening
from lm_eval_longbench.data.convert import ROWS, write
from lm_eval_longbench.data.open import differences
from lm_eval_longbench.errors import DataError


@dataclass(frozen=True)
class Case:
    """A benchmark, what it is asked for, and rows to ask about."""

    benchmark: Any
    open: Callable
    first: Any
    everything: tuple
    rows: list
    row: dict
    file: str
    arrow: str

    @property
    def name(self):
        return self.benchmark.name

    def load(self, data_dir=None):
        return self.open(self.first, data_dir)


PRO_CASE = Case(
    PRO,
    pro_rows.load,
    "t1_1",
    tuple(BY_CODE),
    official_rows(),
    ROW,
    "longbench_pro.json",
    "t1_1.arrow",
)
V2_CASE = Case(
    V2,
    v2_rows.load,
    None,
    (None, *DOMAINS),
    v2_rows.official_rows(),
    v2_rows.ROW,
    "data.json",
    "questions.arrow",
)


@pytest.fixture(params=[PRO_CASE, V2_CASE], ids=["pro", "v2"])
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
    source, _, _ = hub_file(case.benchmark, json.dumps(case.rows).encode())
    for part in case.everything:
        documents = case.open(part)
        assert documents.official
        assert documents.label == f"{source.repo}@0123456" == source.label
        assert documents.sha256 == source.sha256
    assert caplog.records == []
    assert [folder.name for folder in folders(case.name)] == [f"{source.sha256[:16]}-3"]


def test_pinned_and_converted_needs_the_file_no_more(case, hub_file, monkeypatch):
    _, blob, pointer = hub_file(case.benchmark, json.dumps(case.rows).encode())
    before = [list(case.open(part).rows) for part in case.everything]
    pointer.unlink()
    blob.unlink()
    monkeypatch.setattr(opening, "sha256_of", never)
    monkeypatch.setattr(opening, "array_items", never)
    assert [list(case.open(part).rows) for part in case.everything] == before


def test_a_wrong_hash_removes_the_file_from_the_hub_cache(case, folders, hub_file):
    content = json.dumps(case.rows).encode()
    _, blob, pointer = hub_file(case.benchmark, content + b" ", pinned=content)
    with pytest.raises(DataError, match=r"is damaged: sha256 .*run again"):
        case.load()
    assert not blob.exists() and not pointer.is_symlink()
    assert folders(case.name) == []
    with pytest.raises(DataError, match="cannot be downloaded") as caught:
        case.load()
    assert "--from modelscope" in str(caught.value) or "--from URL" in str(caught.value)
    hub_file(case.benchmark, content)
    assert case.load().official


@pytest.mark.parametrize("given", ["file", "folder"])
def test_a_local_copy_of_the_pinned_file_is_official(case, cache, full_file, pin, caplog, given):
    pinned = pin(case.benchmark, full_file.read_bytes())
    documents = case.load(str(full_file if given == "file" else full_file.parent))
    assert documents.official
    assert (documents.label, documents.sha256) == (pinned.label, pinned.sha256)
    assert caplog.records == []


# Local data


def test_local_data_is_marked_and_one_warning_names_what_differs(case, cache, tmp_path, caplog):
    kinds = list(case.benchmark.counts["difficulty"].items())
    (old, fewer), (new, more) = (kinds[0], kinds[-1])
    changed = next(index for index, row in enumerate(case.rows) if row["difficulty"] == old)
    rows = list(case.rows)
    rows[changed] = {**rows[changed], "difficulty": new}
    file = write_rows(tmp_path / "mine.json", rows)
    digest = sha256(file)
    for part in case.everything:
        documents = case.open(part, str(file))
        assert (documents.label, documents.official) == (f"local-{digest[:12]}", False)
        assert documents.sha256 == digest
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert record.getMessage() == (
        f"data_dir {file} is not the pinned official file: sha256 {digest} instead of "
        f"{case.benchmark.source.sha256}; difficulty {old!r} {fewer - 1} instead of "
        f"{fewer}; difficulty {new!r} {more + 1} instead of {more}. Results are marked "
        f"'data: local-{digest[:12]}'."
    )


@pytest.mark.parametrize("place", ["nothing", "empty"])
def test_nothing_there_names_three_ways(case, cache, tmp_path, place):
    (tmp_path / "empty").mkdir()
    message = "does not exist" if place == "nothing" else f"has no {case.file}"
    with pytest.raises(DataError, match=message) as caught:
        case.load(str(tmp_path / place))
    said = str(caught.value)
    assert all(way in said for way in ("(1)", "(2)", "(3)", "data.json", "longbench_pro.json"))


# The cache


def test_a_changed_cache_without_its_source_is_an_error(case, folders, hub_file, caplog):
    _, blob, pointer = hub_file(case.benchmark, json.dumps(case.rows).encode())
    expected = list(case.load().rows)
    (folder,) = folders(case.name)
    damaged = folder / case.arrow
    content = damaged.read_bytes()
    # Not written over: rows that are mapped into memory must not lose their file.
    damaged.unlink()
    damaged.write_bytes(content.replace(b"Emma", b"Anna"))
    blob.unlink()
    pointer.unlink()
    with pytest.raises(DataError, match="is not in the cache and cannot be downloaded"):
        case.load()
    assert f"The converted data in {folder} was changed or cannot be read" in caplog.text
    hub_file(case.benchmark, json.dumps(case.rows).encode())
    assert list(case.load().rows) == expected
    assert folders(case.name) == [folder]


@pytest.mark.parametrize(
    ("benchmark", "rows"),
    [(PRO, official_rows()), (V2, v2_rows.official_rows())],
    ids=["pro", "v2"],
)
def test_official_rows_have_the_official_counts(benchmark, rows, tmp_path):
    counts = write(tmp_path, benchmark, ["all"], (("all", row) for row in rows))
    assert json.loads((tmp_path / "converted.json").read_bytes())["counts"] == counts
    assert differences(counts, benchmark.counts) == []
    assert counts.pop(ROWS) == {"all": len(rows)}
    for dimension, values in counts.items():
        assert values == Counter(row[dimension] for row in rows)
    sizes = {sum(values.values()) for values in benchmark.counts.values()}
    assert sizes == {len(rows)}


PRO_ROWS = official_rows()


def test_the_pinned_file_is_split_by_task(folders, hub_file):
    hub_file(PRO, json.dumps(PRO_ROWS).encode())
    for task in SECONDARY_TASKS.values():
        documents = pro_rows.load(task.code)
        assert documents.rows["id"] == [
            row["id"] for row in PRO_ROWS if row["secondary_task"] == task.name
        ]
        assert set(documents.rows["secondary_task"]) == {task.name}
        assert len(documents.rows) == 60
    (folder,) = folders()
    assert {path.name for path in folder.iterdir()} == {
        "converted.json",
        *(f"{code}.arrow" for code in BY_CODE),
    }


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
def test_other_counts_of_pro_than_pinned_are_an_error(folders, hub_file, change, message):
    hub_file(PRO, json.dumps(change(PRO_ROWS)).encode())
    for _ in range(2):
        with pytest.raises(DataError, match=message):
            pro_rows.load("t1_1")
        assert folders() == []


V2_ROWS = v2_rows.official_rows()
SIZES = dict(zip(DOMAINS, COUNTS["domain"].values(), strict=True))


@pytest.mark.parametrize("code", DOMAINS)
def test_a_domain_of_the_pinned_file_is_official_and_in_order(hub_file, code):
    source, _, _ = hub_file(V2, json.dumps(V2_ROWS).encode())
    documents = v2_rows.load(code)
    assert list(documents.rows) == [row for row in V2_ROWS if row["domain"] == DOMAINS[code]]
    assert len(documents.rows) == SIZES[code]
    assert documents.official
    assert (documents.label, documents.sha256) == (source.label, source.sha256)
