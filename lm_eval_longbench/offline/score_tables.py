"""The tables that have a headline of their own, their tasks, and how many questions those have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lm_eval_longbench.catalog import E_SPLITS, V1_SPLITS
from lm_eval_longbench.catalog_pro import QUESTIONS_PER_TASK, SECONDARY_TASKS
from lm_eval_longbench.catalog_v2 import QUESTIONS

# What `--benchmark` takes, and the benchmark it stands for.
BENCHMARKS: Mapping[str, str] = MappingProxyType(
    {
        "v1": "longbench_v1",
        "v1_e": "longbench_v1_e",
        "v2": "longbench_v2",
        "pro": "longbench_pro",
    }
)
AUTO = "auto"


@dataclass(frozen=True)
class TaskInfo:
    """One task of a table.

    Attributes:
        label: its official name: the dataset (v1, E) or the secondary task (Pro); the table's own
            name for v2.
        questions: in the official data.
        number: position in the official order, from 0.
    """

    label: str
    questions: int
    number: int


@dataclass(frozen=True)
class TableInfo:
    """One table.

    Attributes:
        name: its name.
        benchmark: one of the values of BENCHMARKS.
        number: position among the tables, from 0.
        tasks: by name, in the official order.
    """

    name: str
    benchmark: str
    number: int
    tasks: Mapping[str, TaskInfo]

    @property
    def questions(self) -> int:
        """Questions of all tasks in the official data."""
        return sum(task.questions for task in self.tasks.values())


def _tables() -> dict[str, TableInfo]:
    tasks: dict[str, list[tuple[str, str, int]]] = {
        "longbench_v1": [(split.task, split.info.name, split.rows) for split in V1_SPLITS],
        "longbench_v1_e": [(split.task, split.info.name, split.rows) for split in E_SPLITS],
    }
    benchmarks = {name: name for name in tasks}
    for mode in ("", "_no_context", "_cot", "_cot_answer", "_rag"):
        name = f"longbench_v2{mode}"
        tasks[name] = [(name, name, QUESTIONS)]
        benchmarks[name] = "longbench_v2"
    for name in ("longbench_pro", "longbench_pro_thinking"):
        tasks[name] = [
            (f"{name}_{task.code}", task.name, QUESTIONS_PER_TASK)
            for task in SECONDARY_TASKS.values()
        ]
        benchmarks[name] = "longbench_pro"
    return {
        name: TableInfo(
            name,
            benchmarks[name],
            number,
            MappingProxyType(
                {
                    task: TaskInfo(label, questions, position)
                    for position, (task, label, questions) in enumerate(own)
                }
            ),
        )
        for number, (name, own) in enumerate(tasks.items())
    }


# In the order in which they are written and shown.
TABLES: Mapping[str, TableInfo] = MappingProxyType(_tables())
_TABLE_OF = {task: table for table in TABLES.values() for task in table.tasks}


def table_of(task: object) -> TableInfo | None:
    """Return the table that a task belongs to; None for a task that is not ours."""
    return _TABLE_OF.get(task) if isinstance(task, str) else None
