"""A full disk, or an interrupt, costs nothing that was there before."""

import errno
import os
import subprocess
import sys

import pytest
from prediction_rows import v2_row, write_lines

from lm_eval_longbench import result_files as write
from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.scoring import output
from lm_eval_longbench.scoring.score import score_paths


@pytest.fixture
def earlier(tmp_path):
    """A folder of earlier results, and a further input."""
    score_paths([write_lines(tmp_path / "a.jsonl", v2_row("q"))], tmp_path / "out")
    write_lines(tmp_path / "b.jsonl", *(v2_row(f"q{number}") for number in range(100)))
    return contents(tmp_path / "out")


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


NAMES = ("samples.jsonl", "scores.json", "report.json")


@pytest.mark.parametrize(
    ("step", "name"),
    # Once all are written, renaming them takes no room.
    [(step, name) for step in ("begin", "write", "end") for name in NAMES] + [("appear", NAMES[0])],
)
def test_a_write_that_fails(tmp_path, earlier, monkeypatch, step, name):
    whole = getattr(write.ResultFile, step)

    def fail(self, *arguments):
        if self.path.name != name:
            return whole(self, *arguments)
        with write._naming(self.path):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(write.ResultFile, step, fail)
    with pytest.raises(LongBenchError, match="No space left on device") as caught:
        score_paths([tmp_path / "b.jsonl"], tmp_path / "out")
    assert str(tmp_path / "out" / name) in str(caught.value)
    assert contents(tmp_path / "out") == earlier


def test_an_interrupt(tmp_path, earlier, monkeypatch):
    line = output._line

    def interrupted(question, *more):
        if question.id == "q50":
            raise KeyboardInterrupt
        return line(question, *more)

    monkeypatch.setattr(output, "_line", interrupted)
    with pytest.raises(KeyboardInterrupt):
        score_paths([tmp_path / "b.jsonl"], tmp_path / "out")
    assert contents(tmp_path / "out") == earlier


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


@pytest.mark.parametrize(
    ("room", "words"), [(2_000, "cannot be used"), (60_000, "samples.jsonl cannot be written")]
)
def test_a_disk_that_is_full(tmp_path, earlier, room, words):
    """First the file in which samples are sorted does not fit, then the results."""
    write_lines(tmp_path / "b.jsonl", *(v2_row(f"q{number}") for number in range(300)))
    done = subprocess.run(
        [sys.executable, "-c", FULL, tmp_path / "b.jsonl", tmp_path / "out", str(room)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert words in done.stdout, done.stdout + done.stderr
    assert contents(tmp_path / "out") == earlier
