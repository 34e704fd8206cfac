"""The data that the tasks of a run read."""

import hashlib
import json
import shutil

import pytest
from v1_tasks import BY_FILE, TASKS, load

from lm_eval_longbench.benchmarks.base import SAMPLES, Source
from lm_eval_longbench.benchmarks.longbench_v1 import V1
from lm_eval_longbench.benchmarks.registry import families
from lm_eval_longbench.data.arrow import CachedFolder, cache_folder, cached
from lm_eval_longbench.doctor.data import (
    CONVERTED,
    DAMAGED,
    DOWNLOADED,
    MISSING,
    Stored,
    WantedData,
    absent_line,
    general_lines,
    look,
    stored,
)
from lm_eval_longbench.doctor.line import ERROR, OK, WARNING

# -------------------------------------------------- Where official data is, without a download


@pytest.fixture
def pinned(hub_file, monkeypatch):
    """Pin bytes of our own, and put others into the hub's cache: pinned("v2", b"...", b"...")."""

    def pin(benchmark, wanted, content):
        digest = hashlib.sha256(wanted).hexdigest()
        source = Source("owner/name", "a" * 40, "data.json", digest)
        for one in families()[benchmark]:
            monkeypatch.setattr(one, "source", source)
        return hub_file(source.repo, source.file, content, source.revision, "datasets")

    return pin


@pytest.mark.parametrize("benchmark", families())
def test_nothing_is_here(empty_caches, benchmark):
    assert stored(benchmark).state == MISSING


def test_the_pinned_file_is_in_the_hub_cache(pinned):
    file = pinned("v2", b"the data", b"the data")
    found = stored("v2")
    assert (found.state, found.place) == (DOWNLOADED, file)


def test_other_bytes_are_damaged_and_stay(pinned):
    file = pinned("pro", b"the data", b"other data")
    found = stored("pro")
    assert found.state == DAMAGED
    assert found.sha256 == hashlib.sha256(b"other data").hexdigest()
    assert file.is_file()


def test_another_revision_is_not_the_pinned_one(hub_file):
    source = families()["v2"][0].source
    hub_file(source.repo, source.file, b"x", "b" * 40, "datasets")
    assert stored("v2").state == MISSING


def test_what_is_converted_needs_no_download(empty_caches):
    def fill(folder):
        (folder / "counts.json").write_text("{}")

    digest = families()["pro"][0].source.sha256
    folder = cache_folder("longbench_pro", digest)
    CachedFolder(folder, digest, fill).open("counts.json", bytes)
    assert stored("pro").state == CONVERTED
    (folder / "counts.json").write_text("{ }")
    assert stored("pro").state == MISSING


def test_of_v1_each_dataset_is_converted_by_itself(empty_caches):
    rows = list(load(BY_FILE["qasper"], "sample").rows)

    def convert(stem):
        cached(V1, V1.source.sha256, stem, lambda: rows)

    convert("qasper")
    assert stored("v1", ["qasper"]).state == CONVERTED
    assert stored("v1", ["qasper", "trec"]).state == MISSING
    assert stored("v1").state == MISSING
    for task in TASKS:
        convert(task.dataset)
    assert stored("v1").state == CONVERTED


# -------------------------------------------------- The lines on data: missing, sample, local, off


def test_missing_data_is_one_error_a_benchmark_with_the_command(empty_caches):
    found = look(
        [
            WantedData("longbench_v1_qasper", "longbench_v1_qasper", None),
            WantedData("longbench_v1_trec", "longbench_v1_trec", None),
            WantedData("longbench_pro_t1_1", "longbench_pro_t1_1", None),
        ]
    )
    assert [line.status for line in found.lines] == [ERROR, ERROR]
    first, second = found.lines
    assert first.tasks == ("longbench_v1_qasper", "longbench_v1_trec")
    assert "lm-eval-longbench prepare v1" in first.todo
    assert V1.source.label in first.found
    assert "lm-eval-longbench prepare pro" in second.todo
    assert found.rows == {}
    assert found.expected == {
        "longbench_v1_qasper": 200,
        "longbench_v1_trec": 200,
        "longbench_pro_t1_1": 60,
    }


def test_the_sample_is_a_warning_with_label_hash_and_counts():
    found = look([WantedData("longbench_v2", "longbench_v2", "sample")])
    (line,) = found.lines
    assert line.status == WARNING
    assert "sample-" in line.found and "of officially 503 documents" in line.found
    assert 0 < found.rows["longbench_v2"] == found.expected["longbench_v2"] < 503


def test_a_dataset_that_does_not_exist_is_an_error(tmp_path):
    found = look([WantedData("mine", "longbench_v1_qaspar", "sample")])
    (line,) = found.lines
    assert line.status == ERROR
    assert "Did you mean 'longbench_v1_qasper'" in line.found
    assert found.expected == {}


def test_official_data_is_ok_and_complete(empty_caches):
    """Converted from the pinned archive as the package itself would have done."""
    task = BY_FILE["multifieldqa_en"]
    row = load(task, "sample").rows[0]
    cached(V1, V1.source.sha256, task.dataset, lambda: [row] * 150)
    found = look([WantedData(task.name, task.name, None)])
    (line,) = found.lines
    assert line.status == OK
    assert V1.source.label in line.found and V1.source.sha256 in line.found
    assert "1 dataset, 150 of officially 150 documents" in line.found
    assert found.rows == {task.name: 150}


def test_a_local_copy_is_a_warning_and_what_it_lacks_an_error(tmp_path):
    shutil.copy(SAMPLES / "longbench_v1" / "trec.jsonl", tmp_path)
    found = look(
        [
            WantedData("longbench_v1_trec", "longbench_v1_trec", str(tmp_path)),
            WantedData("longbench_v1_qasper", "longbench_v1_qasper", str(tmp_path)),
        ]
    )
    error, warning = found.lines
    assert (error.status, error.tasks) == (ERROR, ("longbench_v1_qasper",))
    assert "qasper.jsonl" in error.found
    assert warning.status == WARNING
    assert "not the pinned official data" in warning.found
    assert list(found.rows) == ["longbench_v1_trec"]


def test_a_damaged_local_file_is_an_error(tmp_path):
    file = tmp_path / "data.json"
    file.write_text(json.dumps([{"question": "?"}]))
    (line,) = look([WantedData("longbench_v2", "longbench_v2", str(file))]).lines
    assert line.status == ERROR
    assert "data.json" in line.found


def test_damaged_official_data_names_both_hashes(tmp_path):
    line = absent_line("v1", Stored(DAMAGED, tmp_path / "data.zip", "0" * 64), ("a",))
    assert line.status == ERROR
    assert "0" * 64 in line.found and V1.source.sha256 in line.found
    assert line.tasks == ("a",)


def test_in_general_missing_data_is_no_error(empty_caches):
    lines = list(general_lines())
    assert [line.status for line in lines] == [WARNING] * 3
    assert [line.todo.split(",")[0].split()[-1] for line in lines] == ["v1", "v2", "pro"]
