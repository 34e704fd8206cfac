"""Ranks among published rows, and who gets none."""

from types import SimpleNamespace

import pytest
from longbench_pro_facts import BY_CODE

from lm_eval_longbench.benchmarks.pro import PRO
from lm_eval_longbench.benchmarks.registry import benchmarks, tables
from lm_eval_longbench.reporting.published import (
    PublishedRow,
    protocol_of_run,
    rank_of,
    why_not_ranked,
)
from lm_eval_longbench.reporting.scored_run import Facts

PLACE = ("headline", "English")


def published(model, value, decimals=1, caveat=""):
    return PublishedRow(model, "", {PLACE: value}, {PLACE: decimals}, "s", caveat)


ROWS = [published("a", 50.0), published("b", 40.0), published("c", 40.0), published("d", 30.0)]


@pytest.mark.parametrize(
    ("value", "rank", "ties"),
    [
        (60.0, 1, ()),
        (50.04, 1, ("a",)),
        (50.06, 1, ()),
        (49.94, 2, ()),
        (40.0, 2, ("b", "c")),
        (39.96, 2, ("b", "c")),  # published with one digit
        (39.94, 4, ()),
        (30.0, 4, ("d",)),
        (0.0, 5, ()),
    ],
)
def test_ranks_by_hand(value, rank, ties):
    found = rank_of("run", PLACE, "", value, ROWS)
    assert (found.rank, found.of, found.ties, found.reason) == (rank, 5, ties, "")


TABLE = tables()["longbench_pro"]
TASKS = {f"longbench_pro_{code}": {"questions": 60} for code in BY_CODE}


def table(tasks=TASKS, data=("official",), ids_are_lines=False, signature=None, **counts):
    counts = {"missing": 0, "inconsistent": 0} | counts
    facts = Facts(3, data, None, {}, counts, tasks, signature=signature or {})
    return SimpleNamespace(
        facts=facts, info=TABLE, answers=SimpleNamespace(ids_are_lines=ids_are_lines)
    )


REASONS = {
    "other data": (
        table(data=("sample-5cc",), missing=None),
        "its data is not the official set (data: sample-5cc)",
    ),
    "a task short": (
        table(TASKS | {"longbench_pro_t1_1": {"questions": 59}}),
        "it is incomplete: longbench_pro_t1_1 has 59 of 60 questions",
    ),
    "most tasks missing": (
        table({"longbench_pro_t1_1": {"questions": 60}}),
        "it is incomplete: longbench_pro_t1_2 has 0 of 60 questions, longbench_pro_t2_1 has "
        "0 of 60 questions, longbench_pro_t2_2 has 0 of 60 questions and 21 more tasks",
    ),
    "too many": (
        table(TASKS | {"longbench_pro_t1_1": {"questions": 61}}),
        "it is incomplete: longbench_pro_t1_1 has 61 of 60 questions",
    ),
    "repeats": (table(inconsistent=2), "it is incomplete: 2 questions lack repeats"),
    "copies": (
        table(TASKS | {"longbench_pro_t1_1": {"questions": 60, "copies": 6}}),
        "its questions are not distinct: 6 of 60 of longbench_pro_t1_1 are copies",
    ),
    "lines that do not tell": (
        table(
            TASKS | {"longbench_pro_t1_1": {"questions": 60, "copies": None}}, ids_are_lines=True
        ),
        "its questions are not distinct: longbench_pro_t1_1 cannot be told, for its lines do not "
        "state their length",
    ),
}


@pytest.mark.parametrize(("given", "reason"), REASONS.values(), ids=REASONS.keys())
def test_why_a_run_is_not_ranked(given, reason):
    assert why_not_ranked(given, TABLE.tasks) == reason


def signatures(**changes):
    """Those of the tasks of an official run, of which some differ in `changes`."""
    own = {
        "benchmark": "longbench_pro",
        "data_sha256": PRO.source.sha256,
        "truncation": "ends_decoded_together",
        "limit": 120_000,
        "overlength": "truncate",
        "chat": "on",
        "generation": {"until": [], "max_gen_toks": 1024, "temperature": 0.7},
        "filters": None,
        "metrics": benchmarks()["longbench_pro"].metrics,
    }
    tasks = {task: {**own, "task": task} for task in TASKS}
    for task, values in changes.items():
        tasks[f"longbench_pro_{task}"] |= values
    return {"tasks": tasks}


def test_the_protocol_of_a_run():
    def found(mode="nonthinking", **changes):
        own = table(signature=signatures(**changes))
        return protocol_of_run([(own, list(TASKS))], mode)

    assert found() == ((), "")
    assert found("thinking") == (
        ("an output budget of 1024 tokens (officially 8192 or 32768)",),
        "",
    )
    assert found(t1_1={"limit": 2048}, t2_1={"limit": 2048, "chat": "off"}) == (
        (
            "prompts cut at 2048 tokens (officially cut at 120000, 200000, 224000, 272000 or "
            "1000000) in longbench_pro_t1_1, longbench_pro_t2_1",
            "chat template off (officially on) in longbench_pro_t2_1",
        ),
        "",
    )
    every = {code: {"overlength": "skip"} for code in BY_CODE}
    assert found(**every) == (("overlength skip (officially truncate)",), "")
    every = {code: {"overlength": "skip"} for code in list(BY_CODE)[:20]}
    assert found(**every)[0][0].endswith("(officially truncate) in 20 of 25 tasks")
    assert found(t1_1={"chat": "?", "data_sha256": "?"}) == ((), "not known: data, chat")
    assert protocol_of_run([(table(), list(TASKS))], "nonthinking") == ((), "protocol not known")
