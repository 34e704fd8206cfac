"""LongBench v1 and LongBench-E.

Its tasks are in tasks/longbench_v1 and tasks/longbench_v1_e. Source of the order of operations:
LongBench at commit 2e00731. Published figures: the results tables of LongBench
(Bai et al., ACL 2024; https://github.com/THUDM/LongBench, MIT licence), 8 models.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from lm_eval_longbench.benchmarks.base import PRESETS, PUBLISHED, SAMPLES, Benchmark, Published
from lm_eval_longbench.benchmarks.charts import (
    ALL_LENGTHS,
    BUCKETS,
    CATEGORIES,
    HEADLINE,
    LANGUAGES,
    LOOK_E,
    LOOK_V1,
    MEAN,
    Look,
    relative_section,
)
from lm_eval_longbench.catalog.model import COUNTS, Metric, Table, Task
from lm_eval_longbench.catalog.presets import PresetTable
from lm_eval_longbench.catalog.read import Defined
from lm_eval_longbench.data.convert import CONTEXT_SHA256, cache_folder, converted
from lm_eval_longbench.data.rows import are_texts, schema_problem
from lm_eval_longbench.metrics.reasoning import DROP, answer_of
from lm_eval_longbench.metrics.text import (
    CLASSIFICATION,
    METRICS,
    ROUGE,
    rouge_l_google_sample,
    score_sample,
)
from lm_eval_longbench.prompts.truncation import release_of
from lm_eval_longbench.records.layouts import Layout, OfficialFiles
from lm_eval_longbench.records.sample import (
    KnownDocuments,
    Read,
    Sample,
    Scored,
    Unusable,
    content_hash,
    document_of_hash,
    is_texts,
    is_whole,
)
from lm_eval_longbench.records.v1_files import DATASETS, LAYOUTS, V1Files
from lm_eval_longbench.statistics.answers import Answers, BadRow
from lm_eval_longbench.statistics.figure import RELATIVE, Figure, Place, Rows, Unit, field
from lm_eval_longbench.statistics.means import percent_of, running_total
from lm_eval_longbench.statistics.tree import Contrast, Leaf, Mean, Relative

# ---------------------------------------------------------------------- figures


def _v1_rounded(values: np.ndarray, number: int) -> float:
    return percent_of(running_total(values), number, 2)


def _e_rounded(values: np.ndarray, number: int) -> float:
    # As the official scorer: numpy's mean, which adds pairwise, and the rounding of the np.float64
    # that it gives, which is not Python's.
    return float(round(100 * np.mean(values), 2))


PERCENT = Unit("percent", 100, 100, 2)
DATASET, GOOGLE = "dataset", "rougeL_google"
# Google's ROUGE-L of each dataset where it was computed.
_GOOGLES = Rows(GOOGLE, field(GOOGLE), by=("dataset",), known=True, metric=GOOGLE, main=True)
# What the columns of languages and categories of longbench_v1.csv are called here.
_CODES = {"en": "English", "zh": "Chinese"}
_COLUMNS = {
    "Single-Doc QA": "single_doc_qa",
    "Multi-Doc QA": "multi_doc_qa",
    "Summarization": "summarization",
    "Few-shot Learning": "few_shot",
    "Synthetic Tasks": "synthetic",
    "Code Completion": "code",
}


# Metrics in the harness, and the lengths (words; characters for Chinese) that buckets end before.
BUCKET_METRICS = dict(zip(BUCKETS, ("score_0_4k", "score_4_8k", "score_8k_plus"), strict=True))
_ENDS = {"0-4k": 4000, "4-8k": 8000}


def bucket(length: int) -> str:
    """Return the official name of the length bucket that a document's `length` falls into."""
    return next((name for name, end in _ENDS.items() if length < end), BUCKETS[-1])


def _published_place(column: str) -> Place | None:
    if column in DATASETS:
        return DATASET, column
    code, _, name = column.partition(":")
    language = _CODES.get(code)
    if language is None:
        return None
    return (HEADLINE, language) if name == "Avg" else (language, _COLUMNS[name])


def means_of_tasks(figures: Sequence[Figure], unit: Unit) -> list[Figure]:
    """Return the means over E's tasks and over each category's, by length and relative.

    A mean that lacks a task has no value. Relative is the mean of a bucket over that of the
    shortest documents, less 1.

    Args:
        figures: of E, with those of each dataset by bucket.
        unit: of scores.
    """
    trees: dict[Place, Leaf] = {
        figure.place: figure.tree for figure in figures if isinstance(figure.tree, Leaf)
    }
    tasks = [name for section, name in trees if section == ALL_LENGTHS]
    found: list[Figure] = []
    for name in (MEAN, *CATEGORIES):
        own = [task for task in tasks if name in (MEAN, DATASETS[task].category)]
        means = {
            section: Mean(tuple(trees[section, task] for task in own))
            for section in (ALL_LENGTHS, *BUCKETS)
        }
        found += [Figure(section, name, mean, unit) for section, mean in means.items()]
        found += [
            Figure(
                relative_section(bucket),
                name,
                Contrast(means[bucket], means[BUCKETS[0]], ratio=True),
                RELATIVE,
            )
            for bucket in BUCKETS
        ]
    return found


# ---------------------------------------------------------------------- the benchmarks


class LongBench(Benchmark):
    """What LongBench v1 and LongBench-E share."""

    family = "longbench_v1"
    prepared_as = "v1"
    metrics = "1.0"
    unit = PERCENT
    unit_note = "Percent, two decimals."
    sample_fields: Mapping[str, str] = {GOOGLE: ""}
    ids_may_be_lines = True
    ids_are_unique = False
    shares_documents = True
    file_kind = "v1_predictions"
    file_names = "all"
    task_fields = (GOOGLE,)
    fields: tuple[str, ...] = (
        "input",
        "context",
        "answers",
        "length",
        "dataset",
        "language",
        "all_classes",
        "_id",
    )
    kinds: Mapping[str, str] = {"answers": "texts", "all_classes": "texts", "length": "int64"}
    samples = SAMPLES / "longbench_v1"
    presets: PresetTable | None = PresetTable(
        "LongBench v1",
        PRESETS / "longbench_v1.csv",
        "LongBench at 2e00731 (2025-01-15), LongBench/config/model2maxlen.json",
    )
    #: The end of its data files' names.
    suffix = ""

    def __init__(self, own: Defined | None = None) -> None:
        super().__init__(own)
        self.decoded_by = release_of(self.rule) or ""
        #: Its tasks by the official names of their datasets.
        self.datasets = {task.label: task for task in self.tasks.values()}

    @property
    def dimensions(self) -> Mapping[str, Sequence[str]]:
        return {"dataset": [task.label for task in self.tasks.values()]}

    def prepared(self) -> Iterator[tuple[str, Task]]:
        """Yield each data file's stem."""
        return ((task.dataset, task) for task in self.tasks.values())

    def documents(self, task: Task) -> KnownDocuments:
        folder = cache_folder(self, self.source.sha256, task.dataset)
        rows = converted(folder, task.dataset)
        if rows is None:
            return {}
        named = ("input", "answers", "all_classes", "length", CONTEXT_SHA256)
        found: dict[bytes, dict[int, str | None]] = {}
        columns = zip(*map(rows.__getitem__, named), strict=True)
        for place, (asked, *told, digest) in enumerate(columns):
            for question in (asked, None):  # official rows lack it
                own = found.setdefault(content_hash(question, *told), {})
                own[place] = document_of_hash(digest)
        return found

    def row_problem(self, row: Any) -> str | None:
        """Return what is wrong with a decoded row, or None if it has the official schema."""
        texts = tuple(name for name in self.fields if name not in self.kinds)
        problem = schema_problem(row, self.fields, texts)
        if problem:
            return problem
        if not are_texts(row["answers"]):
            return "has a field 'answers' that is not a list of texts"
        if row["all_classes"] is not None and not are_texts(row["all_classes"]):
            return "has a field 'all_classes' that is neither null nor a list of texts"
        if not is_whole(row["length"], 0, 2**63 - 1):
            return "has a field 'length' that is not a whole number of words or characters"
        return None

    def question_problem(self, doc: Mapping[str, Any], task: Task) -> str | None:
        length, problem = doc.get("length"), self.golds_problem(doc)
        if problem:
            return problem
        if task.metric == CLASSIFICATION and not is_texts(doc.get("all_classes")):
            return f"{task.label} needs 'all_classes', a list of texts"
        if self.suffix and (not isinstance(length, int) or isinstance(length, bool)):
            return "LongBench-E needs 'length', a whole number"
        return None

    def shown_of(self, doc: Mapping[str, Any], task: Task, index: int) -> dict[str, Any]:
        shown: dict[str, Any] = {"dataset": task.label, "index": index}
        if self.suffix:
            shown["length"] = doc["length"]
        if isinstance(doc.get("scored_by"), str):
            shown["scored_by"] = doc["scored_by"]
        return shown

    def asked_of(self, doc: Mapping[str, Any], document: str | None) -> Sequence[Any] | None:
        # Of official questions gold answers, classes and length are equal for two of a dataset at
        # most; without the length they often are.
        length = doc.get("length")
        known = is_whole(length, 0, 2**53)
        return (doc.get("input"), doc["answers"], doc.get("all_classes"), length) if known else None

    def score(self, sample: Sample, reasoning: str = DROP, *, extras: bool = False) -> Scored:
        """Return what an answer is worth; with `extras` Google's ROUGE-L, too, where it has one."""
        answer = answer_of(sample.response or "", reasoning)
        task, golds, shown = self.tasks[sample.task], sample.golds, sample.shown
        metric, first = shown.get("scored_by", task.metric), task.first_line
        worth = score_sample(metric, answer, golds, sample.classes, first_line=first)
        if extras and metric == ROUGE:
            shown = {**shown, GOOGLE: rouge_l_google_sample(answer, golds, first_line=first)}
        return Scored(worth, not answer.strip(), shown)

    def metrics_of(self, task: Task) -> Sequence[str]:
        return (*METRICS, CLASSIFICATION)

    def dimension_of(self, line: Mapping[str, Any], dimension: str) -> Any:
        if dimension == "dataset":
            return self.tasks[line["task"]].label
        length = line["length"]
        if not isinstance(length, int) or isinstance(length, bool):
            raise BadRow(f"'length' must be a whole number, not {length!r}")
        return bucket(length)

    def _is_asked(self, answers: Answers, dataset: str) -> bool:
        return self.datasets[dataset].name in answers.expected

    def question_rows(self, answers: Answers) -> Iterable[Rows]:
        """Return the score of a dataset, and Google's ROUGE-L where it has one."""
        return (Rows(DATASET, metric="score"), _GOOGLES)

    def is_official_row(self, row: Mapping[str, Any], stem: str) -> bool:
        named = "answers" in row or stem in DATASETS
        return not self.variant and "pred" in row and named

    def is_official_name(self, stem: str) -> bool:
        return not self.variant and stem in self.datasets

    def run_in_name(self, stem: str) -> str | None:
        return ""

    def read_official(self, row: Mapping[str, Any], index: int, table: Table, task: str) -> Read:
        """Return the sample of a prediction: it has no id, its line is its place."""
        for name in ("pred", "answers"):
            if name not in row:
                return Unusable(f"no field {name!r}")
        if not isinstance(row["pred"], str):
            return Unusable("'pred' is not a text")
        problem = self.question_problem(row, self.tasks[task])
        if problem:
            return Unusable(problem)
        known = {**row, "_id": str(index)}
        return [self.sample(known, self.tasks[task], 1, row["pred"], index=index)]

    def harness_metrics(self, task: Task) -> tuple[Metric, ...]:
        buckets = BUCKET_METRICS.values() if self.suffix else ()
        google = [Metric(GOOGLE)] if task.metric == ROUGE else []
        own = [Metric(name, "mean_of_known") for name in buckets]
        return (Metric("score"), *own, *google, *COUNTS)

    def official(self, answers: Answers, figures: Sequence[Figure]) -> dict[str, Any]:
        """Return what result.json has: percent by dataset, of E by dataset and bucket."""
        stated = {figure.path[1:]: figure.official for figure in figures if figure.path}
        found: dict[str, Any] = {}
        for task in self.tasks.values():
            if task.name in answers.expected:
                found[task.label] = self._result(task.label, stated)
        return found

    def _result(self, dataset: str, stated: Mapping[tuple[str, ...], float | None]) -> Any:
        return stated[dataset,]

    def tasks_of(self, table: Table, place: Place) -> list[str]:
        if place[0] != HEADLINE:
            return list(table.tasks)
        own = self.defined.headlines[place[1]].values()
        return [name for names in own for name in names]


class LongBenchV1(LongBench):
    """21 datasets; a headline a language: the mean of its six categories."""

    name, short, sign, title = "longbench_v1", "v1", "lb-v1", "LongBench v1"
    official_folder = "pred"
    task_sections = (DATASET, GOOGLE)
    official_files: OfficialFiles | None = V1Files(official_folder)
    layouts: tuple[Layout, ...] = LAYOUTS
    look: Look = LOOK_V1
    published: Published | None = Published(
        PUBLISHED / "longbench_v1.csv",
        _published_place,
        "",
        {},
        "the results tables of LongBench",
        tuple((HEADLINE, language) for language in LANGUAGES),
        len(LANGUAGES),
        (PUBLISHED / "longbench_v1_papers.csv",),
    )

    def rows(self, answers: Answers) -> Iterable[Rows]:
        """Return datasets; a question's score is the mean over its repeats."""
        datasets = Rows(
            DATASET,
            by=("dataset",),
            stream="{value}",
            rounded=_v1_rounded,
            path=("official", "{value}"),
            in_file=self._is_asked,
        )
        return (datasets, _GOOGLES)

    def figures(self, answers: Answers) -> list[Figure]:
        """Return headlines, category means and datasets; what lacks a dataset has no value.

        The headline of a language is the mean of its six category means, a category mean that of
        its datasets (source: LongBench, results tables); that of a variant is the mean of datasets.
        """
        found = super().figures(answers)
        datasets = {own.name: own.leaf for own in found if own.section == DATASET}
        headlines, categories = [], []
        for title, parts in self.defined.headlines.items():
            means: list[Leaf | Mean] = []
            for part, names in parts.items():
                own = [datasets[self.tasks[name].label] for name in names]
                if part in self.tasks:
                    means += own
                else:
                    category = Mean(tuple(own))
                    means.append(category)
                    categories.append(Figure(title, part, category, PERCENT))
            headlines.append(Figure(HEADLINE, title, Mean(tuple(means)), PERCENT, main=True))
        return [*headlines, *categories, *found]


class LongBenchE(LongBench):
    """13 datasets by document length, and the curve relative to all lengths."""

    name, short, sign, title = "longbench_v1_e", "v1_e", "lb-e", "LongBench-E"
    unit_note = "Percent, two decimals; relative figures are 100 * (x/y - 1)."
    suffix, official_folder = "_e", "pred_e"
    task_sections = (ALL_LENGTHS, GOOGLE)
    official_files: OfficialFiles | None = V1Files(official_folder)
    look: Look = LOOK_E

    @property
    def dimensions(self) -> Mapping[str, Sequence[str]]:
        return {**super().dimensions, "bucket": BUCKETS}

    def rows(self, answers: Answers) -> Iterable[Rows]:
        """Return of each dataset all lengths, and its three buckets.

        Sections are lengths, so that the datasets of one length stand together.
        """
        whole = Rows(ALL_LENGTHS, by=("dataset",), stream="{value}", main=True)
        buckets = (
            Rows(
                name,
                by=("dataset",),
                within=("bucket", name),
                stream=f"{{value}} {name}",
                rounded=_e_rounded,
                path=("official", "{value}", name),
                in_file=self._is_asked,
            )
            for name in BUCKETS
        )
        return (whole, *buckets, _GOOGLES)

    def figures(self, answers: Answers) -> list[Figure]:
        """Return the same, and behind the buckets x/y - 1 of each of them.

        x is the score of the bucket, y that of the whole dataset (source: LongBench paper, section
        on LongBench-E).
        """
        found = super().figures(answers)
        scores = [own for own in found if own.section in BUCKETS]
        relative = [
            Figure(
                f"{own.section}, relative to all lengths",
                own.name,
                Relative(own.leaf, tuple(one.leaf for one in scores if one.name == own.name)),
                RELATIVE,
            )
            for own in scores
        ]
        googles = [own for own in found if own.section == GOOGLE]
        return [*found[: len(found) - len(googles)], *relative, *googles]

    def more_for_charts(self, figures: Sequence[Figure]) -> list[Figure]:
        return means_of_tasks(figures, PERCENT)

    def question_rows(self, answers: Answers) -> Iterable[Rows]:
        """Return the score of a dataset, that of each bucket, and Google's ROUGE-L."""
        buckets = (
            Rows(name, within=("bucket", name), metric=metric)
            for name, metric in BUCKET_METRICS.items()
        )
        return (*super().question_rows(answers), *buckets)

    def official_metrics(self, task: Task) -> tuple[str, ...]:
        """Return the buckets: nothing official is over all lengths."""
        return tuple(BUCKET_METRICS.values())

    def _result(self, dataset: str, stated: Mapping[tuple[str, ...], float | None]) -> Any:
        return {name: stated[dataset, name] for name in BUCKETS}


V1: LongBenchV1 = LongBenchV1()
E: LongBenchE = LongBenchE()
