"""The template of a hosted leaderboard: its workflow's own commands, in a repository of git."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from real_runs import AnsweringLM, Files, write_run

TEMPLATE = Path(__file__).resolve().parents[2] / "examples" / "leaderboard-action"
WORKFLOW = ".github/workflows/leaderboard.yml"


def git(folder, *arguments):
    own = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org"]
    given = ["git", "-C", str(folder), *own, *arguments]
    return subprocess.run(given, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """Main holds the template and a run; a pull request adds two, one of them damaged."""
    folder = tmp_path_factory.mktemp("hosted") / "board"
    shutil.copytree(TEMPLATE, folder)
    git(folder, "init", "--quiet", "--initial-branch=main")

    def add(name, letter):
        write_run(
            folder / "runs" / name,
            AnsweringLM(lambda number, prompt: f"The correct answer is ({letter})"),
            ["longbench_v2"],
        )

    add("first", "A")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "Add a run")
    git(folder, "checkout", "--quiet", "-b", "more")
    add("honest one", "B")
    add("damaged", "C")
    Files(folder / "runs" / "damaged").edit_results(
        lambda whole: whole["results"]["longbench_v2"].update({"acc,none": 0.99})
    )
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "Add two runs")
    return folder


def step(job, name, folder, tmp_path, **more):
    """Run a step of the workflow as GitHub does; return its status and what it printed."""
    workflow = yaml.safe_load((folder / WORKFLOW).read_text(encoding="utf-8"))
    (found,) = (one for one in workflow["jobs"][job]["steps"] if one.get("name") == name)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    own = {**os.environ, **workflow["env"], **more, "PATH": path, "RUNNER_TEMP": str(tmp_path)}
    made = subprocess.run(
        ["bash", "-e", "-c", found["run"]], cwd=folder, env=own, capture_output=True, text=True
    )
    return made.returncode, made.stdout + made.stderr


def test_a_pull_request_with_a_damaged_run_fails_and_says_which(repository, tmp_path):
    base = git(repository, "rev-parse", "main")
    status, printed = step("verify", "verify", repository, tmp_path, BASE=base)
    assert status == 1
    damaged, honest = printed.split("== ")[1:]
    assert damaged.startswith("runs/damaged\n") and honest.startswith("runs/honest one\n")
    assert "different: something differs." in damaged and "0.99" in damaged
    assert "confirmed: an official figure of every task" in honest


def test_a_pull_request_without_a_run_fails(repository, tmp_path):
    head = git(repository, "rev-parse", "HEAD")
    status, printed = step("verify", "verify", repository, tmp_path, BASE=head)
    assert (status, printed) == (1, "No run was added under runs/.\n")


@pytest.mark.parametrize("job", ["verify", "publish"])
def test_the_page_marks_what_does_not_recompute(repository, tmp_path, job):
    status, printed = step(job, "page", repository, tmp_path)
    assert status == 0
    assert "not confirmed: damaged" in printed and "2 of 3 runs confirmed" in printed
    assert (repository / "site" / "index.html").read_text(encoding="utf-8").startswith("<!")
