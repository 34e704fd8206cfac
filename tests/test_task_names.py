"""Which tasks a name stands for, against the harness's own view."""

import pytest
from lm_eval.tasks._yaml_loader import load_yaml

from lm_eval_longbench import task_names as module
from lm_eval_longbench.benchmarks import registry
from lm_eval_longbench.task_folder import task_folder
from lm_eval_longbench.task_names import (
    expanded,
    group_weights,
    is_group,
    task_versions,
    valid_names,
)

CONFIGS = {
    config.get("group") or config["task"]: config
    for path in sorted(task_folder().rglob("*.yaml"))
    for config in [load_yaml(path, resolve_func=False)]
}
LEAVES = {name: config for name, config in CONFIGS.items() if "group" not in config}
GROUPS = sorted(set(CONFIGS) - set(LEAVES))


def test_all_our_tasks_are_known():
    assert len(LEAVES) > 90
    assert set(registry.tasks()) == set(task_versions()) == set(LEAVES)
    assert valid_names() == sorted(CONFIGS)


@pytest.mark.parametrize("name", LEAVES)
def test_a_task_file_is_of_its_task(name):
    task, config = registry.find_task(name), LEAVES[name]
    benchmark = registry.benchmark_of(task)
    whole = benchmark.tasks[task.counted]
    assert benchmark.asked(whole, config["dataset_name"]) == task
    assert task_versions()[name] == str(config["metadata"]["version"]) == benchmark.task_version


def test_task_files_of_another_package(tmp_path, monkeypatch):
    """Their tasks and groups are known by name, too."""
    (tmp_path / "a.yaml").write_text("task: toy\ndataset_name: toy\nmetadata: {version: 2.5}\n")
    (tmp_path / "b.yaml").write_text("group: toys\ntask: [toy, longbench_v1_lcc]\n")
    one = registry.benchmarks()["longbench_v2"]
    monkeypatch.setattr(one, "task_folder", tmp_path)
    module._files.cache_clear()
    try:
        assert expanded(["toys"]) == (["longbench_v1_lcc", "toy"], [])
        assert task_versions()["toy"] == "2.5"
        assert is_group("toys") and group_weights("toys", ["toy", "longbench_v1_lcc"]) is not None
    finally:
        module._files.cache_clear()


def leaves(name):
    """What the harness would evaluate, told slowly."""
    if name in LEAVES:
        return {name}
    return set().union(*map(leaves, CONFIGS[name]["task"]))


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_stands_for_its_leaves(group):
    assert expanded([group]) == (sorted(leaves(group)), [])


def test_wildcards_and_commas():
    assert expanded(["longbench_v1_q*"])[0] == ["longbench_v1_qasper", "longbench_v1_qmsum"]
    ours, foreign = expanded(["longbench_v2*"])
    assert ours == sorted(name for name in LEAVES if name.startswith("longbench_v2"))
    assert foreign == []
    both = expanded(["longbench_v1_lcc, longbench_v1_trec", "longbench_v1_lcc"])
    assert both == (["longbench_v1_lcc", "longbench_v1_trec"], [])
    assert len(expanded(["longbench_*"])[0]) == len(LEAVES)


def test_pass_two_comes_along_with_pass_one():
    assert expanded(["longbench_v2_cot"])[0] == ["longbench_v2_cot", "longbench_v2_cot_answer"]
    assert expanded(["longbench_v2_cot_answer"])[0] == ["longbench_v2_cot_answer"]


def test_names_that_are_not_ours_are_given_back():
    given = ["gsm8k", "longbench_v1_lcc", "longbench_qasper,arc_*", ""]
    assert expanded(given) == (["longbench_v1_lcc"], ["gsm8k", "longbench_qasper", "arc_*", ""])
    assert expanded([]) == ([], [])
