"""Links from a harness's task folder, always a made-up one, to our task files."""

import os
import subprocess
import sys

import pytest
from lm_eval.tasks._yaml_loader import load_yaml
from v1_tasks import TASKS

from lm_eval_longbench.cli.link import FOLDER, harness_tasks, link_tasks, unlink_tasks
from lm_eval_longbench.errors import LinkError
from lm_eval_longbench.task_folder import task_folder

YAMLS = sorted(path.relative_to(task_folder()) for path in task_folder().rglob("*.yaml"))


@pytest.fixture
def tasks(tmp_path):
    """A harness's task folder with a task of its own in it."""
    folder = tmp_path / "lm_eval" / "tasks"
    (folder / "arc").mkdir(parents=True)
    (folder / "arc" / "arc.yaml").write_text("task: arc\n")
    return folder


def state(folder):
    """Everything in a folder: links with their target, files with their bytes, and folders."""
    return {
        str(path.relative_to(folder)): path.readlink()
        if path.is_symlink()
        else path.read_bytes()
        if path.is_file()
        else None
        for path in folder.rglob("*")
    }


def test_every_yaml_gets_a_link_in_a_real_folder(tasks):
    target, made = link_tasks(task_folder(), tasks)
    assert target == tasks / FOLDER
    assert made == len(YAMLS) == 34 + 11 + 50 + 8 + 4 + 1 + 8
    links = sorted(path for path in target.rglob("*") if path.is_symlink())
    assert [link.relative_to(target) for link in links] == YAMLS
    assert all(link.resolve() == (task_folder() / link.relative_to(target)) for link in links)
    folders = [target, target / "longbench_v1", target / "longbench_v1_e"]
    assert all(folder.is_dir() and not folder.is_symlink() for folder in folders)


def test_the_harness_finds_the_links_and_their_includes(tasks):
    target, _ = link_tasks(task_folder(), tasks)
    found = {}
    # As the harness looks for its tasks.
    for path in tasks.glob("**/*.yaml"):
        config = load_yaml(path, resolve_func=False)
        found[config.get("group") or config["task"]] = config
    assert {split.name for split in TASKS} <= found.keys()
    config = found["longbench_v1_e_gov_report"]
    assert config["output_type"] == "generate_until"  # from _base
    assert config["generation_kwargs"]["max_gen_toks"] == 512  # from the leaf of v1
    assert not (target / "longbench_v1" / "_base").exists()


def test_linking_twice_changes_nothing(tasks):
    link_tasks(task_folder(), tasks)
    before = state(tasks)
    inode = (tasks / FOLDER / YAMLS[0]).lstat().st_ino
    assert link_tasks(task_folder(), tasks) == (tasks / FOLDER, 0)
    assert state(tasks) == before
    assert (tasks / FOLDER / YAMLS[0]).lstat().st_ino == inode


def test_links_of_an_earlier_installation_are_pointed_anew(tasks, tmp_path):
    target = tasks / FOLDER
    dangling, other = (target / name for name in YAMLS[:2])
    dangling.parent.mkdir(parents=True)
    dangling.symlink_to(tmp_path / "gone" / "away.yaml")
    elsewhere = tmp_path / "elsewhere.yaml"
    elsewhere.write_text("task: x\n")
    other.symlink_to(elsewhere)
    assert link_tasks(task_folder(), tasks)[1] == len(YAMLS)
    assert [link.resolve() for link in (dangling, other)] == [task_folder() / n for n in YAMLS[:2]]
    assert elsewhere.read_text() == "task: x\n"


def test_a_file_in_the_way_is_an_error_and_stays(tasks):
    file = tasks / FOLDER / YAMLS[3]
    file.parent.mkdir(parents=True)
    file.write_text("task: mine\n")
    with pytest.raises(LinkError, match="not a link of ours") as caught:
        link_tasks(task_folder(), tasks)
    assert str(file) in str(caught.value)
    assert file.read_text() == "task: mine\n"
    assert not file.is_symlink()


def test_a_place_that_cannot_be_written_to(tmp_path):
    tasks = tmp_path / "tasks"
    tasks.write_text("a file where a folder should be")
    with pytest.raises(LinkError, match="Cannot write to") as caught:
        link_tasks(task_folder(), tasks)
    message = str(caught.value)
    assert str(tasks / FOLDER) in message
    assert "lm-eval-longbench run" in message
    assert f"--include_path {task_folder()}" in message
    assert tasks.read_text() == "a file where a folder should be"


def test_unlinking_restores_the_folder(tasks):
    before = state(tasks)
    link_tasks(task_folder(), tasks)
    assert state(tasks) != before
    assert unlink_tasks(tasks) == (tasks / FOLDER, len(YAMLS), [])
    assert state(tasks) == before
    assert unlink_tasks(tasks) == (tasks / FOLDER, 0, [])
    assert all((task_folder() / name).is_file() for name in YAMLS)


def test_harness_tasks_is_the_folder_of_the_harness_python_imports():
    from lm_eval import tasks

    assert [str(harness_tasks())] == list(tasks.__path__)


def test_harness_tasks_without_a_harness(tmp_path):
    (tmp_path / "lm_eval").mkdir()
    (tmp_path / "lm_eval" / "__init__.py").write_text("")
    code = (
        "from lm_eval_longbench.errors import LinkError\n"
        "from lm_eval_longbench.cli.link import harness_tasks\n"
        "try:\n    harness_tasks()\nexcept LinkError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "pip install lm-eval" in done.stdout
