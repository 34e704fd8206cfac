"""Figures of groups: plain or weighted by size, as each group is defined."""

import math
from itertools import cycle
from pathlib import Path

import pytest

from lm_eval_longbench.benchmarks.registry import benchmarks, kind_of, our_group
from lm_eval_longbench.check.figures import Figures, check_groups
from lm_eval_longbench.check.verification import CONFIRMED, DIFFERENT, NOT_CHECKABLE, OFFICIAL
from lm_eval_longbench.logs.results_file import ResultsFile

PLAIN, WEIGHTED = 0.5, 0.25
KEY = "score,none"
SIZES = {0.0: 30, 1.0: 10}
V1 = list(benchmarks()["longbench_v1"].tasks)
PRO = [name for name in benchmarks()["longbench_pro"].tasks if "thinking" not in name]
TWO = ["longbench_v1_lcc", "longbench_v1_repobench_p"]


def checks(group, found, names=("one", "two"), members=None, recomputed=None):
    """The checks of a group of two tasks, which have 0 and 1, by name."""
    values = dict(zip(names, cycle(SIZES), strict=False))
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
        ("longbench_pro", PRO, CONFIRMED, DIFFERENT),
        ("a_users_own", TWO, CONFIRMED, CONFIRMED),
        # Our name with other members is a user's own.
        ("longbench_v1", V1[::-1], CONFIRMED, CONFIRMED),
    ],
)
def test_how_groups_weigh(group, names, weighted, plain):
    own = [value for value, _ in zip(cycle(SIZES), names, strict=False)]
    sizes = [SIZES[value] for value in own]
    total = sum(value * size for value, size in zip(own, sizes, strict=True)) / sum(sizes)
    assert checks(group, total, names)[KEY].status == weighted
    assert checks(group, sum(own) / len(own), names)[KEY].status == plain
    assert checks(group, 0.9, names)[KEY].status == DIFFERENT


def test_our_name_with_other_members_is_not_our_figure():
    assert "members" not in checks("longbench_v1", PLAIN, V1)
    said = checks("longbench_v1", 0.0, V1[:1])["members"]
    assert (said.kind, said.status) == (OFFICIAL, NOT_CHECKABLE)


def test_what_is_known_of_our_groups():
    assert kind_of("longbench_v1") == "group" and kind_of("longbench_v1_lcc") == "task"
    assert our_group("longbench_v1", V1).weights == {}  # papers print no mean of its tasks
    assert our_group("longbench_pro", PRO).weights["pass_at_n"] is True
    assert our_group("longbench_v1", ["longbench_v1_code"]) is None
    assert our_group("longbench_v1_lcc", []) is None


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
