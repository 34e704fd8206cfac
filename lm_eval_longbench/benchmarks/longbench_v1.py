"""LongBench v1 and LongBench-E.

Source: LongBench at commit 2e00731 (task list, prompts, output budgets, chat policy, metrics, order
of operations) and the pinned data (row counts). Published figures: the results tables of LongBench
(Bai et al., ACL 2024; https://github.com/THUDM/LongBench, MIT licence), 8 models.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from lm_eval_longbench.benchmarks.answer_files import Layout, OfficialFiles
from lm_eval_longbench.benchmarks.base import (
    COUNTS,
    PRESETS,
    PUBLISHED,
    SAMPLES,
    Benchmark,
    Group,
    Length,
    Metric,
    Place,
    Protocol,
    Published,
    Source,
    Table,
    Task,
)
from lm_eval_longbench.benchmarks.longbench_v1_charts import (
    ALL_LENGTHS,
    HEADLINE,
    LOOK_E,
    LOOK_V1,
    means_of_tasks,
)
from lm_eval_longbench.benchmarks.longbench_v1_facts import (
    ALL,
    BUCKET_METRICS,
    BUCKETS,
    CATEGORIES,
    DATASETS,
    LANGUAGES,
    SEGMENTED,
    Dataset,
    bucket,
    datasets_of,
)
from lm_eval_longbench.benchmarks.longbench_v1_files import LAYOUTS, V1Files
from lm_eval_longbench.benchmarks.parts import Look
from lm_eval_longbench.benchmarks.sample import (
    Read,
    Sample,
    Scored,
    Unusable,
    content_hash,
    is_texts,
    is_whole,
)
from lm_eval_longbench.figures.answers import Answers, BadRow
from lm_eval_longbench.figures.figure import RELATIVE, Figure, Unit, leaf
from lm_eval_longbench.figures.means import percent_of, running_total
from lm_eval_longbench.figures.tree import Leaf, Mean, Relative
from lm_eval_longbench.metrics.reasoning import DROP, answer_of
from lm_eval_longbench.presets import PresetTable
from lm_eval_longbench.prompts.tokens.official import RELEASE_V1
from lm_eval_longbench.prompts.truncation import RULE_V1

# ---------------------------------------------------------------------- figures


def _v1_rounded(values: np.ndarray, number: int) -> float:
    return percent_of(running_total(values), number, 2)


def _e_rounded(values: np.ndarray, number: int) -> float:
    # As the official scorer: numpy's mean, which adds pairwise, and the rounding of the np.float64
    # that it gives, which is not Python's.
    return float(round(100 * np.mean(values), 2))


PERCENT = Unit("percent", 100, 100, 2)
DATASET, GOOGLE = "dataset", "rougeL_google"
# What the category columns of longbench_v1.csv are called here.
_COLUMNS = {
    "Single-Doc QA": "single_doc_qa",
    "Multi-Doc QA": "multi_doc_qa",
    "Summarization": "summarization",
    "Few-shot Learning": "few_shot",
    "Synthetic Tasks": "synthetic",
    "Code Completion": "code",
}


def _published_place(column: str) -> Place | None:
    if column in DATASETS:
        return DATASET, column
    code, _, name = column.partition(":")
    language = next((title for title, own in LANGUAGES.items() if own == code), "")
    if not language:
        return None
    return (HEADLINE, language) if name == "Avg" else (language, _COLUMNS[name])


# ---------------------------------------------------------------------- the benchmarks


class LongBench(Benchmark):
    """What LongBench v1 and LongBench-E share."""

    family = "longbench_v1"
    prepared_as = "v1"
    metrics = "1.0"
    task_version = "1.2"
    source = Source(  # One archive for both; the repository was THUDM/LongBench before.
        repo="zai-org/LongBench",
        revision="5e628be450b7e67fb7ae6e201bd6d8f7056f7672",
        file="data.zip",
        sha256="cb45b11a4133c6bc1d6a44b0f8e701335ff1e543195db1103472e575857f7f64",
        size=114_000_000,
        converted=400_000_000,
        modelscope="ZhipuAI/LongBench",
    )
    rule = RULE_V1
    decoded_by = RELEASE_V1
    unit = PERCENT
    unit_note = "Percent, two decimals."
    sample_fields: Mapping[str, str] = {GOOGLE: ""}
    ids_may_be_lines = True
    ids_are_unique = False
    shares_documents = True
    file_kind = "v1_predictions"
    file_names = "all"
    task_fields = (GOOGLE,)
    fields = ("input", "context", "answers", "length", "dataset", "language", "all_classes", "_id")
    kinds: Mapping[str, str] = {"answers": "texts", "all_classes": "texts", "length": "int64"}
    samples = SAMPLES / "longbench_v1"
    presets = PresetTable(
        "LongBench v1",
        PRESETS / "longbench_v1.csv",
        "LongBench at 2e00731 (2025-01-15), LongBench/config/model2maxlen.json",
    )
    shared_metrics = "summarization"
    #: Datasets of the benchmark, and the end of their files' names.
    datasets: Mapping[str, Dataset]
    suffix = ""

    def _with_tasks(self, dimensions: Mapping[str, tuple[str, ...]], published: Any) -> None:
        self.tasks = MappingProxyType(
            {task.name: task for task in (self._task(one) for one in self.datasets.values())}
        )
        own = Table(self.name, self.name, self.title, "", self.tasks, dimensions, published)
        self.tables = MappingProxyType({own.name: own})

    def _task(self, one: Dataset) -> Task:
        name = f"{self.name}_{one.name.replace('-', '_')}"
        length = one.length_e if self.suffix else one.length
        unit = "characters" if one.language == "zh" else "words"
        return Task(
            name=name,
            table=self.name,
            counted=name,
            dataset=f"{one.name}{self.suffix}",
            label=one.name,
            questions=(one.rows_e or 0) if self.suffix else one.rows,
            template=one.name,
            budget=one.budget,
            chat=one.chat,
            segmented=one.language == "zh" and one.category in SEGMENTED,
            length=None if length is None else Length(length, length, unit),
        )

    def prepared(self) -> Iterator[tuple[str, Task]]:
        """Yield each data file's stem."""
        return ((task.dataset, task) for task in self.tasks.values())

    def row_problem(self, row: Any) -> str | None:
        """Return what is wrong with a decoded row, or None if it has the official schema."""
        from lm_eval_longbench.data.rows import are_texts, schema_problem

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

    def protocol(self, task: Task, *, thinking: bool = False) -> Protocol:
        """Limits are those of models of 4k, 8k, 16k and 32k."""
        # Official code has no template for a model that it does not know, but all of the published
        # models were asked in theirs.
        return replace(super().protocol(task), limits=(3500, 7500, 15500, 31500))

    def question_problem(self, doc: Mapping[str, Any], task: Task) -> str | None:
        if not is_texts(doc.get("answers")):
            return "'answers' is not a list of one or more texts"
        from lm_eval_longbench.metrics.longbench_v1 import CLASSIFICATION  # slow to import

        length = doc.get("length")
        if task.label in CLASSIFICATION and not is_texts(doc.get("all_classes")):
            return f"{task.label} needs 'all_classes', a list of texts"
        if self.suffix and (not isinstance(length, int) or isinstance(length, bool)):
            return "LongBench-E needs 'length', a whole number"
        return None

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
        """Return an answer; a log's row knows its place and its id, a prediction its line."""
        shown: dict[str, Any] = {"dataset": task.label, "index": index}
        if self.suffix:
            shown["length"] = doc["length"]
        classes, length = doc.get("all_classes"), doc.get("length")
        # Of official questions gold answers, classes and length are equal for two of a dataset at
        # most; without the length they often are.
        asked = (doc.get("input"), doc["answers"], classes, length)
        name = doc.get("_id")
        return Sample(
            table=self.name,
            task=task.name,
            id=name if isinstance(name, str) and name else str(index),
            order=index,
            repeat=repeat,
            response=response,
            golds=doc["answers"],
            classes=classes if is_texts(classes) else None,
            shown=shown,
            truncated=truncated,
            content=content_hash(*asked) if is_whole(length, 0, 2**53) else None,
            document=document,
        )

    def score(self, sample: Sample, reasoning: str = DROP, *, extras: bool = False) -> Scored:
        """Return what an answer is worth; with `extras` Google's ROUGE-L, too, where it has one."""
        from lm_eval_longbench.metrics.longbench_v1 import (  # slow to import
            ROUGE_DATASETS,
            rouge_l_google_sample,
            score_sample,
        )

        answer = answer_of(sample.response or "", reasoning)
        dataset = sample.shown["dataset"]
        worth = score_sample(dataset, answer, sample.golds, sample.classes)
        shown = sample.shown
        if extras and dataset in ROUGE_DATASETS:
            shown = {**shown, GOOGLE: rouge_l_google_sample(dataset, answer, sample.golds)}
        return Scored(worth, not answer.strip(), shown)

    def dimension_of(self, line: Mapping[str, Any], dimension: str) -> Any:
        if dimension == "dataset":
            return self.tasks[line["task"]].label
        length = line["length"]
        if not isinstance(length, int) or isinstance(length, bool):
            raise BadRow(f"'length' must be a whole number, not {length!r}")
        return bucket(length)

    def _google(self, answers: Answers, chosen: np.ndarray, dataset: str, unit: Unit) -> Figure:
        means = answers.means(answers.given, answers.fields[GOOGLE])
        tree = leaf(answers, f"{GOOGLE}/{dataset}", chosen, means, answers.given)
        return Figure(GOOGLE, dataset, tree, unit, metric=GOOGLE, main=True)

    def _googles(self, answers: Answers) -> list[Figure]:
        """Return Google's ROUGE-L of each dataset where it was computed."""
        if GOOGLE not in answers.fields:
            return []
        known = ~np.isnan(answers.fields[GOOGLE]).all(axis=1)
        return [
            self._google(answers, chosen, name, self.unit)
            for name in self.datasets
            if (chosen := answers.has("dataset", name) & known).any()
        ]

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
        from lm_eval_longbench.metrics.longbench_v1 import ROUGE_DATASETS  # slow to import

        buckets = BUCKET_METRICS.values() if self.suffix else ()
        google = [Metric(GOOGLE)] if task.label in ROUGE_DATASETS else []
        own = [Metric(name, "mean_of_known") for name in buckets]
        return (Metric("score"), *own, *google, *COUNTS)

    def groups(self) -> Iterator[Group]:
        names = []
        for category in CATEGORIES:
            members = [
                task.name
                for task in self.tasks.values()
                if DATASETS[task.label].category == category
            ]
            names.append(f"{self.name}_{category}")
            yield Group(names[-1], tuple(members), ("score",))
        yield Group(self.name, tuple(names))

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
        own = datasets_of(LANGUAGES[place[1]])
        return [name for name, task in table.tasks.items() if task.label in own]


class LongBenchV1(LongBench):
    """21 datasets; a headline a language: the mean of its six categories."""

    name, short, sign, title = "longbench_v1", "v1", "lb-v1", "LongBench v1"
    datasets = DATASETS
    official_folder = "pred"
    task_sections = (DATASET, GOOGLE)
    official_files: OfficialFiles | None = V1Files(official_folder)
    layouts: tuple[Layout, ...] = LAYOUTS
    look: Look = LOOK_V1

    def __init__(self) -> None:
        self.published = Published(
            PUBLISHED / "longbench_v1.csv",
            _published_place,
            "",
            {},
            "the results tables of LongBench",
            tuple((HEADLINE, language) for language in LANGUAGES),
            len(LANGUAGES),
            (PUBLISHED / "longbench_v1_papers.csv",),
        )
        self._with_tasks({"dataset": tuple(DATASETS)}, ("",))

    def _leaves(self, answers: Answers) -> dict[str, Leaf]:
        means = answers.means(answers.given)
        return {
            name: leaf(answers, name, answers.has("dataset", name), means, answers.given)
            for name in self.datasets
        }

    def figures(self, answers: Answers) -> list[Figure]:
        """Return headlines, category means and datasets; what lacks a dataset has no value.

        The headline of a language is the mean of its six category means, a category mean that of
        its datasets (source: LongBench, results tables). A question's score is the mean over its
        repeats.
        """
        leaves = self._leaves(answers)
        headlines, categories = [], []
        for language, code in LANGUAGES.items():
            own = {
                category: Mean(tuple(leaves[name] for name in datasets_of(code, category)))
                for category in CATEGORIES
            }
            whole = Mean(tuple(own.values()))
            headlines.append(Figure(HEADLINE, language, whole, PERCENT, main=True))
            categories += [Figure(language, name, mean, PERCENT) for name, mean in own.items()]
        datasets = self._dataset_figures(answers, leaves)
        return [*headlines, *categories, *datasets, *self._googles(answers)]

    def _dataset_figures(self, answers: Answers, leaves: Mapping[str, Leaf]) -> list[Figure]:
        present = {self.tasks[task].label for task in answers.expected}
        paths = {name: ("official", name) if name in present else () for name in leaves}
        return [
            Figure(DATASET, name, tree, PERCENT, _v1_rounded, paths[name])
            for name, tree in leaves.items()
        ]

    def question_figures(self, answers: Answers) -> list[Figure]:
        """Return the score of a dataset, and Google's ROUGE-L where it has one."""
        means, chosen = answers.means(answers.given), answers.given.any(axis=1)
        tree = leaf(answers, "score", chosen, means, answers.given)
        return [Figure(DATASET, "", tree, PERCENT, metric="score"), *self._googles(answers)]

    def groups(self) -> Iterator[Group]:
        yield from super().groups()
        for language, spoken in (("en", {"en", "code"}), ("zh", {"zh"})):
            own = [t.name for t in self.tasks.values() if DATASETS[t.label].language in spoken]
            yield Group(f"{self.name}_{language}", tuple(own))


class LongBenchE(LongBench):
    """13 datasets by document length, and the curve relative to all lengths."""

    name, short, sign, title = "longbench_v1_e", "v1_e", "lb-e", "LongBench-E"
    unit_note = "Percent, two decimals; relative figures are 100 * (x/y - 1)."
    datasets = MappingProxyType({one.name: one for one in ALL if one.rows_e is not None})
    suffix, official_folder = "_e", "pred_e"
    task_sections = (ALL_LENGTHS, GOOGLE)
    official_files: OfficialFiles | None = V1Files(official_folder)
    look: Look = LOOK_E

    def __init__(self) -> None:
        self._with_tasks({"dataset": tuple(self.datasets), "bucket": BUCKETS}, ())

    def figures(self, answers: Answers) -> list[Figure]:
        """Return of each dataset all lengths, its three buckets, and x/y - 1 of each bucket.

        x is the score of the bucket, y that of the whole dataset (source: LongBench paper, section
        on LongBench-E). Sections are lengths, so that the datasets of one length stand together.
        """
        means = answers.means(answers.given)
        present = {self.tasks[task].label for task in answers.expected}
        whole: list[Figure] = []
        buckets: dict[str, list[Figure]] = {name: [] for name in BUCKETS}
        relative: dict[str, list[Figure]] = {name: [] for name in BUCKETS}
        for dataset in self.datasets:
            own = answers.has("dataset", dataset)
            tree = leaf(answers, dataset, own, means, answers.given)
            whole.append(Figure(ALL_LENGTHS, dataset, tree, PERCENT, main=True))
            leaves = {
                name: leaf(
                    answers,
                    f"{dataset} {name}",
                    own & answers.has("bucket", name),
                    means,
                    answers.given,
                )
                for name in BUCKETS
            }
            for name, part in leaves.items():
                path = ("official", dataset, name) if dataset in present else ()
                buckets[name].append(Figure(name, dataset, part, PERCENT, _e_rounded, path))
                ratio = Relative(part, tuple(leaves.values()))
                section = f"{name}, relative to all lengths"
                relative[name].append(Figure(section, dataset, ratio, RELATIVE))
        sections = [whole, *buckets.values(), *relative.values()]
        return [figure for own in sections for figure in own] + self._googles(answers)

    def chart_figures(self, answers: Answers) -> list[Figure]:
        found = self.figures(answers)
        return found + means_of_tasks(found, PERCENT)

    def question_figures(self, answers: Answers) -> list[Figure]:
        """Return the score of a dataset, that of each bucket, and Google's ROUGE-L."""
        means, chosen = answers.means(answers.given), answers.given.any(axis=1)
        tree = leaf(answers, "score", chosen, means, answers.given)
        found = [Figure(DATASET, "", tree, PERCENT, metric="score")]
        for name, metric in BUCKET_METRICS.items():
            own = chosen & answers.has("bucket", name)
            tree = leaf(answers, name, own, means, answers.given)
            found.append(Figure(name, "", tree, PERCENT, metric=metric))
        return found + self._googles(answers)

    def official_metrics(self, task: Task) -> tuple[str, ...]:
        """Return the buckets: nothing official is over all lengths."""
        return tuple(BUCKET_METRICS.values())

    def _result(self, dataset: str, stated: Mapping[tuple[str, ...], float | None]) -> Any:
        return {name: stated[dataset, name] for name in BUCKETS}


V1: LongBenchV1 = LongBenchV1()
E: LongBenchE = LongBenchE()
