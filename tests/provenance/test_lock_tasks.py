"""Which tasks a name stands for, and what a lock knows of each, against the harness's own view."""

import pytest
from lm_eval.tasks._yaml_loader import load_yaml

from lm_eval_longbench.options import Options
from lm_eval_longbench.prompts.templates import template_sha256
from lm_eval_longbench.provenance.lock_tasks import (
    all_tasks,
    expanded,
    task_versions,
    valid_names,
)
from lm_eval_longbench.task_folder import task_folder

CONFIGS = {
    config.get("group") or config["task"]: config
    for config in map(load_yaml, sorted(task_folder().rglob("*.yaml")))
}
LEAVES = {name: config for name, config in CONFIGS.items() if "group" not in config}
GROUPS = sorted(set(CONFIGS) - set(LEAVES))


def test_all_our_tasks_are_known():
    assert len(LEAVES) > 90
    assert set(all_tasks()) == set(task_versions()) == set(LEAVES)
    assert valid_names() == sorted(CONFIGS)


@pytest.mark.parametrize("name", LEAVES)
def test_a_task_is_what_its_class_says(name):
    config = LEAVES[name]
    task = object.__new__(config["class"])  # as far as it goes without its data
    task._options = Options()
    task.identify(config)
    known = all_tasks()[name]
    assert known.benchmark == task.benchmark()
    assert template_sha256(*known.template) == task.template_sha256()
    assert known.dataset == str(config["dataset_name"]).removesuffix("_thinking")
    assert task_versions()[name] == str(config["metadata"]["version"])


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
