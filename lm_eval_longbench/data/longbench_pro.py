"""Load a secondary task of LongBench Pro: pinned, from a local copy, or the sample."""

from __future__ import annotations

import datasets

from lm_eval_longbench.catalog_pro import COUNTS, SECONDARY_TASKS, SecondaryTask
from lm_eval_longbench.data.array_benchmark import ArrayBenchmark
from lm_eval_longbench.data.documents import Documents
from lm_eval_longbench.data.load_array import open_array
from lm_eval_longbench.data.rows_pro import FIELDS, problem_of
from lm_eval_longbench.data.sources import LONGBENCH_PRO

BENCHMARK = ArrayBenchmark(
    source=LONGBENCH_PRO,
    name="longbench_pro",
    fields=FIELDS,
    problem_of=problem_of,
    features=datasets.Features(
        {
            name: datasets.Sequence(datasets.Value("string"))
            if name == "answer"
            else datasets.Value("string")
            for name in FIELDS
        }
    ),
    counts=COUNTS,
    arrow_file=lambda row: SECONDARY_TASKS[row["secondary_task"]].code,
)


def load(task: SecondaryTask, data_dir: str | None = None) -> Documents:
    """Return the questions of one secondary task, in the order of the file.

    The first call for a file converts it for all tasks; later ones only map one task's rows.

    Args:
        task: the secondary task.
        data_dir: None: the pinned official file; "sample": the embedded sample; else a folder with
            `longbench_pro.json`, or such a file.

    Raises:
        DataError: the data is not there, damaged, has no rows of the task, or (pinned) is not what
            is pinned.
    """
    data = open_array(BENCHMARK, data_dir)
    data.require("secondary_task", task.name)
    return data.documents(task.code)
