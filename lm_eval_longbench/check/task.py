"""What the checks of a task look at: its entry in the results file, its log, and its data here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lm_eval_longbench.benchmarks.base import Benchmark, Task
from lm_eval_longbench.benchmarks.registry import benchmark_of, find_task, read_options
from lm_eval_longbench.catalog.users import KEY as DEFINITION
from lm_eval_longbench.catalog.users import changed
from lm_eval_longbench.data.open import MISSING, Documents, select, stored
from lm_eval_longbench.errors import LongBenchError
from lm_eval_longbench.logs.results_file import ResultsFile, TaskResult
from lm_eval_longbench.logs.sample_log import LogRow, read_log
from lm_eval_longbench.signature.signature import Label, read_label


@dataclass(frozen=True)
class LoggedTask(TaskResult):
    """A task of a results file that this package knows, and what else its checks look at.

    Attributes:
        rows: of its sample log; empty without one.
        data: that its signature names; a text: why it is not here.
        documents: those of the data that it could ask for; a text: why they cannot be told.
        reasoning: of pass one by question; a text: why it is not here, or that there is none.
    """

    rows: Sequence[LogRow] = ()
    data: Documents | str = ""
    documents: Documents | str = ""
    reasoning: Mapping[str, str] | str = ""

    @cached_property
    def own(self) -> Task:
        """The task of this package that it signs as, with what a user's task file changes."""
        return changed(find_task(str(self.run.get("task"))), self.definition)

    @property
    def definition(self) -> Mapping[str, Any]:
        """What a user's task file changes of the task; empty: nothing."""
        found = self.metadata.get(DEFINITION)
        return found if isinstance(found, Mapping) else {}

    @cached_property
    def benchmark(self) -> Benchmark:
        """Its benchmark."""
        return benchmark_of(self.own)

    @property
    def label(self) -> Label:
        """The label of its data."""
        return read_label(self.run.get("data"))

    @property
    def first_pass(self) -> str:
        """The table whose answers its prompts embed; "" for none."""
        return self.benchmark.tables[self.own.table].first_pass

    @property
    def packages(self) -> Mapping[str, str | None]:
        """Versions of packages that its signature states."""
        return self.run.get("packages") or {}

    @cached_property
    def ids(self) -> list[str]:
        """Ids of its documents, in order; none where they are not here."""
        if isinstance(self.documents, str):
            return []
        field = "_id" if "_id" in self.documents.rows.column_names else "id"
        return [str(name) for name in self.documents.rows[field][:]]

    @cached_property
    def places(self) -> dict[int, int]:
        """Row number in the documents of each log row, by its line; absent: not there.

        The number in the log is the place; the id must be that of the question there.
        """
        ids = self.ids
        return {
            row.line: row.index
            for row in self.rows
            if row.index < len(ids) and ids[row.index] == row.name
        }


def gathered(
    task: TaskResult, rows: Sequence[LogRow], results: ResultsFile, data_dir: str | None
) -> LoggedTask:
    """Return a known task with all that its checks look at; nothing is downloaded.

    `results` has the log of pass one; `data_dir` is where local data is, if anybody says.
    """
    known = LoggedTask(**vars(task), rows=rows)
    data = _data(known, data_dir)
    return LoggedTask(
        **vars(task),
        rows=rows,
        data=data,
        documents=_documents(known, data),
        reasoning=_reasoning(known, results),
    )


def _data(task: LoggedTask, data_dir: str | None) -> Documents | str:
    """Return the data that a task names, from this machine; a text: why it is not here."""
    label, benchmark = task.label, task.benchmark
    own = benchmark.asked(task.own, task.config.get("dataset_name")) or task.own
    place = data_dir
    if label.is_sample:
        place = "sample"
    elif label.is_local and data_dir is None:
        return "It is a file of the user's own: name it with the option data_dir."
    try:
        if not label.is_sample and not label.is_local:
            if stored([benchmark], [own.dataset]).state != MISSING:
                place = None
            elif data_dir is None:
                return (
                    f"{label.base} is not on this machine: `lm-eval-longbench prepare` downloads "
                    "it, or name a copy with the option data_dir."
                )
        return benchmark.load(own, place)
    except (LongBenchError, KeyError, OSError) as error:
        return f"The data cannot be opened: {error}"


def _documents(task: LoggedTask, data: Documents | str) -> Documents | str:
    """Return what of the data a task could ask for: the option `only` chooses among it."""
    if isinstance(data, str):
        return data
    if data.sha256 != task.run.get("data_sha256"):
        return f"Here is other data, {data.label}."
    if not task.benchmark.choices:
        return data
    try:
        return select(data, read_options(task.metadata).only, task.name)
    except LongBenchError as error:
        return f"Which questions were chosen cannot be told: {error}"


def _reasoning(task: LoggedTask, results: ResultsFile) -> Mapping[str, str] | str:
    """Return the reasoning of pass one by question, from its log of the same run."""
    if not task.first_pass:
        return "The task embeds no reasoning."
    if (task.metadata.get("longbench") or {}).get("cot_samples") is not None:
        return "Pass one was another run: its log was named by cot_samples."
    wanted = (task.first_pass, task.run.get("data"))
    for other in results.tasks:
        if (other.run.get("task"), other.run.get("data")) == wanted and other.log is not None:
            try:
                return {row.name: row.generated[0][0] for row in read_log(other.log)}
            except (LongBenchError, IndexError) as error:
                return f"The log of pass one cannot be read: {error}"
    return "Pass one was another run: its log is not beside these results."
