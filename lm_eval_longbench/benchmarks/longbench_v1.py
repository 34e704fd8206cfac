"""LongBench v1 and LongBench-E.

Source: LongBench at commit 2e00731 (task list, prompts, output budgets, chat policy, metrics, order
of operations) and the pinned data (row counts). Published figures: the results tables of LongBench
(Bai et al., ACL 2024; https://github.com/THUDM/LongBench, MIT licence), 8 models.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from lm_eval_longbench.benchmarks.base import (
    COUNTS,
    PUBLISHED,
    SAMPLES,
    Benchmark,
    Group,
    Metric,
    Place,
    Protocol,
    Published,
    Source,
    Table,
    Task,
)
from lm_eval_longbench.benchmarks.sample import (
    Read,
    Sample,
    Scored,
    Unusable,
    content_hash,
    is_texts,
    is_whole,
)
from lm_eval_longbench.figures.answers import Answers
from lm_eval_longbench.figures.figure import RELATIVE, Figure, Unit, leaf
from lm_eval_longbench.figures.means import percent_of, running_total
from lm_eval_longbench.figures.tree import Leaf, Mean, Relative
from lm_eval_longbench.metrics.reasoning import DROP, answer_of
from lm_eval_longbench.prompts.templates import fill
from lm_eval_longbench.prompts.truncation import RULE_V1

if TYPE_CHECKING:
    from lm_eval_longbench.data.documents import Documents

# ---------------------------------------------------------------------- the datasets

CATEGORIES = ("single_doc_qa", "multi_doc_qa", "summarization", "few_shot", "synthetic", "code")
# Of these the metrics segment Chinese words.
_SEGMENTED = CATEGORIES[:3]
# Headlines; the code sets count in both.
LANGUAGES = {"English": "en", "Chinese": "zh"}


@dataclass(frozen=True)
class Dataset:
    """One dataset.

    Attributes:
        name: official name, as in the data files.
        category: one of CATEGORIES.
        language: "en", "zh" or "code".
        rows: documents in the v1 file; rows_e: in the LongBench-E file, None where there is none.
        budget: official output budget in tokens.
        chat: whether official code wraps the prompt in the chat template.
    """

    name: str
    category: str
    language: str
    rows: int
    rows_e: int | None
    budget: int
    chat: bool = True


_ALL = (
    Dataset("narrativeqa", "single_doc_qa", "en", 200, None, 128),
    Dataset("qasper", "single_doc_qa", "en", 200, 224, 128),
    Dataset("multifieldqa_en", "single_doc_qa", "en", 150, 150, 64),
    Dataset("multifieldqa_zh", "single_doc_qa", "zh", 200, None, 64),
    Dataset("hotpotqa", "multi_doc_qa", "en", 200, 300, 32),
    Dataset("2wikimqa", "multi_doc_qa", "en", 200, 300, 32),
    Dataset("musique", "multi_doc_qa", "en", 200, None, 32),
    Dataset("dureader", "multi_doc_qa", "zh", 200, None, 128),
    Dataset("gov_report", "summarization", "en", 200, 300, 512),
    Dataset("qmsum", "summarization", "en", 200, None, 512),
    Dataset("multi_news", "summarization", "en", 200, 294, 512),
    Dataset("vcsum", "summarization", "zh", 200, None, 512),
    Dataset("trec", "few_shot", "en", 200, 300, 64, chat=False),
    Dataset("triviaqa", "few_shot", "en", 200, 300, 32, chat=False),
    Dataset("samsum", "few_shot", "en", 200, 300, 128, chat=False),
    Dataset("lsht", "few_shot", "zh", 200, None, 64, chat=False),
    Dataset("passage_count", "synthetic", "en", 200, 300, 32),
    Dataset("passage_retrieval_en", "synthetic", "en", 200, 300, 32),
    Dataset("passage_retrieval_zh", "synthetic", "zh", 200, None, 32),
    Dataset("lcc", "code", "code", 500, 300, 64, chat=False),
    Dataset("repobench-p", "code", "code", 500, 300, 64, chat=False),
)
DATASETS: Mapping[str, Dataset] = MappingProxyType({one.name: one for one in _ALL})
# Length buckets of LongBench-E: name, metric in the harness, and the length (words; characters for
# Chinese) that it ends before.
_BUCKETS = (("0-4k", "score_0_4k", 4000), ("4-8k", "score_4_8k", 8000), ("8k+", "score_8k_plus", 0))
BUCKETS = tuple(name for name, _, _ in _BUCKETS)
BUCKET_METRICS = {name: metric for name, metric, _ in _BUCKETS}


def bucket(length: int) -> str:
    """Return the official name of the length bucket that a document's `length` falls into."""
    return next((name for name, _, end in _BUCKETS if length < end), BUCKETS[-1])


def datasets_of(language: str, category: str | None = None) -> tuple[str, ...]:
    """Return the datasets of a headline, of one category or all; the code sets count in both.

    Args:
        language: "en" or "zh".
        category: one of CATEGORIES.
    """
    return tuple(
        one.name
        for one in _ALL
        if one.language in (language, "code") and category in (None, one.category)
    )


# ---------------------------------------------------------------------- figures


def _v1_rounded(values: np.ndarray, number: int) -> float:
    return percent_of(running_total(values), number, 2)


def _e_rounded(values: np.ndarray, number: int) -> float:
    # As the official scorer: numpy's mean, which adds pairwise, and the rounding of the np.float64
    # that it gives, which is not Python's.
    return float(round(100 * np.mean(values), 2))


PERCENT = Unit("percent", 100, 100, 2)
HEADLINE, DATASET, ALL_LENGTHS, GOOGLE = "headline", "dataset", "all lengths", "rougeL_google"
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


class _LongBench(Benchmark):
    """What LongBench v1 and LongBench-E share."""

    family = "longbench_v1"
    prepared_as = "v1"
    metrics = "1.0"
    task_version = "1.0"
    source = Source(  # One archive for both; the repository was THUDM/LongBench before.
        repo="zai-org/LongBench",
        revision="5e628be450b7e67fb7ae6e201bd6d8f7056f7672",
        file="data.zip",
        sha256="cb45b11a4133c6bc1d6a44b0f8e701335ff1e543195db1103472e575857f7f64",
        size=114_000_000,
        converted=400_000_000,
    )
    rule = RULE_V1
    unit = PERCENT
    unit_note = "Percent, two decimals."
    sample_fields: Mapping[str, str] = {GOOGLE: ""}
    ids_may_be_lines = True
    ids_are_unique = False
    file_kind = "v1_predictions"
    file_names = "all"
    task_fields = (GOOGLE,)
    fields = ("input", "context", "answers", "length", "dataset", "language", "all_classes", "_id")
    kinds: Mapping[str, str] = {"answers": "texts", "all_classes": "texts", "length": "int64"}
    samples = SAMPLES / "longbench_v1"
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
            segmented=one.language == "zh" and one.category in _SEGMENTED,
        )

    def load(self, task: Task, data_dir: str | None) -> Documents:
        """Open a dataset; a local place is a folder of its files or of the archive, or this."""
        from lm_eval_longbench.data.load_lines import load_lines  # slow to import

        return load_lines(self, task, data_dir)

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

    def render(self, task: Task, row: Mapping[str, Any]) -> str:
        """Return the official prompt of one document."""
        return fill(self.template(task), task.label, row)

    def generation(self, task: Task) -> dict[str, Any]:
        """Greedy, within the dataset's output budget, without stop strings."""
        return {
            "until": [],
            "max_gen_toks": task.budget,
            "do_sample": False,
            "temperature": 0.0,
        }

    def protocol(self, task: Task, *, thinking: bool = False) -> Protocol:
        """Limits are those of models of 4k, 8k, 16k and 32k."""
        # Official code has no template for a model that it does not know, but all of the published
        # models were asked in theirs.
        chat = "on" if task.chat else "raw"
        return Protocol((3500, 7500, 15500, 31500), chat, (task.budget,), 0.0, 1)

    def golds(self, doc: Mapping[str, Any]) -> list[str]:
        """Return the gold answers of a document."""
        return list(doc["answers"])

    def question_problem(self, doc: Mapping[str, Any], task: Task) -> str | None:
        """Return why a row's gold data cannot be scored against, or None."""
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
        """Return what an answer is worth; with `extras` Google's ROUGE-L too, where there is one."""
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
        """Return the dataset of a line's task, or the bucket of its length."""
        if dimension == "dataset":
            return self.tasks[line["task"]].label
        length = line["length"]
        if not isinstance(length, int) or isinstance(length, bool):
            return f"{length!r}, no whole number"
        return bucket(length)

    def _google(self, answers: Answers, chosen: np.ndarray, dataset: str, unit: Unit) -> Figure:
        means = answers.means(answers.given, answers.fields[GOOGLE])
        tree = leaf(answers, f"{GOOGLE}/{dataset}", chosen, means, answers.given)
        return Figure(GOOGLE, dataset, tree, unit, metric=GOOGLE)

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
        """Whether a row has a prediction with its gold answers, or is in a dataset's file."""
        return "pred" in row and ("answers" in row or stem in DATASETS)

    def is_official_name(self, stem: str) -> bool:
        """Whether a file is named like a dataset."""
        return stem in self.datasets

    def run_in_name(self, stem: str) -> str | None:
        """The files of a folder are one run."""
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
        """Return score, buckets, Google's ROUGE-L and counts."""
        from lm_eval_longbench.metrics.longbench_v1 import ROUGE_DATASETS  # slow to import

        buckets = BUCKET_METRICS.values() if self.suffix else ()
        google = [Metric(GOOGLE)] if task.label in ROUGE_DATASETS else []
        own = [Metric(name, "mean_of_known") for name in buckets]
        return (Metric("score"), *own, *google, *COUNTS)

    def groups(self) -> Iterator[Group]:
        """Yield the categories, whose score is the plain mean of their datasets, and the whole."""
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


class LongBenchV1(_LongBench):
    """21 datasets; a headline a language: the mean of its six categories."""

    name, short, sign, title = "longbench_v1", "v1", "lb-v1", "LongBench v1"
    datasets = DATASETS
    official_folder = "pred"

    def __init__(self) -> None:
        self.published = Published(
            PUBLISHED / "longbench_v1.csv",
            _published_place,
            "",
            {},
            "the results tables of LongBench",
            tuple((HEADLINE, language) for language in LANGUAGES),
            len(LANGUAGES),
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

        The headline of a language is the mean of its six category means, a category mean that of its
        datasets (source: LongBench, results tables). A question's score is the mean over its repeats.
        """
        leaves = self._leaves(answers)
        headlines, categories = [], []
        for language, code in LANGUAGES.items():
            own = {
                category: Mean(tuple(leaves[name] for name in datasets_of(code, category)))
                for category in CATEGORIES
            }
            headlines.append(Figure(HEADLINE, language, Mean(tuple(own.values())), PERCENT))
            categories += [Figure(language, name, mean, PERCENT) for name, mean in own.items()]
        present = {self.tasks[task].label for task in answers.expected}
        datasets = [
            Figure(
                DATASET,
                name,
                tree,
                PERCENT,
                _v1_rounded,
                ("official", name) if name in present else (),
            )
            for name, tree in leaves.items()
        ]
        return [*headlines, *categories, *datasets, *self._googles(answers)]

    def question_figures(self, answers: Answers) -> list[Figure]:
        """Return the score of a dataset, and Google's ROUGE-L where it has one."""
        means, chosen = answers.means(answers.given), answers.given.any(axis=1)
        tree = leaf(answers, "score", chosen, means, answers.given)
        return [Figure(DATASET, "", tree, PERCENT, metric="score"), *self._googles(answers)]

    def groups(self) -> Iterator[Group]:
        """Yield the categories, the whole, and the tasks by language, code with English."""
        yield from super().groups()
        for language, spoken in (("en", {"en", "code"}), ("zh", {"zh"})):
            own = [t.name for t in self.tasks.values() if DATASETS[t.label].language in spoken]
            yield Group(f"{self.name}_{language}", tuple(own))


class LongBenchE(_LongBench):
    """13 datasets by document length, and the curve relative to all lengths."""

    name, short, sign, title = "longbench_v1_e", "v1_e", "lb-e", "LongBench-E"
    unit_note = "Percent, two decimals; relative figures are 100 * (x/y - 1)."
    datasets = MappingProxyType({one.name: one for one in _ALL if one.rows_e is not None})
    suffix, official_folder = "_e", "pred_e"

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
            whole.append(Figure(ALL_LENGTHS, dataset, tree, PERCENT))
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


V1 = LongBenchV1()
E = LongBenchE()
