"""Figures of groups: plain or weighted by size, as each group is defined."""

import math
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lm_eval_longbench.benchmarks import registry
from lm_eval_longbench.benchmarks.registry import kind_of, our_group
from lm_eval_longbench.catalog.model import Group
from lm_eval_longbench.logs.results_file import ResultsFile, TaskResult
from lm_eval_longbench.verify.check import CONFIRMED, DIFFERENT, NOT_CHECKABLE, OFFICIAL
from lm_eval_longbench.verify.results import _MOST, _times, check_groups

PLAIN, WEIGHTED = 0.5, 0.25
KEY, ERROR = "score,none", "score_stderr,none"
FIGURES = (
    {KEY: 0.0, ERROR: 0.1, "sample_len": 30},
    {KEY: 1.0, ERROR: 0.2, "sample_len": 10},
)
TASKS = dict(zip(("one", "two"), FIGURES, strict=True))
PLAIN_ERROR = math.sqrt(0.1**2 + 0.2**2) / 2
# The harness's pooled variance, written out for two tasks.
WEIGHTED_ERROR = math.sqrt((29 * 0.1**2 * 30 + 9 * 0.2**2 * 10) / 38 / 40)
CODE = ["longbench_v1_lcc", "longbench_v1_repobench_p"]
T3 = ["longbench_pro_t3_1", "longbench_pro_t3_2"]


@pytest.fixture(autouse=True)
def two_groups(monkeypatch):
    """Two groups of ours of two tasks each."""
    groups = {
        "longbench_v1_code": Group("longbench_v1_code", tuple(CODE), "1.1", {"score": False}),
        "longbench_pro_t3": Group("longbench_pro_t3", tuple(T3), "1.1", {"score": True}),
    }
    before = registry._groups()
    monkeypatch.setattr(registry, "_groups", lambda: {**before, **groups})


def task(name):
    return TaskResult(Path(), name, {}, {}, {"metadata": {}}, None, None, "", None, None, None, {})


def checks(group, figures, verified=None, members=None, tasks=TASKS, copy=True):
    """The checks of a group over some tasks, by name."""
    members = members or {group: list(tasks)}
    whole = {
        "results": {**tasks, group: figures},
        "groups": {group: dict(figures)} if copy else {},
        "group_subtasks": members,
        "configs": {},
    }
    results = ResultsFile(Path("results.json"), [task(name) for name in tasks], (), whole)
    found = check_groups(results, tasks if verified is None else verified)
    return {check.name: check for place, check in found if place == group}


def status(group, figures, *arguments, **named):
    """The status of each figure that is stated."""
    found = checks(group, figures, *arguments, **named)
    return {key: found[key].status for key in figures if "," in key}


@pytest.mark.parametrize(
    ("group", "names", "weighted", "plain"),
    [
        ("longbench_v1_code", CODE, DIFFERENT, CONFIRMED),
        ("longbench_pro_t3", T3, CONFIRMED, DIFFERENT),
        ("a_users_own", CODE, CONFIRMED, CONFIRMED),
        # A name that only begins like ours is a user's own (A4).
        ("longbench_v1_mine", CODE, CONFIRMED, CONFIRMED),
        ("longbench_pro_mine", T3, CONFIRMED, CONFIRMED),
        # Our name with other members is a user's own, too.
        ("longbench_v1_code", CODE[::-1], CONFIRMED, CONFIRMED),
        ("longbench_v1_code", ["one", "two"], CONFIRMED, CONFIRMED),
    ],
)
def test_how_groups_weigh(group, names, weighted, plain):
    tasks = dict(zip(names, FIGURES, strict=True))
    both = {KEY: WEIGHTED, ERROR: WEIGHTED_ERROR}
    assert status(group, both, tasks=tasks) == {KEY: weighted, ERROR: weighted}
    assert status(group, {KEY: PLAIN, ERROR: PLAIN_ERROR}, tasks=tasks) == {
        KEY: plain,
        ERROR: plain,
    }
    assert status(group, {KEY: 0.3}, tasks=tasks) == {KEY: DIFFERENT}


def test_our_name_with_other_members_is_not_our_figure():
    tasks = dict(zip(CODE, FIGURES, strict=True))
    assert "members" not in checks("longbench_v1_code", {KEY: PLAIN}, tasks=tasks)
    said = checks("longbench_v1_code", {KEY: 0.0}, tasks={CODE[0]: FIGURES[0]})["members"]
    assert (said.kind, said.status) == (OFFICIAL, NOT_CHECKABLE)
    assert "has this name, and other members" in said.meaning


def test_what_is_known_of_our_groups():
    assert kind_of("longbench_v1_summary") == "group"
    assert [kind_of(name) for name in ("longbench_v1_lcc", "longbench_v1_mine")] == ["task", "task"]
    assert kind_of("longbench_v1_few_shot") == "tag"
    parts = ["gov_report", "qmsum", "multi_news", "vcsum"]
    found = our_group("longbench_v1_summary", [f"longbench_v1_summary_{name}" for name in parts])
    assert (found.weights, found.version) == ({"score": False}, "1.1")
    assert our_group("longbench_v1_summary", ["longbench_v1_summary_vcsum"]) is None
    assert our_group("longbench_v1_lcc", []) is None


def test_groups_in_groups():
    members = {"outer": ["inner", "two"], "inner": ["one"]}
    assert status("outer", {KEY: PLAIN}, members=members) == {KEY: CONFIRMED}
    # The harness counts a task as often as ways lead to it.
    members = {"outer": ["inner", "two"], "inner": ["one", "two"]}
    assert status("outer", {KEY: 2 / 3}, members=members) == {KEY: CONFIRMED}
    assert status("outer", {KEY: 20 / 50}, members=members) == {KEY: CONFIRMED}
    assert status("outer", {KEY: PLAIN}, members=members) == {KEY: DIFFERENT}
    # One that contains itself is none.
    for circle in ({"outer": ["outer", "one"]}, {"outer": ["in"], "in": ["one", "outer"]}):
        assert checks("outer", {KEY: PLAIN}, members=circle)["members"].status == DIFFERENT


def test_groups_nested_without_end():
    """Each level doubles the ways to the tasks: they are not counted one by one."""
    members = {f"g{n}": [f"g{n + 1}", f"h{n + 1}"] for n in range(60)}
    members |= {f"h{n}": [f"g{n + 1}", f"h{n + 1}"] for n in range(60)}
    members |= {"g60": ["one"], "h60": ["two"]}
    found = checks("g0", {KEY: PLAIN}, members=members)
    assert found["members"].status == NOT_CHECKABLE


def test_what_is_not_recomputed_is_not_confirmed():
    verified = {"one": TASKS["one"]}
    assert status("g", {KEY: PLAIN}, verified) == {KEY: NOT_CHECKABLE}
    assert status("g", {KEY: 0.3}, verified) == {KEY: DIFFERENT}


def test_figures_that_follow_from_nothing():
    """A figure that no task has was added (V4)."""
    figures = {"other,none": 0.5, ERROR: "N/A", "sample_len": 40, "plain": 3}
    found = checks("g", figures)
    assert {name: found[name].status for name in ("other,none", "plain")} == {
        "other,none": DIFFERENT,
        "plain": DIFFERENT,
    }
    assert found[ERROR].status == DIFFERENT  # both tasks have one
    assert status("g", {KEY: "high"}) == {KEY: DIFFERENT}
    no_error = {name: {KEY: 0.5, ERROR: "N/A", "sample_len": 3} for name in TASKS}
    assert status("g", {KEY: 0.5, ERROR: "N/A"}, tasks=no_error)[ERROR] == CONFIRMED
    assert status("g", {KEY: 0.5, ERROR: 0.1}, tasks=no_error)[ERROR] == DIFFERENT


def test_figures_of_our_groups_that_were_taken_out():
    tasks = dict(zip(CODE, FIGURES, strict=True))
    assert checks("longbench_v1_code", {"sample_len": 40}, tasks=tasks)["score"].status == DIFFERENT
    assert "score" not in checks("a_users_own", {"sample_len": 40}, tasks=tasks)


def test_what_cannot_be_put_together():
    nan = {**TASKS, "two": {KEY: math.nan, "sample_len": 10}}
    assert status("g", {KEY: math.nan}, nan, tasks=nan) == {KEY: CONFIRMED}
    for size in (None, 0, -3, 0.5, True):
        no_size = {name: {KEY: 0.5, "sample_len": size} for name in TASKS}
        assert status("g", {KEY: 0.5}, tasks=no_size) == {KEY: NOT_CHECKABLE}
    huge = {name: {KEY: 1e308, ERROR: 1e200, "sample_len": 3} for name in TASKS}
    assert set(status("g", {KEY: 0.5, ERROR: 0.5}, tasks=huge).values()) == {DIFFERENT}


def test_counts_and_the_second_copy():
    figures = {"name": "g", KEY: PLAIN, "sample_len": 40, "sample_count": {KEY: 40}}
    found = checks("g", figures)
    assert {check.status for check in found.values()} == {CONFIRMED}
    assert {"sample_len", "sample_count", "copy"} <= set(found)
    for changed in ({"sample_len": 41}, {"sample_count": {KEY: 41}}, {"sample_count": {}}):
        ((name, check),) = [
            (name, own)
            for name, own in checks("g", figures | changed).items()
            if own.status != CONFIRMED
        ]
        assert (name, check.status) == (*changed, DIFFERENT)
    assert checks("g", figures, copy=False)["copy of name"].status == DIFFERENT


def test_groups_of_others_are_passed_over():
    whole = {
        "results": {"arc": {KEY: 1.0}, "g": {KEY: 0.3}},
        "group_subtasks": {"g": ["arc"]},
        "configs": {},
    }
    assert list(check_groups(ResultsFile(Path(), (), ("arc",), whole), {})) == []


def ways_by_hand(name, members):
    """Each task as often as reading on from the group meets it."""
    if name not in members:
        return Counter([name])
    return sum((ways_by_hand(one, members) for one in members[name]), Counter())


@settings(max_examples=200)
@given(st.data())
def test_tasks_of_nested_groups_are_counted_by_every_way(data):
    names = [f"g{number}" for number in range(6)]
    members = {
        # A group holds later groups and tasks only, so that there is no circle.
        name: data.draw(st.lists(st.sampled_from([*names[place + 1 :], "a", "b", "c"]), max_size=4))
        for place, name in enumerate(names)
    }
    for name in names:
        assert _times(name, members) == ways_by_hand(name, members)


def test_nesting_costs_what_its_groups_cost():
    twice = {f"g{number}": [f"g{number + 1}"] * 2 for number in range(5000)}
    assert _times("g0", twice) == {"g5000": _MOST}
    pairs = {f"g{n}": [f"g{n + 1}", f"g{n + 2}", f"t{n}"] for n in range(2000)}
    assert len(_times("g0", pairs)) == 2002


def test_a_group_that_contains_itself():
    assert _times("a", {"a": ["a"]}) is None
    assert _times("a", {"a": ["b", "one"], "b": ["a", "two"]}) is None
