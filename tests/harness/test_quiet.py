"""What a run keeps off the screen, and where it puts it."""

import shutil
import subprocess

import pytest


@pytest.mark.skipif(shutil.which("git") is None, reason="no git, which would say something")
def test_what_git_says_outside_of_a_repository_is_not_shown(tmp_path, processes):
    assert (
        b"not a git repository"
        in subprocess.run(
            ["git", "describe"], cwd=tmp_path, capture_output=True, check=False
        ).stderr
    )
    done = processes.run(
        *("lm-eval-longbench", "run", "--model", "longbench-extractive"),
        *("--tasks", "longbench_v1_passage_count", "--data-dir", "sample"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "fatal" not in done.stdout + done.stderr
