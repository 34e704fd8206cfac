"""Task files are written from the objects, of any benchmark."""

import copy

import pytest
import yaml
from lm_eval.tasks import TaskManager

from lm_eval_longbench.benchmarks.base import Group, Metric
from lm_eval_longbench.benchmarks.longbench_v2 import V2
from lm_eval_longbench.benchmarks.registry import OURS
from lm_eval_longbench.harness import command
from lm_eval_longbench.harness.releases import task_index
from lm_eval_longbench.task_folder import task_folder
from lm_eval_longbench.write_tasks import main, task_files, write


def foreign(folder=None, **changes):
    """A benchmark that is not ours: LongBench v2 under its own object."""
    own = copy.copy(V2)
    own.task_folder = folder
    for name, value in changes.items():
        setattr(own, name, value)
    return own


def test_our_folder_is_what_the_objects_say():
    texts = {path: text for one in OURS for path, text in task_files(one).items()}
    found = {
        path.relative_to(task_folder()).as_posix(): path.read_text(encoding="utf-8")
        for path in task_folder().rglob("*")
        if path.is_file()
    }
    assert found == {path.as_posix(): text for path, text in texts.items()}
    assert len(found) == 257


def test_another_package_writes_its_own_tree_and_keeps_its_own_files(tmp_path):
    benchmark = foreign()
    folder = tmp_path / V2.name
    folder.mkdir()
    (folder / "notes.yaml").write_text("mine: true\n")
    (folder / "_old.yaml").write_text("# Written by lm_eval_longbench.write_tasks; change that.\n")
    changed = write(tmp_path, [benchmark])
    assert {path.name for path in changed} > {"_base", "_old.yaml", "longbench_v2.yaml"}
    assert (folder / "notes.yaml").is_file() and not (folder / "_old.yaml").exists()
    assert write(tmp_path, [benchmark], check=True) == []
    (folder / "_base").write_text("other")
    assert write(tmp_path, [benchmark], check=True) == [folder / "_base"]
    assert (folder / "_base").read_text() == "other"
    header = (folder / "longbench_v2.yaml").read_text().splitlines()[0]
    assert header == "# Written by lm_eval_longbench.write_tasks; change that, not this."


def test_the_harness_finds_what_was_written(tmp_path):
    write(tmp_path, [foreign()])
    index = task_index(TaskManager(include_path=str(tmp_path), include_defaults=False))
    assert set(index) == {*V2.tasks, "longbench_v2_domains"}


@pytest.mark.parametrize("alias", ["plain words", "with: a colon", "# no comment", "yes", "1.0"])
def test_any_alias_stays_a_text(alias):
    group = Group("some", ("longbench_v2",), ("acc",), alias=alias)
    texts = task_files(foreign(groups=lambda: iter([group])))
    (text,) = (text for path, text in texts.items() if path.name == "_some.yaml")
    assert yaml.safe_load(text)["group_alias"] == alias


def test_metrics_that_several_tasks_share_have_a_file():
    usual, rare = (Metric("acc"),), (Metric("acc"), Metric("more", "mean_of_known"))
    texts = task_files(
        foreign(harness_metrics=lambda task: rare if task.name.endswith("_qa") else usual)
    )
    by_name = {path.name: text for path, text in texts.items()}
    assert (
        "aggregation: !function lm_eval_longbench.figures.means.mean_of_known" in by_name["_more"]
    )
    assert "more" not in by_name["_base"]
    for name in V2.tasks:
        includes = "[_base, _more]" if name.endswith("_qa") else "_base"
        assert f"\ninclude: {includes}\n" in by_name[f"{name}.yaml"]
        assert "metric_list" not in by_name[f"{name}.yaml"]


def test_the_command_line(tmp_path, capsys):
    assert main([str(tmp_path / "tasks"), "--benchmark", "longbench_v2"]) == 0
    assert capsys.readouterr().out == "13 files, 13 changed\n"
    (tmp_path / "tasks" / "longbench_v2" / "_base").unlink()
    assert main([str(tmp_path / "tasks"), "--benchmark", "longbench_v2", "--check"]) == 1
    assert capsys.readouterr().out == "differs: tasks/longbench_v2/_base\n"
    with pytest.raises(SystemExit) as ended:
        main([str(tmp_path), "--benchmark", "longbench_v3"])
    assert ended.value.code == 2
    assert "Did you mean 'longbench_v2'" in capsys.readouterr().err


def test_a_run_includes_the_folders_of_other_packages(tmp_path, monkeypatch):
    other = foreign(tmp_path)
    write(tmp_path, [other])
    known = {one.name: one for one in OURS} | {"theirs": other}
    monkeypatch.setattr(command, "benchmarks", lambda: known)
    assert command.joined_include_paths(None, None) == [str(task_folder()), str(tmp_path)]
    assert command.joined_include_paths(str(tmp_path), None) == [str(tmp_path), str(task_folder())]
