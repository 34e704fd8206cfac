"""The official inference and summary files of LongBench Pro, and files without answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.catalog.read import ours
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.files import read_json
from lm_eval_longbench.records.layouts import (
    OBJECT,
    Found,
    Layout,
    OfficialFiles,
    WrittenRun,
    known_fields,
    scored_text,
)

if TYPE_CHECKING:
    from lm_eval_longbench.catalog.model import Table, Task
    from lm_eval_longbench.records.sample import Sample

_FIELDS = (
    *("id", "context", *ours("longbench_pro").counts),
    "question_nonthinking",
    "question_thinking",
)
INFERENCE = "_inference"
# Characters of the document that the official files keep.
_EXCERPT = 512


class ProFiles(OfficialFiles):
    """`output/<model>/<mode>_context-<n>_bon-<n>_inference_1-of-1.jsonl`, and `..._summary.json`.

    Source: the names and fields of the files of LongBench Pro at commit 88fbeb8.
    """

    homes = ("output",)

    def _begin(self, table: Table, run: WrittenRun) -> str:
        mode = "thinking" if table.name.endswith("_thinking") else "nonthinking"
        return f"{self.homes[0]}/{run.model}/{mode}_context-{run.limit}_bon-{run.repeats}"

    def path(self, table: Table, task: Task, run: WrittenRun, repeat: int) -> str:
        return f"{self._begin(table, run)}_inference_1-of-1.jsonl"

    def row(self, sample: Sample) -> dict[str, Any]:
        row = known_fields(sample, _FIELDS)
        if isinstance(row.get("context"), str):
            row["context"] = row["context"][:_EXCERPT]
        answer = {"answer": sample.golds, "prediction": scored_text(sample)}
        return {**row, "id": sample.id, **answer, "thinking": ""}

    def numbered(self, row: dict[str, Any], repeat: int) -> dict[str, Any]:
        return {**row, "bon_idx": repeat}

    def figures_beside(self, path: Path) -> Path:
        return path.with_name(f"{path.name.partition(INFERENCE)[0]}_summary.json")

    def figures(self, official: dict[str, Any]) -> dict[str, Any]:
        return {"date": date.today().isoformat(), **official}

    def figures_path(self, table: Table, run: WrittenRun) -> str:
        return f"{self._begin(table, run)}_summary.json"


# ---------------------------------------------------------------------- files without answers

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


LAYOUTS: tuple[Layout, ...] = (ProSummary(),)
