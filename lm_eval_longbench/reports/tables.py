"""The tables that have a headline of their own, and the dimensions of their questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lm_eval_longbench.aggregation.length_buckets import BUCKETS
from lm_eval_longbench.catalog import E_SPLITS, V1, V1_SPLITS, E
from lm_eval_longbench.catalog_pro import BY_CODE, DIMENSIONS, QUESTIONS_PER_TASK, SECONDARY_TASKS
from lm_eval_longbench.catalog_v2 import COUNTS, QUESTIONS


@dataclass(frozen=True)
class TableInfo:
    """One table.

    Attributes:
        benchmark: tables of one benchmark stand side by side.
        title: its name in print.
        mode: what tells the table from the others of its benchmark; "" where nothing need.
        tasks: what each task is to the benchmark: the dataset (v1, E) or the secondary task (Pro);
            "" for v2, whose table is one task. Part of a question's key, so that the questions of
            two tables of one benchmark can be paired.
        questions: of each task, in the official data.
        dimensions: values of each dimension that a question has, in the official order.
    """

    benchmark: str
    title: str
    mode: str
    tasks: Mapping[str, str]
    questions: Mapping[str, int]
    dimensions: Mapping[str, tuple[str, ...]]


_V2 = {"": "longbench_v2"} | {
    mode: f"longbench_v2_{name}"
    for mode, name in {
        "no context": "no_context",
        "CoT, one call": "cot",
        "CoT": "cot_answer",
        "RAG": "rag",
    }.items()
}
_PRO = {"non-thinking prompt": "longbench_pro", "thinking prompt": "longbench_pro_thinking"}


def _tables() -> dict[str, TableInfo]:
    v1 = {split.task: split.info.name for split in V1_SPLITS}
    e = {split.task: split.info.name for split in E_SPLITS}
    v2_dimensions = {name: tuple(values) for name, values in COUNTS.items()}
    pro_dimensions = {**DIMENSIONS, "secondary_task": tuple(SECONDARY_TASKS)}
    tables = {
        "longbench_v1": TableInfo(
            "longbench_v1",
            "LongBench v1",
            "",
            v1,
            {split.task: split.rows for split in V1_SPLITS},
            {"dataset": tuple(V1)},
        ),
        "longbench_v1_e": TableInfo(
            "longbench_v1_e",
            "LongBench-E",
            "",
            e,
            {split.task: split.rows for split in E_SPLITS},
            {"dataset": tuple(E), "bucket": BUCKETS},
        ),
    }
    for mode, name in _V2.items():
        tables[name] = TableInfo(
            "longbench_v2", "LongBench v2", mode, {name: ""}, {name: QUESTIONS}, v2_dimensions
        )
    for mode, name in _PRO.items():
        tasks = {f"{name}_{code}": task.name for code, task in BY_CODE.items()}
        questions = dict.fromkeys(tasks, QUESTIONS_PER_TASK)
        tables[name] = TableInfo(
            "longbench_pro", "LongBench Pro", mode, tasks, questions, pro_dimensions
        )
    return tables


# In the order in which they are shown.
TABLES: Mapping[str, TableInfo] = MappingProxyType(_tables())
