"""The benchmarks, their tables and their tasks."""

from importlib.metadata import EntryPoint

import pytest
from longbench_pro_facts import SECONDARY_TASKS
from v1_tasks import E_TASKS, V1_TASKS

from lm_eval_longbench.benchmarks import registry
from lm_eval_longbench.benchmarks.base import Benchmark
from lm_eval_longbench.benchmarks.registry import (
    OURS,
    benchmark_of,
    benchmark_of_table,
    benchmarks,
    families,
    find_task,
    position,
    short_names,
    table_of,
    tables,
    tasks,
)
from lm_eval_longbench.errors import OptionError, UnknownNameError

TABLES = tables()


def test_the_benchmarks_and_their_names():
    assert {one.name: (one.short, one.sign, one.title) for one in OURS} == {
        "longbench_v1": ("v1", "lb-v1", "LongBench v1"),
        "longbench_v1_e": ("v1_e", "lb-e", "LongBench-E"),
        "longbench_v2": ("v2", "lb-v2", "LongBench v2"),
        "longbench_pro": ("pro", "lb-pro", "LongBench Pro"),
        "longbench_v1_retrieval": (
            *("v1_retrieval", "lb-v1-retrieval", "LongBench v1 with retrieval"),
        ),
        "longbench_v1_summary": ("v1_summary", "lb-v1-summary", "LongBench v1 with summaries"),
        "longbench_v1_2023": ("v1_2023", "lb-v1-2023", "LongBench v1, first release"),
    }
    # Variants have no files of their own, neither data nor official predictions.
    assert list(short_names()) == ["v1", "v1_e", "v2", "pro"]
    assert {name: [one.short for one in own] for name, own in families().items()} == {
        "v1": ["v1", "v1_e"],
        "v2": ["v2"],
        "pro": ["pro"],
    }


def test_official_questions():
    assert {name: table.questions for name, table in TABLES.items()} == {
        "longbench_v1": 4750,
        "longbench_v1_e": 3668,
        **{name: 503 for name in TABLES if name.startswith("longbench_v2")},
        "longbench_pro": 1500,
        "longbench_pro_thinking": 1500,
        "longbench_v1_retrieval": 7 * 200 + 150,
        "longbench_v1_summary": 800,
        "longbench_v1_2023": 200,
    }


def test_tasks_in_the_official_order():
    v1, e, pro = (TABLES[name] for name in ("longbench_v1", "longbench_v1_e", "longbench_pro"))
    assert list(v1.tasks) == [task.name for task in V1_TASKS]
    assert list(e.tasks) == [task.name for task in E_TASKS]
    assert [task.label for task in pro.tasks.values()] == list(SECONDARY_TASKS)
    assert [position(name)[0] for name in TABLES] == list(range(len(TABLES)))
    assert position("longbench_pro", "longbench_pro_t10_1")[1] == 21
    for name, table in TABLES.items():
        found = [position(name, task)[1] for task in table.tasks]
        assert found == list(range(len(found)))


@pytest.mark.parametrize("task", ["gsm8k", "", None, 3, ["longbench_v2"], "longbench_v1"])
def test_what_is_no_task(task):
    assert table_of(task) is None


def test_every_task_is_known_and_of_its_benchmark():
    assert len(tasks()) == 21 + 13 + 11 + 50 + (8 + 4 + 1)
    for name, task in tasks().items():
        own = benchmark_of(task)
        assert find_task(name) is task is own.tasks[name]
        assert benchmark_of_table(task.table) is own
        assert own.tables[task.table].tasks[task.counted].table == task.table
        assert task.questions > 0 and task.budget > 0


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("longbench_v1_repobench-p", "longbench_v1_repobench_p"),
        ("longbench_v1_e_gov_reprot", "longbench_v1_e_gov_report"),
        ("qasper", None),
    ],
)
def test_unknown_names(name, nearest):
    with pytest.raises(UnknownNameError, match=repr(name)) as caught:
        find_task(name)
    assert "Did you mean" in str(caught.value)
    if nearest:
        assert f"Did you mean {nearest!r}?" in str(caught.value)
    with pytest.raises(UnknownNameError, match="Did you mean 'longbench_pro'"):
        benchmark_of_table("longbench_prof")


# ---------------------------------------------------------------------- of other packages


class Fifth(type(OURS[2])):
    """LongBench v2 once more, under another name."""

    short, sign = "v5", "lb-v5"

    def __init__(self):
        super().__init__()
        self.name = "fifth"
        self.tables = _renamed(self.tables)
        self.tasks = _renamed(self.tasks)


def _renamed(named):
    return {name.replace("longbench_v2", "fifth"): own for name, own in named.items()}


@pytest.fixture
def install(monkeypatch):
    """Have an entry point that names an object."""

    def run(thing):
        point = EntryPoint("mine", "my_package:OBJECT", registry.ENTRY_POINTS)
        monkeypatch.setattr(EntryPoint, "load", lambda self: thing)
        monkeypatch.setattr(registry, "entry_points", lambda group: [point])
        registry.forget()

    yield run
    registry.forget()


def test_another_package_adds_a_benchmark_behind_ours(install):
    fifth = Fifth()
    install(fifth)
    assert tuple(benchmarks().values()) == (*OURS, fifth)
    assert isinstance(fifth, Benchmark)


@pytest.mark.parametrize("thing", [5, Fifth, "text"])
def test_what_is_no_benchmark_is_refused(install, thing):
    install(thing)
    with pytest.raises(
        OptionError, match=r"mine of lm_eval_longbench.benchmarks, my_package:OBJECT, .* it is no"
    ):
        benchmarks()


@pytest.mark.parametrize(
    ("where", "name"),
    [
        ("name", "longbench_v2_cot"),  # a table
        ("short", "v1_e"),
        ("sign", "lb-pro"),
        ("tables", {"longbench_v1": None}),
        ("tasks", {"longbench_pro_t1_1": None}),
        ("tasks", {"longbench_v2_domains": None}),  # a group
        ("tasks", {"longbench_v1_code": None}),  # a tag
    ],
)
def test_a_name_that_is_taken_is_refused(install, where, name):
    fifth = Fifth()
    setattr(fifth, where, name)
    install(fifth)
    taken = name if isinstance(name, str) else next(iter(name))
    with pytest.raises(OptionError, match=f"another one has names of it: {taken}. Rename"):
        benchmarks()


def test_a_package_that_cannot_be_imported_is_named(monkeypatch):
    point = EntryPoint("mine", "no_such_package:OBJECT", registry.ENTRY_POINTS)
    monkeypatch.setattr(registry, "entry_points", lambda group: [point])
    registry.forget()
    with pytest.raises(OptionError, match=r"mine of .*, no_such_package:OBJECT, .* ModuleNotF"):
        benchmarks()
    registry.forget()


def test_whose_questions_share_documents():
    sharing = {one.name for one in registry.OURS if one.shares_documents}
    assert {one.name for one in registry.OURS} - sharing == {"longbench_v2"}
