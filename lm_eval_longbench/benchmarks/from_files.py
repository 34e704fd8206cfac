"""A benchmark of a user's own that needs no Python: task files, gold answers, a metric of ours."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.benchmarks.base import Benchmark
from lm_eval_longbench.benchmarks.charts import Look
from lm_eval_longbench.benchmarks.pro import PRO
from lm_eval_longbench.benchmarks.v1 import V1, LongBenchV1
from lm_eval_longbench.benchmarks.v2 import V2
from lm_eval_longbench.catalog.model import Task
from lm_eval_longbench.catalog.presets import PresetTable
from lm_eval_longbench.catalog.read import defined_by
from lm_eval_longbench.catalog.users import whole
from lm_eval_longbench.errors import OptionError, UnknownNameError
from lm_eval_longbench.metrics.letter import judge
from lm_eval_longbench.metrics.lists import ITEM_METRICS
from lm_eval_longbench.metrics.reasoning import DROP, answer_of
from lm_eval_longbench.metrics.summary import sample_failed
from lm_eval_longbench.metrics.summary import score_sample as score_items
from lm_eval_longbench.metrics.text import CLASSIFICATION, METRICS
from lm_eval_longbench.prompts.render import fields_of
from lm_eval_longbench.records.sample import Sample, Scored

if TYPE_CHECKING:
    from lm_eval_longbench.data.open import Documents

LETTER = "letter"


class FromFiles(LongBenchV1):
    """Gold answers in JSON Lines files; figures as those of LongBench v1, its headline's own.

    Args:
        leaves: what the file of each task says.
        where: their folder; or the results that carry them, which have no data beside them.
    """

    metrics = f"{V1.metrics}-{V2.metrics}-{PRO.metrics}"
    presets: PresetTable | None = None
    official_files = published = None
    layouts = ()
    look = Look()
    file_names = "none"
    is_prepared = False

    def __init__(self, leaves: Iterable[Mapping[str, Any]], where: Path) -> None:
        told = {leaf["task"]: leaf for leaf in (whole(own, where) for own in leaves)}
        self.name = next(iter(told.values()))["benchmark"]
        self.short = self.sign = self.title = self.prepared_as = self.name
        self.file_kind = f"{self.name}_predictions"
        for name, leaf in told.items():
            if leaf.get("metric") not in self._metrics():
                known = UnknownNameError("metric", leaf.get("metric"), self._metrics())
                raise OptionError(f"{name}: its file must name a metric of ours. {known}")
        needed = {own for leaf in told.values() for own in fields_of(leaf["doc_to_text"])}
        classes = any(leaf["metric"] == "classification" for leaf in told.values())
        self.kinds = {"answers": "texts", **({"all_classes": "texts"} if classes else {})}
        self.fields = tuple(sorted(needed | {"_id", "context"} | self.kinds.keys()))
        # Converted data has these fields alone.
        fields = hashlib.sha256(json.dumps(self.fields).encode()).hexdigest()
        self.family = f"{self.name}-{fields[:8]}"
        self.where, self.samples = where, where / "sample"
        super().__init__(defined_by(self.name, told, dict.fromkeys(told, where)))

    @property
    def definition(self) -> dict[str, Any]:
        """What results carry of it: what all tasks say, and by task what each says besides."""
        first, *others = leaves = self.defined.leaves.values()
        common = {
            key: value
            for key, value in first.items()
            if all(own.get(key) == value for own in others)
        }
        tasks = {
            leaf["task"]: {key: own for key, own in leaf.items() if key not in common}
            for leaf in leaves
        }
        return {"all": common, "tasks": tasks}

    @staticmethod
    def _metrics() -> tuple[str, ...]:
        return (*METRICS, CLASSIFICATION, *ITEM_METRICS, LETTER)

    def metrics_of(self, task: Task) -> Sequence[str]:
        return self._metrics()

    def load(self, task: Task, data_dir: str | None) -> Documents:
        """Open the pinned data, that of a user, or if nothing is pinned what is beside the files.

        Raises DataError as `Benchmark.load` does.
        """
        if data_dir is None and not self.source.sha256:
            data_dir = str(self.where if self.where.is_dir() else self.where.parent)
        return super().load(task, data_dir)

    def row_problem(self, row: Any) -> str | None:
        return Benchmark.row_problem(self, row)

    def score(self, sample: Sample, reasoning: str = DROP, *, extras: bool = False) -> Scored:
        """Return what an answer is worth by its metric, of whichever of our benchmarks that is."""
        metric = sample.shown.get("scored_by", self.tasks[sample.task].metric)
        answer, shown = answer_of(sample.response or "", reasoning), sample.shown
        if metric in ITEM_METRICS:
            worth = score_items(metric, "English", answer, sample.golds)
            assert isinstance(worth, float)  # no summary
            return Scored(worth, sample_failed(metric, answer, sample.golds), shown)
        if metric == LETTER:
            verdict = judge(sample.response or "", sample.golds[0], reasoning)
            return Scored(verdict.accuracy, verdict.failed, shown)
        return super().score(sample, reasoning, extras=extras)

    def is_official_row(self, row: Mapping[str, Any], stem: str) -> bool:
        return False

    def is_official_name(self, stem: str) -> bool:
        return False
