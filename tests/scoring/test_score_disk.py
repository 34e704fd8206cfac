"""A full disk, or an interrupt, costs nothing that was there before."""

import subprocess
import sys

import pytest
from prediction_rows import v2_row, write_lines

from lm_eval_longbench import result_files as write
from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.scoring import score as score_module
from lm_eval_longbench.scoring.score import score_paths


@pytest.fixture
def earlier(tmp_path):
    """A folder of earlier results, and a further input."""
    score_paths([write_lines(tmp_path / "a.jsonl", v2_row("q"))], tmp_path / "out")
    write_lines(tmp_path / "b.jsonl", *(v2_row(f"q{number}") for number in range(100)))
    return contents(tmp_path / "out")


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_an_interrupt(tmp_path, earlier, monkeypatch):
    add = write.ResultFile.add

    def interrupted(self, row):
        if row["id"] == "q50":
            raise KeyboardInterrupt
        add(self, row)

    monkeypatch.setattr(write.ResultFile, "add", interrupted)
    with pytest.raises(KeyboardInterrupt):
        score_paths([tmp_path / "b.jsonl"], tmp_path / "out")
    assert contents(tmp_path / "out") == earlier


def test_a_folder_that_cannot_be_made_is_told_before_anything_is_scored(tmp_path, monkeypatch):
    write_lines(tmp_path / "b.jsonl", v2_row("q"))
    (tmp_path / "out").write_text("mine")
    monkeypatch.delattr(score_module, "score_chunks")
    with pytest.raises(LongBenchError, match="cannot be written") as caught:
        score_paths([tmp_path / "b.jsonl"], tmp_path / "out")
    assert str(tmp_path / "out") in str(caught.value)
    assert (tmp_path / "out").read_text() == "mine"


FULL = """
import resource, sys
from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.scoring.score import score_paths

# No file may grow beyond this from here on, as if the disk were full.
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)
try:
    score_paths([sys.argv[1]], sys.argv[2])
except LongBenchError as error:
    sys.stdout.write(str(error))
"""


def test_a_disk_that_is_full(tmp_path, earlier):
    write_lines(tmp_path / "b.jsonl", *(v2_row(f"q{number}") for number in range(300)))
    done = subprocess.run(
        [sys.executable, "-c", FULL, tmp_path / "b.jsonl", tmp_path / "out", "2000"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "samples.jsonl cannot be written" in done.stdout, done.stdout + done.stderr
    assert contents(tmp_path / "out") == earlier
