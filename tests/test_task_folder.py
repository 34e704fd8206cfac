"""Tasks are found once, however many ways lead to their folder."""

import logging
from importlib.metadata import EntryPoint

import pytest
from lm_eval.tasks import TaskManager

from lm_eval_longbench.benchmarks.registry import tags
from lm_eval_longbench.harness.releases import task_index
from lm_eval_longbench.task_folder import link_tasks, task_folder

PLUGIN = EntryPoint(
    "lm_eval_longbench", "lm_eval_longbench.task_folder:task_folder", "lm_eval.tasks"
)


def test_plugin_include_path_and_links_together_give_each_task_once(caplog, tmp_path):
    links, _ = link_tasks(task_folder(), tmp_path)
    folders = [str(PLUGIN.load()()), str(task_folder()), str(links)]
    assert folders[0] == folders[1]
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
