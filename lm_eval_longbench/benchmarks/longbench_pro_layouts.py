"""Files of LongBench Pro that hold figures and no answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.benchmarks.layouts import OBJECT, Found, Layout
from lm_eval_longbench.benchmarks.longbench_pro_official import INFERENCE
from lm_eval_longbench.benchmarks.sample import Read, Unusable
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.input_files import read_json

if TYPE_CHECKING:
    from lm_eval_longbench.benchmarks.parts import Table

_END = "_summary.json"


class ProSummary(Layout):
    """`output/<model>/<mode>_context-<n>_bon-<n>_summary.json`, alone."""

    name = "LongBench Pro"
    title = "the summary of LongBench Pro's official evaluation"
    form = OBJECT
    pattern = re.compile(rf".+_bon-\d+{re.escape(_END)}")

    def find(self, row: Mapping[str, Any], path: Path) -> Found | str | None:
        begin = path.name.removesuffix(_END) + INFERENCE
        if any(own.name.startswith(begin) for own in path.parent.iterdir()):
            return None  # it is compared with the figures of these answers
        whole = read_json(path, PredictionError)
        overall, questions = whole.get("average_overall_metric"), whole.get("total_questions_num")
        if not isinstance(overall, float) or not isinstance(questions, int):
            return None
        return (
            f"is {self.title}, of {questions:,} questions, overall {100 * overall:.2f} %: figures "
            f"without answers; the answers are in {begin}*.jsonl"
        )

    def read(self, row: Mapping[str, Any], index: int, table: Table, task: str) -> Read:
        return Unusable("holds no answers")


LAYOUTS: tuple[Layout, ...] = (ProSummary(),)
