"""Which tasks a name stands for, against the harness's own view."""

import pytest
from lm_eval.tasks._yaml_loader import load_yaml

from lm_eval_longbench.benchmarks import registry
from lm_eval_longbench.benchmarks.registry import expanded, kind_of, our_group, tags, valid_names
from lm_eval_longbench.task_folder import task_folder

CONFIGS = {
    config.get("group") or config["task"]: config
    for path in sorted(task_folder().rglob("*.yaml"))
    for config in [load_yaml(path, resolve_func=False)]
}
LEAVES = {name: config for name, config in CONFIGS.items() if "group" not in config}
GROUPS = sorted(set(CONFIGS) - set(LEAVES))


def test_all_our_tasks_are_known():
    assert len(LEAVES) > 90
    assert set(registry.tasks()) == set(LEAVES)
    assert valid_names() == sorted([*CONFIGS, *tags()])


@pytest.mark.parametrize("name", LEAVES)
def test_a_task_file_is_of_its_task(name):
    task, config = registry.find_task(name), LEAVES[name]
    benchmark = registry.benchmark_of(task)
    whole = benchmark.tasks[task.counted]
    assert benchmark.asked(whole, config["dataset_name"]) == task
    assert str(config["metadata"]["version"]) == benchmark.task_version


def test_groups_of_another_package(tmp_path, monkeypatch):
    """Their groups are known by name, too."""
    (tmp_path / "b.yaml").write_text("group: toys\ntask: [longbench_v1_lcc, longbench_v2]\n")
    one = registry.benchmarks()["longbench_v2"]
    monkeypatch.setattr(one, "task_folder", tmp_path)
    registry.forget()
    try:
        assert expanded(["toys"]) == (["longbench_v1_lcc", "longbench_v2"], [])
        assert kind_of("toys") == "group"
        assert our_group("toys", ["longbench_v1_lcc", "longbench_v2"]) is not None
    finally:
        registry.forget()


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
    assert expanded(["longbench_v1_code"])[0] == ["longbench_v1_lcc", "longbench_v1_repobench_p"]


def test_pass_two_comes_along_with_pass_one():
    assert expanded(["longbench_v2_cot"])[0] == ["longbench_v2_cot", "longbench_v2_cot_answer"]
    assert expanded(["longbench_v2_cot_answer"])[0] == ["longbench_v2_cot_answer"]


def test_names_that_are_not_ours_are_given_back():
    given = ["gsm8k", "longbench_v1_lcc", "longbench_qasper,arc_*", ""]
    assert expanded(given) == (["longbench_v1_lcc"], ["gsm8k", "longbench_qasper", "arc_*", ""])
    assert expanded([]) == ([], [])
