"""The official prediction files of LongBench v1 and LongBench-E."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.benchmarks.official_files import (
    OfficialFiles,
    WrittenRun,
    known_fields,
    scored_text,
)

if TYPE_CHECKING:
    from lm_eval_longbench.benchmarks.parts import Table, Task
    from lm_eval_longbench.benchmarks.sample import Sample, Scored

_RESULT = "result.json"


class V1Files(OfficialFiles):
    """`pred/<model>/<dataset>.jsonl` and `result.json`; of E under `pred_e`.

    Source: LongBench at commit 2e00731, pred.py and eval.py.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def path(self, table: Table, task: Task, run: WrittenRun, repeat: int) -> str:
        # Officially there is one answer to a question.
        model = run.model if repeat == 1 else f"{run.model}_repeat-{repeat}"
        return f"{self._folder}/{model}/{task.label}.jsonl"

    def row(self, sample: Sample, scored: Scored, reasoning: str) -> dict[str, Any]:
        return {
            "pred": scored_text(sample, reasoning),
            "answers": sample.golds,
            "all_classes": sample.classes,
            **known_fields(sample, ("length",)),
        }

    def figures_path(self, table: Table, run: WrittenRun) -> str:
        return f"{self._folder}/{run.model}/{_RESULT}" if run.repeats == 1 else ""

    def figures_beside(self, path: Path) -> Path:
        return path.with_name(_RESULT)
