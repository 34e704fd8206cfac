"""Figures of groups: plain or weighted by size, as each group is defined."""

import math
from pathlib import Path

import pytest

from lm_eval_longbench.logs.results_file import ResultsFile
from lm_eval_longbench.task_names import group_weights, is_group
from lm_eval_longbench.verify.check import CONFIRMED, DIFFERENT, NOT_CHECKABLE, OFFICIAL
from lm_eval_longbench.verify.figures import Figures, check_groups

PLAIN, WEIGHTED = 0.5, 0.25
KEY = "score,none"
SIZES = {0.0: 30, 1.0: 10}
CODE = ["longbench_v1_lcc", "longbench_v1_repobench_p"]
T3 = ["longbench_pro_t3_1", "longbench_pro_t3_2"]


def checks(group, found, names=("one", "two"), members=None, recomputed=None):
    """The checks of a group of two tasks, which have 0 and 1, by name."""
    values = dict(zip(names, SIZES, strict=False))
    tasks = {name: {KEY: own, "sample_len": SIZES[own]} for name, own in values.items()}
    whole = {
        "results": {**tasks, group: {KEY: found, "sample_len": 40}},
        "group_subtasks": members or {group: list(names)},
        "configs": {},
    }
    figures = {name: Figures({}, {KEY: [own]}) for name, own in values.items()}
    if recomputed is not None:
        figures = {name: own for name, own in figures.items() if name in recomputed}
    results = ResultsFile(Path("results.json"), (), (), whole)
    return {check.name: check for place, check in check_groups(results, figures) if place == group}


@pytest.mark.parametrize(
    ("group", "names", "weighted", "plain"),
    [
        ("longbench_v1_code", CODE, DIFFERENT, CONFIRMED),
        ("longbench_pro_t3", T3, CONFIRMED, DIFFERENT),
        ("a_users_own", CODE, CONFIRMED, CONFIRMED),
        # Our name with other members is a user's own.
        ("longbench_v1_code", CODE[::-1], CONFIRMED, CONFIRMED),
    ],
)
def test_how_groups_weigh(group, names, weighted, plain):
    assert checks(group, WEIGHTED, names)[KEY].status == weighted
    assert checks(group, PLAIN, names)[KEY].status == plain
    assert checks(group, 0.3, names)[KEY].status == DIFFERENT


def test_our_name_with_other_members_is_not_our_figure():
    assert "members" not in checks("longbench_v1_code", PLAIN, CODE)
    said = checks("longbench_v1_code", 0.0, CODE[:1])["members"]
    assert (said.kind, said.status) == (OFFICIAL, NOT_CHECKABLE)


def test_what_is_known_of_our_groups():
    assert is_group("longbench_v1_code") and not is_group("longbench_v1_lcc")
    assert group_weights("longbench_v1_code", CODE) == {"score": False}
    assert group_weights("longbench_pro_t3", T3)["pass_at_n"] is True
    assert group_weights("longbench_v1", ["longbench_v1_code"]) is None
    assert group_weights("longbench_v1_lcc", []) is None


def test_groups_in_groups():
    """The harness counts a task as often as ways lead to it."""
    for inner, found in ((["one"], PLAIN), (["one", "two"], 2 / 3), (["one", "two"], 20 / 50)):
        members = {"outer": ["inner", "two"], "inner": inner}
        assert checks("outer", found, members=members)[KEY].status == CONFIRMED


def test_what_is_not_recomputed_is_not_confirmed():
    assert checks("g", PLAIN, recomputed=["one"])[KEY].status == NOT_CHECKABLE
    assert checks("g", 0.3, recomputed=["one"])[KEY].status == DIFFERENT
    assert checks("g", PLAIN, recomputed=[]) == {}  # a group of other tasks
    assert checks("g", math.nan, names=("one",))[KEY].status == DIFFERENT
