"""What a benchmark is: the map of this package. Read this file first.

A `Benchmark` holds all that is particular to it: its tables and tasks, where its data is from and
what a row of it must be, how a prompt is rendered and cut, how officially is asked, what an answer
is worth, which figures follow from the answers, and the files that its official scripts write.
Everything else in this package asks the object. `benchmarks.registry` lists the objects.

`docs/new-benchmark.md` walks through adding one. Each benchmark has to say its attributes without a
value here, and `score`, `rows` and `harness_metrics`; what else is here fits a benchmark whose
questions have gold answers called `answers` and lie in one JSON Lines file a dataset.

Words: a *run* asks a model the *questions* of some *tasks*, each of them one or more times
(*repeats*). An *answer* has a *score* in [0, 1]. Answers make up *tables*, one a headline;
*figures* follow from a table's answers. A *group* is the harness's mean over tasks.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.benchmarks.charts import Look
from lm_eval_longbench.catalog.model import Metric, Source, Table, Task
from lm_eval_longbench.catalog.presets import PresetTable
from lm_eval_longbench.catalog.read import Defined, defined
from lm_eval_longbench.data.open import Documents, load
from lm_eval_longbench.data.rows import kind_problem, value_problem
from lm_eval_longbench.metrics.reasoning import DROP
from lm_eval_longbench.prompts.render import question, render
from lm_eval_longbench.prompts.truncation import rule_of
from lm_eval_longbench.records.answer import replies_of
from lm_eval_longbench.records.sample import (
    KnownDocuments,
    Read,
    Sample,
    Scored,
    Unusable,
    content_hash,
    is_texts,
    text_id,
)
from lm_eval_longbench.signature.protocol import Protocol
from lm_eval_longbench.statistics.figure import Figure, Place, Rows, Unit, computed, nested
from lm_eval_longbench.task_folder import task_folder

if TYPE_CHECKING:
    from lm_eval_longbench.prompts.truncation import Rule
    from lm_eval_longbench.records.layouts import Layout, OfficialFiles
    from lm_eval_longbench.statistics.answers import Answers

PACKAGE = Path(__file__).parent.parent
SAMPLES: Path = PACKAGE / "data" / "sample"
PUBLISHED: Path = PACKAGE / "reporting" / "published"
PRESETS: Path = Path(__file__).parent / "presets"


@dataclass(frozen=True)
class Published:
    """How the published rows of a benchmark are laid out.

    Attributes:
        file: CSV with one row a model.
        place_of: section and name of the figure in a column; None: no figure.
        mode_column: column with a row's mode; "" for none.
        modes: name of each mode by what stands in that column.
        source: where all rows are from; "": each row says it.
        shown: figures that stand in a leaderboard.
        ranked: how many of them, from the first, are ranked.
        papers: further files of the same layout, whose rows have a source and a caveat each.
    """

    file: Path
    place_of: Callable[[str], Place | None]
    mode_column: str
    modes: Mapping[str, str]
    source: str
    shown: tuple[Place, ...]
    ranked: int
    papers: tuple[Path, ...] = ()


class Benchmark(abc.ABC):
    """One benchmark, whose tasks its task files define.

    Attributes that are not explained here stand for themselves.

    Attributes:
        defined: what its task files say.
        name: in results: "longbench_v1"; short: on the command line: "v1"; sign: in signature
            lines: "lb-v1"; title: in sentences: "LongBench v1".
        family: of the module and the data folder, which benchmarks may share.
        prepared_as: what `prepare` and `doctor` call the family's data.
        is_prepared: whether `prepare` knows it.
        metrics: version of the scorer; raise it with every change that can move a score.
        task_version: of the tasks; raise it with every change that can move a score.
        rule: how long prompts are cut; limits: to how many tokens officially, one or another.
        repeats: answers that are officially asked for each question.
        decoded_by: release of transformers that officially decoded answers, as that of `hf` is to
            do it; "": answers are what the backend decodes.
        one_message: whether each prompt is officially sent as one user message.
        length_field: has the official length of a document.
        unit_note: how figures are given, for readers of a report.
        exact_means: whether sums are rounded once (else they are added up from the left).
        sample_fields: what figures need of a line of samples.jsonl besides the common fields: a
            "flag" or a "share", "" or "cosine" for one that not every line has.
        counted_flags: those flags that are counted in reports.
        task_fields: those fields of which reports have a mean a task.
        may_be_unknown: dimensions that a question may lack.
        ids_may_be_lines: whether a question's place tells it from others of one id.
        ids_are_unique: whether each question of the data has an id of its own.
        file_kind: what its official files are called in reports; benchmarks may share it.
        file_names: whether official files have names that tell them: "all", "some" or "none".
        official_folder: in which the official scripts put their files; "" for no such name.
        layouts: files of other programs with answers to its questions, or to a sibling's.
        fields: of a row of the data, in the official order; texts where `kinds` does not say
            otherwise: "texts" or "int64". Every row has its document, the text `context`, and its
            id, the text `_id` or `id`.
        counts: questions of the official data that have each value, by dimension; empty where each
            dataset is a file of its own.
        split_by: field of a row that tells which task asks it, where an array is converted to a
            file a task; "": all of it is one file.
        shares_documents: whether questions of the official data share documents.
        labelled: what its tasks are labelled by, in print: "dataset".
        overall: key of the figure over all questions in its official file; "": none.
        task_folder: with its task files, for the harness's --include_path; None: ours.
        variant: whether it asks the questions of another benchmark in another way; official files
            are never its.
        look: its charts and what leaderboards show of it.
    """

    name: str
    short: str
    sign: str
    title: str
    family: str
    prepared_as: str
    is_prepared = True
    metrics: str
    task_version: str
    source: Source
    rule: Rule
    unit: Unit
    unit_note: str
    tables: Mapping[str, Table]
    tasks: Mapping[str, Task]
    file_kind: str
    file_names = "none"
    official_folder = ""
    layouts: tuple[Layout, ...] = ()
    #: Settings of published runs, which the option `preset` names; None: there are none.
    presets: PresetTable | None = None
    #: Writes answers as its official scripts do; None: they write no files.
    official_files: OfficialFiles | None = None
    fields: tuple[str, ...]
    repeats = 1
    decoded_by = ""
    one_message = False
    length_field = "length"
    exact_means = False
    #: Whether the official scripts write no line for a failed call of a run.
    drops_failed = False
    sample_fields: Mapping[str, str] = {}
    counted_flags: tuple[str, ...] = ()
    task_fields: tuple[str, ...] = ()
    may_be_unknown: frozenset[str] = frozenset()
    ids_may_be_lines = False
    ids_are_unique = True
    kinds: Mapping[str, str] = {}
    counts: Mapping[str, Mapping[str, int]] = {}
    split_by = ""
    shares_documents = False
    labelled = "dataset"
    overall = ""
    task_folder: Path | None = None
    published: Published | None = None
    variant = False
    look: Look = Look()
    #: Folder of the embedded sample's files, named as the official ones.
    samples: Path

    def __init__(self, own: Defined | None = None) -> None:
        self.defined = own = own or defined(self.task_folder or task_folder(), self.name)
        self.tasks, self.source, self.counts = own.tasks, own.source, own.counts
        self.tables = own.tables(self.title, self.dimensions)
        self.rule = rule_of(
            own.fact("truncation", "ends_decoded_together"), own.fact("transformers")
        )
        self.limits = tuple(own.fact("limits", ()))
        self.repeats = own.fact("repeats", 1)
        self.task_version = str((own.fact("metadata") or {}).get("version") or 1.0)

    @property
    def dimensions(self) -> Mapping[str, Sequence[str]]:
        """The dimensions of questions that figures tell apart, with their values."""
        return self.defined.dimensions

    # ------------------------------------------------------------------ asking

    def load(self, task: Task, data_dir: str | None) -> Documents:
        """Open the documents of a task.

        Args:
            task: one of `tasks`.
            data_dir: None: the pinned official data; "sample": the embedded sample; else a folder
                or a file with the data.

        Raises:
            DataError: the data is not there, damaged, or (pinned) not what is pinned.
        """
        return load(self, task, data_dir)

    def documents(self, task: Task) -> KnownDocuments:
        """Return the documents of a task's questions, if its data has been prepared here.

        Rows of official files do not have them.
        """
        return {}

    def row_problem(self, row: Any) -> str | None:
        """Return what is wrong with a decoded row of the data; None: it is one of the benchmark."""
        among = {
            name: values
            for table in self.tables.values()
            for name, values in table.dimensions.items()
            if name in self.fields
        }
        return kind_problem(row, self.fields, self.kinds) or value_problem(row, among)

    def prepared(self) -> Iterator[tuple[str, Task]]:
        """Yield what the data is made of, by its name in print, each with a task that asks it."""
        seen: set[str] = set()
        for task in self.tasks.values():
            if task.dataset not in seen:
                seen.add(task.dataset)
                yield task.label, task

    def asked(self, task: Task, dataset: object) -> Task | None:
        """Return which task a harness configuration asks: this, or a part of it; None: neither.

        Args:
            task: that it signs as.
            dataset: its `dataset_name`.
        """
        parts = (one for one in self.tasks.values() if one.counted != one.name)
        return next((one for one in (task, *parts) if one.dataset == dataset), None)

    def render(self, task: Task, row: Mapping[str, Any]) -> str:
        """Return the whole official prompt of a row, before truncation and any chat template.

        Where a task's prompts embed the answers of a first pass, `cot` of the row is that answer.

        Raises:
            PromptError: a field of the template is missing in the row or is not a text.
        """
        return render(task, row)

    def question(self, task: Task, row: Mapping[str, Any]) -> str:
        """Return the end of a whole prompt that follows the document; "" where nothing does.

        Of a prompt without a document that is the whole prompt.
        """
        return question(task, row)

    def generation(self, task: Task) -> dict[str, Any]:
        """Return the official generation arguments."""
        return dict(task.generation)

    def protocol(self, task: Task, *, thinking: bool = False) -> Protocol:
        """Return how official runs of a task are set; `thinking`: for a thinking score (Pro)."""
        chat = "on" if task.chat else "raw"
        temperature = task.generation["temperature"]
        return Protocol(self.limits, chat, (task.budget,), temperature, self.repeats)

    def golds(self, doc: Mapping[str, Any]) -> list[str]:
        """Return the gold answers of a document."""
        return list(doc["answers"])

    # ------------------------------------------------------------------ judging

    def question_problem(self, doc: Mapping[str, Any], task: Task) -> str | None:
        """Return why answers to a question cannot be scored, or None."""
        if _id_of(doc) is None:
            return "no field '_id' or 'id' with a text"
        problem = self.golds_problem(doc)
        if problem:
            return problem
        for name, valid in self.tables[task.table].dimensions.items():
            unknown = doc.get(name) is None and name in self.may_be_unknown
            if not unknown and doc.get(name) not in valid:
                return f"{name!r} is missing or not one of {', '.join(valid)}"
        return None

    def golds_problem(self, doc: Mapping[str, Any]) -> str | None:
        """Return what is wrong with the gold answers of a question, or None."""
        wrong = "'answers' is not a list of one or more texts"
        return None if is_texts(doc.get("answers")) else wrong

    def sample(
        self,
        doc: Mapping[str, Any],
        task: Task,
        repeat: int,
        response: str | None,
        *,
        index: int = 0,
        truncated: bool | None = None,
        document: str | None = None,
    ) -> Sample:
        """Return an answer with all that scoring it needs.

        Args:
            doc: the question, without a problem.
            task: of a table.
            repeat: number of the answer, from 1.
            response: the answer; None: not kept.
            index: place of the question in its file.
            truncated: whether the prompt was cut; None: unknown.
            document: short hash of its document; None: unknown.
        """
        content = self.asked_of(doc, document)
        return Sample(
            table=task.table,
            task=task.counted,
            id=_id_of(doc) or str(index),
            order=index if self.ids_may_be_lines else 0,
            repeat=repeat,
            response=response,
            golds=self.golds(doc),
            classes=doc["all_classes"] if is_texts(doc.get("all_classes")) else None,
            shown=self.shown_of(doc, task, index),
            truncated=truncated,
            content=None if content is None else content_hash(*content),
            document=document,
            dropped=self.drops_failed and not response,
        )

    def samples_of(
        self, doc: Mapping[str, Any], task: Task, responses: Sequence[str | None], **known: Any
    ) -> list[Sample]:
        """Return all answers to a question, with what its log tells of each of them.

        Args:
            doc, task: as for `sample`.
            responses: one a repeat.
            known: what else `sample` takes.
        """
        replies = replies_of(doc, len(responses))
        samples = []
        for number, (text, reply) in enumerate(zip(responses, replies, strict=True), start=1):
            samples.append(self.sample(doc, task, number, text, **known))
            samples[-1].reply = reply
        return samples

    def shown_of(self, doc: Mapping[str, Any], task: Task, index: int) -> dict[str, Any]:
        """Return the fields of a question that go into samples.jsonl as they are."""
        return {name: doc[name] for name in self.tables[task.table].dimensions}

    def asked_of(self, doc: Mapping[str, Any], document: str | None) -> Sequence[Any] | None:
        """Return what makes a question and its answers what they are; None: it cannot be told.

        Args:
            doc: the question.
            document: short hash of its document; None: unknown.
        """
        return None

    @abc.abstractmethod
    def score(self, sample: Sample, reasoning: str = DROP, *, extras: bool = False) -> Scored:
        """Return what an answer is worth.

        Args:
            sample: the answer.
            reasoning: policy for reasoning in it, see `metrics.reasoning`.
            extras: compute what no official figure needs, too.
        """

    def metrics_of(self, task: Task) -> Sequence[str]:
        """Return the names of the metrics that may score a task."""
        return (task.metric,)

    def with_similarity(
        self, shown: Mapping[str, Any], similarity: float | None, *, official: bool
    ) -> tuple[float | None, bool, dict[str, Any]]:
        """Return score, failure and fields of an answer once its semantic similarity is known.

        Args:
            shown: its fields as `score` gave them.
            similarity: the highest cosine with a reference; None: the answer is empty.
            official: whether the official model gave it. Another one's is shown, but makes no
                score.

        Raises:
            NotImplementedError: the benchmark has `summary` tasks, but its author left this out.
        """
        raise NotImplementedError(f"{self.title} scores no answer by its similarity.")

    def failed_before(self, task: Task, doc: Mapping[str, Any]) -> bool | None:
        """Say whether a question had failed before it was asked; None: it cannot be told."""
        return False

    # ------------------------------------------------------------------ figures

    def dimension_of(self, line: Mapping[str, Any], dimension: str) -> Any:
        """Return the value of a dimension that a line of samples.jsonl has."""
        return line[dimension]

    def pairing_label(self, task: Task) -> str:
        """Return a part of a question's key, so that tables of one benchmark can be paired."""
        return task.label

    # Sections of reports with one row a task.
    task_sections: tuple[str, ...] = ()

    @property
    def headline(self) -> tuple[Place, ...]:
        """The figures that an answer to "how good is it" names; empty: the means of tasks do."""
        return self.published.shown[: self.published.ranked] if self.published else ()

    @abc.abstractmethod
    def rows(self, answers: Answers) -> Iterable[Rows]:
        """Return what figures a table has, in the order of reports."""

    def figures(self, answers: Answers) -> list[Figure]:
        """Return every figure of a table, in the order of reports."""
        return computed(self.rows(answers), answers, self.unit)

    def more_for_charts(self, figures: Sequence[Figure]) -> list[Figure]:
        """Return what charts need besides the figures of reports, made of them."""
        return []

    def chart_figures(self, answers: Answers) -> list[Figure]:
        """Return every figure that charts show: those of reports, and what charts need besides."""
        found = self.figures(answers)
        return found + self.more_for_charts(found)

    def question_rows(self, answers: Answers) -> Iterable[Rows]:
        """Return the figures that the harness has of a task, the first of them official."""
        return [own for own in self.rows(answers) if own.metric]

    def official(self, answers: Answers, figures: Sequence[Figure]) -> dict[str, Any]:
        """Return the figures in the schema of the official result file: as their paths say."""
        return nested(figures, "official")

    def parts(self, answers: Answers, figures: Sequence[Figure]) -> dict[str, Any]:
        """Return the further parts of a table in report.json that follow from its answers."""
        return {}

    def tasks_of(self, table: Table, place: Place) -> list[str]:
        """Return the tasks that a ranked figure is made of."""
        return list(table.tasks)

    # ------------------------------------------------------------------ official files

    def is_official_row(self, row: Mapping[str, Any], stem: str) -> bool:
        """Whether a decoded row, of a file of this name, is of the benchmark's official files."""
        return False

    def is_official_name(self, stem: str) -> bool:
        """Whether a file's name without its ending is usual for official files."""
        return False

    def run_in_name(self, stem: str) -> str | None:
        """Return what the names of one run's files share, in one folder; None: each is a run."""
        return None

    def is_scored_elsewhere(self, row: Mapping[str, Any], stem: str) -> bool:
        """Whether a row, of a file of this name, holds a score of the official evaluation."""
        return False

    def official_table(self, row: Any, stem: str) -> str:
        """Return the table of an official file by its first row and name; "": its folder says."""
        return next(iter(self.tables)) if len(self.tables) == 1 else ""

    def read_official(self, row: Mapping[str, Any], index: int, table: Table, task: str) -> Read:
        """Return the samples of a row of an official file.

        Args:
            row: decoded.
            index: position among the file's lines that are not blank, from 0.
            table: that the file is of.
            task: of all its rows; "": each row says it.
        """
        return Unusable(f"{self.title} has no official files that are read")

    # ------------------------------------------------------------------ in the harness

    @abc.abstractmethod
    def harness_metrics(self, task: Task) -> tuple[Metric, ...]:
        """Return what the harness computes of a task, in the order of its task file."""

    def official_metrics(self, task: Task) -> tuple[str, ...]:
        """Return the names of those metrics whose means are the task's official figures."""
        return (self.harness_metrics(task)[0].name,)


def _id_of(doc: Mapping[str, Any]) -> str | None:
    return text_id(doc.get("_id", doc.get("id")))
