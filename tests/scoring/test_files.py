"""Which files are looked at, and what is known of a file before it is scored."""

import gzip
import hashlib
import os
from pathlib import Path

import pytest
from prediction_rows import write_lines

from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.scoring.files import find_files, first_rows, identify, stem_of


@pytest.fixture
def tree(tmp_path):
    folder = tmp_path / "runs"
    for name in (
        "a.jsonl",
        "b.jsonl.gz",
        "model/samples_longbench_v1_trec_2025-01-01T00-00-00.jsonl",
        "model/results_2025-01-01T00-00-00.json",
        "model/report.json",
        "model/a.jsonl.partial",
        "model/notes.txt",
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (folder / "trec.jsonl").mkdir()
    return folder


def names(*paths):
    return [file.name for file in find_files(paths)]


def test_json_lines_at_any_depth_by_their_name_under_the_path(tree):
    assert names(tree) == [
        "runs/a.jsonl",
        "runs/b.jsonl.gz",
        "runs/model/samples_longbench_v1_trec_2025-01-01T00-00-00.jsonl",
    ]
    assert names(tree / "model") == ["model/samples_longbench_v1_trec_2025-01-01T00-00-00.jsonl"]


def test_a_file_under_two_paths_is_one_file(tree):
    assert names(tree, tree, tree / "a.jsonl") == names(tree / "a.jsonl", tree)
    assert len(names(tree, tree / "a.jsonl")) == 3
    by_path = {file.path: file for file in find_files([tree, tree / "a.jsonl"])}
    assert by_path[tree / "a.jsonl"].named


def test_relative_paths_and_links(tree, monkeypatch):
    monkeypatch.chdir(tree)
    assert names(Path(".")) == names(tree)
    os.symlink(tree / "model", tree / "other")
    os.symlink(tree, tree / "model" / "round")  # a circle
    assert "runs/other/samples_longbench_v1_trec_2025-01-01T00-00-00.jsonl" in names(tree)


@pytest.mark.parametrize("name", ["none", "none.jsonl"])
def test_a_path_that_does_not_exist(tmp_path, name):
    with pytest.raises(PredictionError, match="is not a folder or a file") as caught:
        find_files([tmp_path / name])
    assert str(tmp_path / name) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("a.jsonl", "a"),
        ("a.jsonl.gz", "a"),
        ("repobench-p.jsonl", "repobench-p"),
        ("samples_x_2025-01-01T00-00-00.5.jsonl", "samples_x_2025-01-01T00-00-00.5"),
        ("a.json", "a"),
        ("a.gz", "a"),
        ("a", "a"),
    ],
)
def test_stems(name, stem):
    assert stem_of(Path("x") / name) == stem


def test_a_file_and_its_packed_copy_have_one_text(tmp_path):
    text = b'{"a": 1}\n'
    plain, packed = tmp_path / "a.jsonl", tmp_path / "a.jsonl.gz"
    plain.write_bytes(text)
    packed.write_bytes(gzip.compress(text))
    digest = hashlib.sha256(text).hexdigest()
    raw = hashlib.sha256(packed.read_bytes()).hexdigest()
    for path, own in ((plain, digest), (packed, raw)):
        (file,) = find_files([path])
        identify(file)
        assert (file.sha256, file.text_sha256, file.size) == (own, digest, len(text))


def test_the_first_rows_are_those_that_can_be_read(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", "", "{", b"\xff", [1], {"a": 1}, "[" * 100_000, 7)
    assert list(first_rows(path)) == [[1], {"a": 1}, 7]
