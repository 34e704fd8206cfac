"""Which data a task reads, and how to open it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lm_eval_longbench.catalog import split_of_file
from lm_eval_longbench.catalog_pro import BY_CODE, QUESTIONS_PER_TASK
from lm_eval_longbench.catalog_v2 import COUNTS, DOMAINS, QUESTIONS
from lm_eval_longbench.errors import UnknownNameError

if TYPE_CHECKING:
    from lm_eval_longbench.data.documents import Documents

# The value of the option data_dir that stands for the embedded sample.
SAMPLE = "sample"
_THINKING = "_thinking"


@dataclass(frozen=True)
class Wanted:
    """One dataset that a task reads.

    Attributes:
        task: name of the task.
        benchmark: "v1", "v2" or "pro".
        dataset: as the YAML's `dataset_name` spells it.
        data_dir: the option; None: the pinned official data.
    """

    task: str
    benchmark: str
    dataset: str
    data_dir: str | None


def official_rows(benchmark: str, dataset: str) -> int:
    """Return how many documents a dataset officially has; UnknownNameError if there is none."""
    if benchmark == "v1":
        return split_of_file(dataset).rows
    if benchmark == "pro":
        return QUESTIONS_PER_TASK
    return COUNTS["domain"][DOMAINS[dataset]] if dataset in DOMAINS else QUESTIONS


def load(wanted: Wanted) -> Documents:
    """Open a dataset that is on this machine; raises what `data.*.load` raises."""
    if wanted.benchmark == "v1":
        from lm_eval_longbench.data import longbench_v1

        return longbench_v1.load(split_of_file(wanted.dataset), wanted.data_dir)
    if wanted.benchmark == "pro":
        from lm_eval_longbench.data import longbench_pro

        code = wanted.dataset.removesuffix(_THINKING)
        if code not in BY_CODE:
            raise UnknownNameError("LongBench Pro task", code, BY_CODE)
        return longbench_pro.load(BY_CODE[code], wanted.data_dir)
    from lm_eval_longbench.data import longbench_v2

    domain = wanted.dataset if wanted.dataset in DOMAINS else None
    return longbench_v2.load(domain, wanted.data_dir)
