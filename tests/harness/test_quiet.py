"""What a run keeps off the screen, and where it puts it."""

import re
import shutil
from pathlib import Path

import pytest
from tqdm import tqdm

from lm_eval_longbench.harness import quiet

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


@pytest.mark.parametrize("slow", [False, True])
def test_the_bar_of_prompts_is_gone_when_answers_have_theirs(slow, monkeypatch, capsys):
    monkeypatch.setattr(quiet, "_SHOWN_AFTER", -1 if slow else 60)
    building = quiet._OneBar()
    for _ in range(2):
        assert list(building(range(5), total=5)) == [0, 1, 2, 3, 4]
    assert ("prompts:" in capsys.readouterr().err) == slow
    with tqdm(total=1) as answers:
        assert answers.pos == 0
