"""The tables and their tasks."""

import pytest

from v1_tasks import E_TASKS, V1_TASKS
from lm_eval_longbench.benchmarks.longbench_pro import SECONDARY_TASKS
from MISSING:offline.score_tables import BENCHMARKS, TABLES
from lm_eval_longbench.benchmarks.registry import table_of


def test_the_tables_in_order():
    assert list(TABLES) == [
        "longbench_v1",
        "longbench_v1_e",
        "longbench_v2",
        "longbench_v2_no_context",
        "longbench_v2_cot",
        "longbench_v2_cot_answer",
        "longbench_v2_rag",
        "longbench_pro",
        "longbench_pro_thinking",
    ]
    assert [table.number for table in TABLES.values()] == list(range(9))
    assert {table.benchmark for table in TABLES.values()} == set(BENCHMARKS.values())


def test_official_questions():
    assert {name: table.questions for name, table in TABLES.items()} == {
        "longbench_v1": 4750,
        "longbench_v1_e": 3668,
        **{name: 503 for name in TABLES if name.startswith("longbench_v2")},
        "longbench_pro": 1500,
        "longbench_pro_thinking": 1500,
    }


def test_tasks_in_the_official_order():
    v1, e, pro = (TABLES[name] for name in ("longbench_v1", "longbench_v1_e", "longbench_pro"))
    assert list(v1.tasks) == [split.name for split in V1_TASKS]
    assert list(e.tasks) == [split.name for split in E_TASKS]
    assert [task.label for task in pro.tasks.values()] == list(SECONDARY_TASKS)
    assert pro.tasks["longbench_pro_t10_1"].number == 21
    for table in TABLES.values():
        assert [task.number for task in table.tasks.values()] == list(range(len(table.tasks)))


def test_every_task_is_of_its_table():
    for table in TABLES.values():
        for task in table.tasks:
            assert table_of(task) is table


@pytest.mark.parametrize("task", ["gsm8k", "", None, 3, ["longbench_v2"], "longbench_v1"])
def test_what_is_no_task(task):
    assert table_of(task) is None
