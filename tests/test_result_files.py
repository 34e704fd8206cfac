"""Result files appear whole, or not at all."""

import json
import subprocess
import sys

import pytest

from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.result_files import json_lines, written_together


def names(folder):
    return sorted(path.name for path in folder.rglob("*"))


def write_document(path, value=None):
    with written_together([path]) as (file,):
        file.document({"a": 1} if value is None else value)


def write_lines(path):
    with json_lines(path) as emit:
        emit({"a": 1})


def test_lines_appear_when_the_block_has_ended(tmp_path):
    path = tmp_path / "new" / "deeper" / "samples.jsonl"
    with json_lines(path) as emit:
        emit({"b": 1, "a": "汉字🙂\n"})
        assert not path.exists()
        emit({"x": None})
    assert path.read_bytes() == '{"b": 1, "a": "汉字🙂\\n"}\n{"x": null}\n'.encode()
    assert names(path.parent) == ["samples.jsonl"]
    with json_lines(path):
        pass
    assert path.read_bytes() == b""
    write_document(path, {"qasper": 1.5, "名": None})
    assert path.read_bytes() == '{\n "qasper": 1.5,\n "名": null\n}\n'.encode()


def test_a_text_that_utf8_cannot_hold_is_escaped(tmp_path):
    with json_lines(tmp_path / "samples.jsonl") as emit:
        emit({"a": "汉\ud800"})
        emit({"a": "汉"})
    write_document(tmp_path / "scores.json", {"\udfff": 1})
    lines = (tmp_path / "samples.jsonl").read_bytes().splitlines()
    assert lines == [b'{"a": "\\u6c49\\ud800"}', '{"a": "汉"}'.encode()]
    assert json.loads((tmp_path / "scores.json").read_bytes()) == {"\udfff": 1}


def together(folder):
    with written_together([folder / "a.jsonl", folder / "b.json"]) as (lines, document):
        lines.add({"new": 1})
        document.document({"new": 2})
        yield


def test_files_appear_together_or_none_does(tmp_path):
    writing = together(tmp_path)
    next(writing)
    assert names(tmp_path) == ["a.jsonl.partial", "b.json.partial"]
    assert list(writing) == []
    assert names(tmp_path) == ["a.jsonl", "b.json"]
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    writing = together(tmp_path)
    next(writing)
    with pytest.raises(KeyboardInterrupt):
        writing.throw(KeyboardInterrupt())
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {"a": object()}])
def test_a_document_that_is_no_json_leaves_the_earlier_file(tmp_path, value):
    path = tmp_path / "scores.json"
    path.write_text("earlier")
    with pytest.raises((ValueError, TypeError)):
        write_document(path, value)
    assert (path.read_text(), names(tmp_path)) == ("earlier", ["scores.json"])


@pytest.mark.parametrize("write", [write_lines, write_document])
def test_a_file_where_the_folder_should_be_and_the_other_way_round(tmp_path, write):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(LongBenchError, match="cannot be written") as caught:
        write(tmp_path / "out" / "result")
    assert str(tmp_path / "out" / "result") in str(caught.value)
    (tmp_path / "folder" / "mine").mkdir(parents=True)
    with pytest.raises(LongBenchError, match="cannot be written"):
        write(tmp_path / "folder")
    assert names(tmp_path) == ["folder", "mine", "out"]


FULL = """
import resource, sys
from pathlib import Path
from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.result_files import json_lines, written_together

# No file may grow beyond 1,000 bytes from here on, as if the disk were full.
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
folder = Path(sys.argv[1])
try:
    with json_lines(folder / "samples.jsonl") as emit:
        for number in range(10_000):
            emit({"number": number})
except LongBenchError as error:
    sys.stdout.write(f"{error}\\n")
try:
    with written_together([folder / "scores.json"]) as (file,):
        file.document({"x": "y" * 5000})
except LongBenchError as error:
    sys.stdout.write(f"{error}\\n")
"""


def test_a_full_disk_leaves_the_earlier_files(tmp_path):
    for name in ("samples.jsonl", "scores.json"):
        (tmp_path / name).write_text("earlier")
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    assert ["samples.jsonl cannot be written" in lines[0], len(lines)] == [True, 2]
    assert "scores.json cannot be written" in lines[1]
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "samples.jsonl": "earlier",
        "scores.json": "earlier",
    }
