"""What a run keeps off the screen, and where it puts it."""

import shutil
import subprocess

import pytest
from tqdm import tqdm

from lm_eval_longbench.api.evaluate import evaluate
from lm_eval_longbench.harness import quiet


@pytest.mark.skipif(shutil.which("git") is None, reason="no git, which would say something")
@pytest.mark.parametrize("verbose", [(), ("--verbose",)])
def test_what_git_says_outside_of_a_repository_is_not_shown(verbose, tmp_path, processes):
    assert (
        b"not a git repository"
        in subprocess.run(
            ["git", "describe"], cwd=tmp_path, capture_output=True, check=False
        ).stderr
    )
    done = processes.run(
        *("lm-eval-longbench", "run", "--model", "longbench-extractive", *verbose),
        *("--tasks", "longbench_v1_passage_count", "--data-dir", "sample"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "fatal" not in done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("git") is None, reason="no git, which would say something")
def test_it_is_not_shown_to_a_python_caller_either(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    run = evaluate(lambda prompts: ["1"], "longbench_v1_passage_count", data_dir="sample", limit=1)
    assert run.scores
    assert "git" not in "".join(capfd.readouterr())


@pytest.mark.parametrize("slow", [False, True])
def test_the_bar_of_prompts_is_gone_when_answers_have_theirs(slow, monkeypatch, capsys):
    monkeypatch.setattr(quiet, "_SHOWN_AFTER", -1 if slow else 60)
    building = quiet._OneBar()
    for _ in range(2):
        assert list(building(range(5), total=5)) == [0, 1, 2, 3, 4]
    assert ("prompts:" in capsys.readouterr().err) == slow
    with tqdm(total=1) as answers:
        assert answers.pos == 0
