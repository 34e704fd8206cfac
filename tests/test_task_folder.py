"""Tasks are found once, however many ways lead to their folder."""

import importlib.util
import logging
from pathlib import Path

import pytest
from lm_eval.tasks import TaskManager

import lm_eval_longbench
from lm_eval_longbench.benchmarks.registry import tags
from lm_eval_longbench.cli.link import link_tasks
from lm_eval_longbench.task_folder import task_folder

PACKAGE = Path(lm_eval_longbench.__file__).parent


def test_the_package_has_the_tasks():
    """For the proposed plugin, see test_packaging; in a clone as a link that other places have."""
    own = PACKAGE / "tasks"
    assert own.resolve() == task_folder()
    assert not own.is_symlink() or own.readlink() == Path("../tasks")
    assert Path(importlib.util.find_spec("lm_eval_longbench.tasks").origin).parent == own


def test_plugin_include_path_and_links_together_give_each_task_once(caplog, tmp_path):
    links, _ = link_tasks(task_folder(), tmp_path)
    folders = [str(PACKAGE / "tasks"), str(task_folder()), str(links)]
    with caplog.at_level(logging.INFO):
        once = TaskManager(include_path=folders[:1], include_defaults=False)
        all_ways = TaskManager(include_path=folders, include_defaults=False)
    assert [record.getMessage() for record in caplog.records] == []
    assert all_ways.all_tasks == once.all_tasks
    files = len(list(task_folder().rglob("*.yaml")))
    assert len(all_ways.all_tasks) == len(set(all_ways.all_tasks)) == files + len(tags())
    found = (entry.yaml_path for entry in all_ways.task_index.values())
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
