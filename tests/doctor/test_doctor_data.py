"""The lines on data: missing, sample, local, official."""

import json
import shutil

from lm_eval_longbench.catalog import split_of_file
from lm_eval_longbench.data import longbench_v1
from lm_eval_longbench.data.array_benchmark import SAMPLES
from lm_eval_longbench.data.arrow import V1_FEATURES, cached
from lm_eval_longbench.data.sources import LONGBENCH_V1
from lm_eval_longbench.doctor.data import absent_line, general_lines, look
from lm_eval_longbench.doctor.line import ERROR, OK, WARNING
from lm_eval_longbench.doctor.data import DAMAGED, Stored
from lm_eval_longbench.doctor.data import Wanted


def test_missing_data_is_one_error_a_benchmark_with_the_command(empty_caches):
    found = look(
        [
            Wanted("longbench_v1_qasper", "v1", "qasper", None),
            Wanted("longbench_v1_trec", "v1", "trec", None),
            Wanted("longbench_pro_t1_1", "pro", "t1_1", None),
        ]
    )
    assert [line.status for line in found.lines] == [ERROR, ERROR]
    first, second = found.lines
    assert first.tasks == ("longbench_v1_qasper", "longbench_v1_trec")
    assert "lm-eval-longbench prepare v1" in first.todo
    assert LONGBENCH_V1.label in first.found
    assert "lm-eval-longbench prepare pro" in second.todo
    assert found.rows == {}
    assert found.expected == {
        "longbench_v1_qasper": 200,
        "longbench_v1_trec": 200,
        "longbench_pro_t1_1": 60,
    }


def test_the_sample_is_a_warning_with_label_hash_and_counts():
    found = look([Wanted("longbench_v2", "v2", "all", "sample")])
    (line,) = found.lines
    assert line.status == WARNING
    assert "sample-" in line.found and "of officially 503 documents" in line.found
    assert 0 < found.rows["longbench_v2"] == found.expected["longbench_v2"] < 503


def test_a_dataset_that_does_not_exist_is_an_error(tmp_path):
    found = look([Wanted("mine", "v1", "qaspar", "sample")])
    (line,) = found.lines
    assert line.status == ERROR
    assert "Did you mean 'qasper'" in line.found
    assert found.expected == {}


def test_official_data_is_ok_and_complete(empty_caches):
    """Converted from the pinned archive as the package itself would have done."""
    split = split_of_file("multifieldqa_en")
    row = longbench_v1.load(split, "sample").rows[0]
    cached("longbench_v1", LONGBENCH_V1.sha256, split.file_stem, V1_FEATURES, lambda: [row] * 150)
    found = look([Wanted(split.task, "v1", split.file_stem, None)])
    (line,) = found.lines
    assert line.status == OK
    assert LONGBENCH_V1.label in line.found and LONGBENCH_V1.sha256 in line.found
    assert "1 dataset, 150 of officially 150 documents" in line.found
    assert found.rows == {split.task: 150}


def test_a_local_copy_is_a_warning_and_what_it_lacks_an_error(tmp_path):
    shutil.copy(SAMPLES / "longbench_v1" / "trec.jsonl", tmp_path)
    found = look(
        [
            Wanted("longbench_v1_trec", "v1", "trec", str(tmp_path)),
            Wanted("longbench_v1_qasper", "v1", "qasper", str(tmp_path)),
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
    (line,) = look([Wanted("longbench_v2", "v2", "all", str(file))]).lines
    assert line.status == ERROR
    assert "data.json" in line.found


def test_damaged_official_data_names_both_hashes(tmp_path):
    line = absent_line("v1", Stored(DAMAGED, tmp_path / "data.zip", "0" * 64), ("a",))
    assert line.status == ERROR
    assert "0" * 64 in line.found and LONGBENCH_V1.sha256 in line.found
    assert line.tasks == ("a",)


def test_in_general_missing_data_is_no_error(empty_caches):
    lines = list(general_lines())
    assert [line.status for line in lines] == [WARNING] * 3
    assert [line.todo.split(",")[0].split()[-1] for line in lines] == ["v1", "v2", "pro"]
