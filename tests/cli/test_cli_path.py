"""Where the task definitions are, and links to them."""

import re
from pathlib import Path

import pytest

import lm_eval_longbench
from lm_eval_longbench.benchmarks.registry import kind_of, valid_names
from lm_eval_longbench.task_folder import task_folder


def test_the_path_exists_and_holds_the_tasks(invoke):
    result = invoke("path")
    assert result.exit_code == 0
    folder = Path(result.stdout.removesuffix("\n"))
    assert folder.is_absolute()
    assert (folder / "longbench_v1" / "_base").is_file()
    assert (folder / "longbench_v1_e" / "_base").is_file()
    assert folder == task_folder()
    # Beside the package, or in it when installed from a wheel.
    package = Path(lm_eval_longbench.__file__).resolve().parent
    assert folder in (package / "tasks", package.parent / "tasks")


def fake_harness(folder):
    tasks = folder / "lm_eval" / "tasks"
    tasks.mkdir(parents=True)
    (folder / "lm_eval" / "__init__.py").write_text("")
    return tasks


def test_links_to_a_harness_that_is_made_up(script, tmp_path):
    tasks = fake_harness(tmp_path / "fake")
    path = {"PYTHONPATH": str(tmp_path / "fake")}
    target = tasks / "lm_eval_longbench_links"
    number = sum(file.suffix == ".yaml" for file in task_folder().rglob("*"))
    assert number > 100

    def say(*command):
        done = script(*command, **path)
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout.decode()

    assert say("link") == f"{number} links made in {target}\n"
    assert len([link for link in target.rglob("*") if link.is_symlink()]) == number
    assert say("link") == f"nothing to do: {target}\n"
    (target / "mine.yaml").write_text("task: mine\n")
    assert say("link", "--remove") == (
        f"{number} links removed from {target}\nleft alone, not ours: {target / 'mine.yaml'}\n"
    )
    assert [path.name for path in target.iterdir()] == ["mine.yaml"]
    (target / "mine.yaml").unlink()
    assert say("link", "--remove") == f"no links in {target}\n"
    assert list(tasks.iterdir()) == []


def test_link_where_nothing_can_be_written(script, tmp_path):
    tasks = fake_harness(tmp_path / "fake")
    (tasks / "lm_eval_longbench_links").write_text("in the way")
    done = script("link", PYTHONPATH=str(tmp_path / "fake"))
    assert done.returncode == 2
    assert done.stderr.startswith(b"error: Cannot write to ")
    assert b"lm-eval-longbench run" in done.stderr
    assert (tasks / "lm_eval_longbench_links").read_text() == "in the way"


@pytest.mark.slow
def test_plain_lm_eval_lists_and_validates_tasks_groups_and_tags(processes):
    """The commands of docs/tasks.md, as real programs."""

    def lm_eval(*words):
        return processes.run("lm_eval", *words, "--include_path", task_folder(), all_tasks=True)

    listed = lm_eval("ls", "tasks")
    assert listed.returncode == 0, listed.stderr
    found = set(re.findall(r"^\| *(longbench_\w+) *\|", listed.stdout, re.MULTILINE))
    assert found >= set(valid_names())  # the harness has tasks called longbench_..., too
    tagged = ["longbench_v1_code", "longbench_pro_t4", "longbench_v1_zh", "longbench_v1_en"]
    assert all(kind_of(name) == "tag" for name in tagged)
    given = ",".join([*tagged, "longbench_pro", "longbench_v1_qasper"])
    done = lm_eval("validate", "--tasks", given)
    assert done.returncode == 0 and "All tasks found and valid" in done.stdout, done.stderr
    wrong = lm_eval("validate", "--tasks", f"{given},longbench_v1_cod")
    assert wrong.returncode == 1 and "longbench_v1_cod" in wrong.stdout
