"""Figures of groups: plain or weighted by size, as each group is defined."""

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lm_eval_longbench.provenance.check import CONFIRMED, DIFFERENT, NOT_CHECKABLE
from lm_eval_longbench.provenance.check_groups import _leaves, check_groups
from lm_eval_longbench.provenance.read_results import ResultsFile

PLAIN, WEIGHTED = 0.5, 0.25
TASKS = {
    "one": {"score,none": 0.0, "score_stderr,none": 0.1, "sample_len": 30},
    "two": {"score,none": 1.0, "score_stderr,none": 0.2, "sample_len": 10},
}
PLAIN_ERROR = math.sqrt(0.1**2 + 0.2**2) / 2
# The harness's pooled variance, written out for two tasks.
WEIGHTED_ERROR = math.sqrt((29 * 0.1**2 * 30 + 9 * 0.2**2 * 10) / 38 / 40)


def status(group, figures, verified=None, members=None, tasks=TASKS):
    """Status of each figure of a group with two tasks."""
    results = ResultsFile(
        Path("results.json"),
        tasks=(),
        foreign=0,
        results={**tasks, group: figures},
        groups={},
        members=members or {group: ["one", "two"]},
    )
    found = check_groups(results, TASKS if verified is None else verified)
    return {check.name: check.status for _, check in found}


@pytest.mark.parametrize(
    ("group", "weighted", "plain"),
    [
        ("longbench_v1_single_doc_qa", DIFFERENT, CONFIRMED),
        ("longbench_v1_e_code", DIFFERENT, CONFIRMED),
        ("longbench_pro_t1", CONFIRMED, DIFFERENT),
        ("longbench_v2_domains", CONFIRMED, DIFFERENT),
        ("a_users_own", CONFIRMED, CONFIRMED),
    ],
)
def test_how_groups_weigh(group, weighted, plain):
    key, error = "score,none", "score_stderr,none"
    assert status(group, {key: WEIGHTED, error: WEIGHTED_ERROR}) == {key: weighted, error: weighted}
    assert status(group, {key: PLAIN, error: PLAIN_ERROR}) == {key: plain, error: plain}
    assert status(group, {key: 0.3}) == {key: DIFFERENT}


def test_groups_in_groups():
    members = {"outer": ["inner", "two"], "inner": ["one", "two"]}
    assert status("outer", {"score,none": PLAIN}, members=members) == {"score,none": CONFIRMED}
    # One that contains itself ends.
    circle = {"outer": ["outer", "one", "two"]}
    assert status("outer", {"score,none": 0.3}, members=circle)["score,none"] != CONFIRMED


def test_what_is_not_recomputed_is_not_confirmed():
    verified = {"one": TASKS["one"]}
    assert status("g", {"score,none": PLAIN}, verified) == {"score,none": NOT_CHECKABLE}
    assert status("g", {"score,none": 0.3}, verified) == {"score,none": DIFFERENT}


def test_what_cannot_be_put_together():
    figures = {"other,none": 0.5, "score_stderr,none": "N/A", "sample_len": 40}
    assert status("g", figures) == {"other,none": NOT_CHECKABLE}
    nan = {**TASKS, "two": {"score,none": math.nan, "sample_len": 10}}
    assert status("g", {"score,none": math.nan}, nan, tasks=nan) == {"score,none": CONFIRMED}
    no_size = {name: {"score,none": 0.5} for name in TASKS}
    assert status("g", {"score,none": 0.5}, tasks=no_size) == {"score,none": NOT_CHECKABLE}


def leaves_by_hand(name, members):
    """Each task in the order in which reading on from the group meets it first."""
    if name not in members:
        return [name]
    return list(dict.fromkeys(own for one in members[name] for own in leaves_by_hand(one, members)))


@settings(max_examples=200)
@given(st.data())
def test_tasks_of_nested_groups_come_once_and_in_order(data):
    names = [f"g{number}" for number in range(6)]
    members = {
        # A group holds later groups and tasks only, so that there is no circle.
        name: data.draw(st.lists(st.sampled_from([*names[place + 1 :], "a", "b", "c"]), max_size=4))
        for place, name in enumerate(names)
    }
    for name in names:
        assert _leaves(name, members, ()) == leaves_by_hand(name, members)


def test_nesting_costs_what_its_groups_cost():
    twice = {f"g{number}": [f"g{number + 1}"] * 2 for number in range(5000)}
    assert _leaves("g0", twice, ()) == ["g5000"]
    pairs = {f"g{n}": [f"g{n + 1}", f"g{n + 2}", f"t{n}"] for n in range(2000)}
    assert len(_leaves("g0", pairs, ())) == 2002


def test_a_group_is_no_task_of_itself():
    assert _leaves("a", {"a": ["a"]}, ()) == []
    assert _leaves("a", {"a": ["b", "one"], "b": ["a", "two"]}, ()) == ["two", "one"]
    assert status("g", {"score,none": 0.3}, members={"g": ["g"]}) == {"score,none": NOT_CHECKABLE}
