"""What the checks of a task look at: its entry in the results file, its log, and its data here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lm_eval_longbench.benchmarks.base import Benchmark
from lm_eval_longbench.benchmarks.registry import benchmark_of, find_task, read_options
from lm_eval_longbench.benchmarks.results import ResultsFile, TaskResult
from lm_eval_longbench.catalog.model import Task
from lm_eval_longbench.catalog.users import KEY as DEFINITION
from lm_eval_longbench.catalog.users import changed
from lm_eval_longbench.data.open import MISSING, Documents, select, stored
from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.records.log import LogRow, read_log
from lm_eval_longbench.signature.signature import is_local, is_sample, package_versions


@dataclass(frozen=True)
class LoggedTask:
    """A task of a results file that this package knows, and what its checks look at.

    What is not here is a text that says why. Nothing is downloaded.

    Attributes:
        result: what the results file says of it.
        rows: of its sample log; empty without one.
        results: the whole file.
        data_dir: where local data is; None: nobody says.
    """

    result: TaskResult
    rows: Sequence[LogRow]
    results: ResultsFile
    data_dir: str | None

    @property
    def run(self) -> Mapping[str, Any]:
        """The ingredients of its signature, as it wrote them."""
        return self.result.run

    @cached_property
    def own(self) -> Task:
        """The task of this package that it signs as, with what a user's task file changes."""
        definition = self.result.metadata.get(DEFINITION) or {}
        return changed(find_task(str(self.run.get("task"))), definition)

    @cached_property
    def benchmark(self) -> Benchmark:
        """Its benchmark."""
        return benchmark_of(self.own)

    def other_package(self, name: str) -> str:
        """Return the version of a package in the run, if another one is here; "": it is not."""
        recorded = (self.run.get("packages") or {}).get(name)
        return "" if recorded == package_versions()[name] else str(recorded)

    @property
    def other_jieba(self) -> str:
        """That another jieba segments the answers here than in the run; "": none does."""
        if not self.own.segmented or not self.other_package("jieba"):
            return ""
        return (
            f"Recomputed with jieba {package_versions()['jieba']} instead of "
            f"{self.other_package('jieba')}, which segments the answers."
        )

    @property
    def scored_by_others(self) -> str:
        """Why other scores need not be wrong; "": the same rules made them."""
        metrics, ours = self.run.get("metrics"), self.benchmark.metrics
        if metrics != ours:
            return f"Scored with metrics {metrics}; this package has {ours}."
        return self.other_jieba

    @cached_property
    def data(self) -> Documents | str:
        """The data that its signature names."""
        label, place = self.run.get("data"), self.data_dir
        own = self.benchmark.asked(self.own, self.result.config.get("dataset_name")) or self.own
        if is_sample(label):
            place = "sample"
        elif is_local(label) and place is None:
            return "It is a file of the user's own: name it with the option data_dir."
        try:
            if not is_sample(label) and not is_local(label):
                if stored([self.benchmark], [own.dataset]).state != MISSING:
                    place = None
                elif place is None:
                    return (
                        f"{label} is not on this machine: `lm-eval-longbench prepare` downloads "
                        "it, or name a copy with the option data_dir."
                    )
            return self.benchmark.load(own, place)
        except (LongBenchError, KeyError, OSError) as error:
            return f"The data cannot be opened: {error}"

    @cached_property
    def documents(self) -> Documents | str:
        """What of the data it could ask for: the option `only` chooses among it."""
        data = self.data
        if isinstance(data, str):
            return data
        if data.sha256 != self.run.get("data_sha256"):
            return f"Here is other data, {data.label}."
        if not self.benchmark.choices:
            return data
        try:
            return select(data, read_options(self.result.metadata).only, self.result.name)
        except LongBenchError as error:
            return f"Which questions were chosen cannot be told: {error}"

    @cached_property
    def ids(self) -> list[str]:
        """Ids of its documents, in order; none where they are not here."""
        if isinstance(self.documents, str):
            return []
        field = "_id" if "_id" in self.documents.rows.column_names else "id"
        return [str(name) for name in self.documents.rows[field][:]]

    def place(self, row: LogRow) -> int | None:
        """Return the row number in the documents of a log row; None: it is not there.

        The number in the log is the place; the id must be that of the question there.
        """
        is_there = row.index < len(self.ids) and self.ids[row.index] == row.name
        return row.index if is_there else None

    @property
    def first_pass(self) -> str:
        """The table whose answers its prompts embed; "" for none."""
        return self.benchmark.tables[self.own.table].first_pass

    @cached_property
    def reasoning(self) -> Mapping[str, str] | str:
        """The reasoning of pass one by question, from its log of the same run."""
        wanted = (self.first_pass, self.run.get("data"))
        if (self.result.metadata.get("longbench") or {}).get("cot_samples") is None:
            for other in self.results.tasks:
                if (other.run.get("task"), other.run.get("data")) == wanted and other.log:
                    try:
                        return {row.name: row.generated[0][0] for row in read_log(other.log)}
                    except (LongBenchError, IndexError) as error:
                        return f"The log of pass one cannot be read: {error}"
        return "Pass one was another run: its log is not beside these results."
