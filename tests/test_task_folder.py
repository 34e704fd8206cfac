"""Tasks are found once, however many ways lead to their folder."""

import importlib.util
import logging
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from lm_eval.tasks import TaskManager

from lm_eval_longbench.benchmarks.registry import tags
from lm_eval_longbench.harness.releases import task_index
from lm_eval_longbench.task_folder import link_tasks, task_folder

PLUGIN = EntryPoint(
    "lm_eval_longbench", "lm_eval_longbench.task_folder:task_folder", "lm_eval.tasks"
)


def scanned():
    """The folder that the proposed plugin looks through: of the module's package; it calls none."""
    return Path(importlib.util.find_spec(PLUGIN.module).origin).parent


def test_the_proposed_plugin_finds_nothing_in_an_editable_install():
    """The tasks lie beside the package there; a wheel has them in it, see test_packaging."""
    found = TaskManager(include_path=str(scanned()), include_defaults=False)
    assert found.all_tasks == []
    assert task_folder() == scanned().parent / "tasks"


def test_plugin_include_path_and_links_together_give_each_task_once(caplog, tmp_path):
    """The plugin of a wheel: a package with the tasks in it."""
    links, _ = link_tasks(task_folder(), tmp_path)
    package = tmp_path / "package"
    package.mkdir()
    (package / "tasks").symlink_to(task_folder())
    folders = [str(package / "tasks"), str(task_folder()), str(links)]
    with caplog.at_level(logging.INFO):
        once = TaskManager(include_path=folders[:1], include_defaults=False)
        all_ways = TaskManager(include_path=folders, include_defaults=False)
    assert [record.getMessage() for record in caplog.records] == []
    assert all_ways.all_tasks == once.all_tasks
    files = len(list(task_folder().rglob("*.yaml")))
    assert len(all_ways.all_tasks) == len(set(all_ways.all_tasks)) == files + len(tags())
    found = (entry.yaml_path for entry in task_index(all_ways).values())
    assert len({path.resolve() for path in found if path is not None}) == files


def test_another_file_of_the_same_task_is_still_a_warning(caplog, tmp_path):
    (tmp_path / "mine.yaml").write_text("task: longbench_v1_qasper\n")
    with caplog.at_level(logging.WARNING):
        TaskManager(include_path=[str(task_folder()), str(tmp_path)], include_defaults=False)
    (record,) = caplog.records
    assert "overrides existing task" in record.getMessage()


@pytest.mark.parametrize("message", ["Task 'a' from x", "", "something else"])
def test_other_lines_pass(message, caplog):
    task_folder()
    with caplog.at_level(logging.WARNING):
        logging.getLogger("lm_eval.tasks._index").warning(message)
    assert [record.getMessage() for record in caplog.records] == [message]
