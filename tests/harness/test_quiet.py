"""What a run keeps off the screen, and where it puts it."""

import re
import shutil
from pathlib import Path

import pytest

SAMPLE = '{"longbench": {"data_dir": "sample"}}'


@pytest.mark.skipif(shutil.which("git") is None, reason="no git, which would say something")
def test_what_git_says_outside_of_a_repository_goes_to_the_log(tmp_path, processes):
    done = processes.run(
        *("lm-eval-longbench", "run", "--model", "longbench-extractive"),
        *("--tasks", "longbench_v1_passage_count", "--metadata", SAMPLE),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "fatal" not in done.stdout + done.stderr
    (log,) = re.findall(r"^log +(\S+)$", done.stdout, re.MULTILINE)
    assert "not a git repository" in Path(log).read_text(encoding="utf-8")
