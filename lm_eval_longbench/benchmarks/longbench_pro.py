"""LongBench Pro: 25 secondary tasks in two prompt forms, three answers each.

Source: the benchmark's pinned data (names, counts), its evaluation (metric of each task, schema of
the summary) at 88fbeb8. Published figures: the leaderboard of LongBench Pro, December 2025
(https://github.com/caskcsg/longcontext, data Apache-2.0), 46 models in 80 settings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from lm_eval_longbench.benchmarks.base import (
    COUNTS as COUNT_METRICS,
)
from lm_eval_longbench.benchmarks.base import (
    MOST_REPEATS,
    PUBLISHED,
    SAMPLES,
    Asking,
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
    document_of_text,
    is_texts,
    is_whole,
    text_id,
)
from lm_eval_longbench.errors import PromptError
from lm_eval_longbench.figures.answers import Answers
from lm_eval_longbench.figures.figure import Figure, Unit, leaf
from lm_eval_longbench.metrics.reasoning import DROP, answer_of
from lm_eval_longbench.presets.longbench_pro import published_presets
from lm_eval_longbench.prompts.templates import fill
from lm_eval_longbench.prompts.truncation import RULE_PRO

if TYPE_CHECKING:
    from lm_eval_longbench.data.documents import Documents
    from lm_eval_longbench.options import Options

# ---------------------------------------------------------------------- tasks and dimensions

NAME, THINKING = "longbench_pro", "thinking"
QUESTIONS, QUESTIONS_PER_TASK = 1500, 60
# In the names of the official inference files.
INFERENCE = "_inference_"
# The metric of tasks whose score needs semantic similarity.
SUMMARY = "summary"
PRIMARY_TASKS = (
    "T1. Retrieval & Ranking",
    "T2. Sequencing & Structure Reconstruction",
    "T3. Evidence-Grounded QA",
    "T4. Summarization & Synthesis",
    "T5. Attribution & Citation Alignment",
    "T6. Aggregation & Clustering",
    "T7. Consistency & Compliance Checking",
    "T8. Structured & Numeric Reasoning",
    "T9. Version & Code Diff Analysis",
    "T10. Rule Induction & In-Context Learning",
    "T11. Dialogue Memory & Long-Horizon Tracking",
)
# Dimensions by which official figures are broken down, in the official order, and their values.
DIMENSIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "token_length": ("8k", "16k", "32k", "64k", "128k", "256k"),
        "contextual_requirement": ("Full", "Partial"),
        "difficulty": ("Easy", "Moderate", "Hard", "Extreme"),
        "primary_task": PRIMARY_TASKS,
        "language": ("Chinese", "English"),
    }
)


@dataclass(frozen=True)
class SecondaryTask:
    """One secondary task.

    Attributes:
        name: official name, such as "T1.1 Global Cohesive Retrieval".
        metric: "accuracy", "f1", "sub_em", "ndcg", "pairwise_accuracy" or "summary".
    """

    name: str
    metric: str

    @property
    def code(self) -> str:
        """Short form for task and file names, such as "t1_1"."""
        return self.name.split(" ", 1)[0].lower().replace(".", "_")

    @property
    def primary_code(self) -> str:
        """Short form of the primary task, such as "t1"."""
        return self.code.split("_", 1)[0]

    @property
    def primary(self) -> str:
        """Official name of the primary task."""
        return PRIMARY_TASKS[int(self.primary_code[1:]) - 1]


_ALL = (
    SecondaryTask("T1.1 Global Cohesive Retrieval", "ndcg"),
    SecondaryTask("T1.2 Key-Snippet Retrieval", "ndcg"),
    SecondaryTask("T2.1 Global Timeline Reconstruction", "pairwise_accuracy"),
    SecondaryTask("T2.2 Local Causal Chain Sorting", "pairwise_accuracy"),
    SecondaryTask("T3.1 Multi-Doc Integration QA", "accuracy"),
    SecondaryTask("T3.2 Single-Hop Fact QA", "accuracy"),
    SecondaryTask("T4.1 Global-Coverage Constrained Summary", "summary"),
    SecondaryTask("T4.2 Query-Focused Summary", "summary"),
    SecondaryTask("T5.1 Full-Sentence Citation Alignment", "f1"),
    SecondaryTask("T5.2 Key-Statement Citation Alignment", "f1"),
    SecondaryTask("T6.1 Large-Scale Document Clustering", "sub_em"),
    SecondaryTask("T6.2 Targeted Subset Cluster Identification", "f1"),
    SecondaryTask("T6.3 Global Frequency Analysis", "pairwise_accuracy"),
    SecondaryTask("T7.1 Global Conflict & Inconsistency Localization", "f1"),
    SecondaryTask("T7.2 Targeted Rule or Condition Violation Detection", "f1"),
    SecondaryTask("T7.3 Comprehensive Error & Anomaly Sweep", "f1"),
    SecondaryTask("T8.1 Structured Multi-Source Consistency Verification", "sub_em"),
    SecondaryTask("T8.2 Single-Source Targeted Aggregation", "sub_em"),
    SecondaryTask("T8.3 Long-Context Procedural State Tracking", "sub_em"),
    SecondaryTask("T9.1 Dependency-Aware Multi-Version Impact Analysis", "f1"),
    SecondaryTask("T9.2 Localized Interface Change Detection", "f1"),
    SecondaryTask("T10.1 Large-Scale In-Context Rule Induction", "sub_em"),
    SecondaryTask("T10.2 Targeted Example-Based Rule Induction", "sub_em"),
    SecondaryTask("T11.1 Long-Range Entity & Commitment Tracking", "accuracy"),
    SecondaryTask("T11.2 Short-Range Reference Resolution & State Query", "accuracy"),
)
SECONDARY_TASKS: Mapping[str, SecondaryTask] = MappingProxyType({task.name: task for task in _ALL})
BY_CODE: Mapping[str, SecondaryTask] = MappingProxyType({task.code: task for task in _ALL})


def _counts() -> dict[str, Mapping[str, int]]:
    """Questions by dimension: 25 secondary tasks x 2 languages x 6 lengths x 5 questions."""
    per_primary = dict.fromkeys(PRIMARY_TASKS, 0)
    for task in _ALL:
        per_primary[task.primary] += QUESTIONS_PER_TASK
    return {
        "token_length": dict.fromkeys(DIMENSIONS["token_length"], QUESTIONS // 6),
        "contextual_requirement": {"Full": 840, "Partial": 660},
        "difficulty": {"Easy": 482, "Moderate": 289, "Hard": 289, "Extreme": 440},
        "primary_task": per_primary,
        "language": dict.fromkeys(DIMENSIONS["language"], QUESTIONS // 2),
        "secondary_task": {task.name: QUESTIONS_PER_TASK for task in _ALL},
    }


# Questions of the official set that have each value, by dimension; the secondary task comes last.
COUNTS: Mapping[str, Mapping[str, int]] = MappingProxyType(_counts())


# ---------------------------------------------------------------------- figures

# Official summaries are shares; the published tables print them times 100, two decimals.
SHARE = Unit("share", 1, 100, 2)
# No summary equals its reference: beyond this score it passes.
_SUMMARY_PASS = 0.65
_SUMMARY_TASKS = tuple(
    dict.fromkeys(task.primary for task in SECONDARY_TASKS.values() if task.metric == SUMMARY)
)
OVERALL, ITERATION, SECONDARY, BEST, PASS = (
    "overall",
    "iteration",
    "secondary_task",
    "best of N",
    "pass@N",
)


def _published_place(column: str) -> Place | None:
    if column == OVERALL:
        return OVERALL, OVERALL
    for prefix, section, name in (("best_of_", BEST, "best of "), ("pass_at_", PASS, "pass@")):
        if column.startswith(prefix):
            return section, name + column.removeprefix(prefix)
    dimension, _, value = column.partition(":")
    if dimension == "primary_task":
        return dimension, next(name for name in PRIMARY_TASKS if name.startswith(f"{value}."))
    return (dimension, value) if value else None


def best_scores(scores: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Return each question's best score; NaN if one is unscored or none counts.

    Args:
        scores: float64 [questions, repeats]; NaN where unscored.
        counted: bool [questions, repeats].
    """
    unknown = (counted & np.isnan(scores)).any(axis=1) | ~counted.any(axis=1)
    return np.where(unknown, np.nan, np.where(counted, scores, -1.0).max(axis=1))


def passed(best: np.ndarray, is_summary: np.ndarray) -> np.ndarray:
    """Return 1.0 where a best score is 1.0 (of a summary: above 0.65), else 0.0; NaN of NaN.

    Args:
        best: float64 [questions].
        is_summary: bool [questions].
    """
    reached = np.where(is_summary, best > _SUMMARY_PASS, best == 1.0)
    return np.where(np.isnan(best), np.nan, reached.astype(np.float64))


# ---------------------------------------------------------------------- the benchmark

# Name of a form's tables and tasks; its title; the row's question; the output budget; published
# modes that it is comparable with. A thinking model officially gets the non-thinking prompt, and
# its score is a thinking score.
_FORMS = (
    (NAME, "non-thinking prompt", "question_nonthinking", 1024, ("nonthinking", THINKING)),
    (f"{NAME}_thinking", "thinking prompt", "question_thinking", 8192, (THINKING,)),
)


class LongBenchPro(Benchmark):
    """1,500 questions of 25 tasks; a headline a prompt form."""

    name = family = NAME
    short, sign, title, prepared_as = "pro", "lb-pro", "LongBench Pro", "pro"
    metrics = "1.0"
    task_version = "1.0"
    source = Source(
        repo="caskcsg/LongBench-Pro",
        revision="4996884deae51f5e5d23c88da9d857fc54e5fa15",
        file="longbench_pro.json",
        sha256="92ff05f6088e212d06c5a731ab86000b69cee6a0900cbbd524a25851e3c30de0",
        size=531_535_940,
        converted=531_535_940,
    )
    rule = RULE_PRO
    unit = SHARE
    unit_note = (
        "Shares of 1, as in the official summary, shown times 100 with two decimals, as published."
    )
    repeats = 3
    one_message = True
    choices = DIMENSIONS
    exact_means = True
    sample_fields: Mapping[str, str] = {"rouge_l": "", "semantic_similarity": "cosine"}
    file_kind = "pro_inference"
    file_names = "some"
    labelled = "secondary task"
    overall = "average_overall_metric"
    fields = (
        *("id", "context", "language", "token_length", "primary_task", "secondary_task"),
        *("contextual_requirement", "question_nonthinking", "question_thinking", "answer"),
        "difficulty",
    )
    kinds: Mapping[str, str] = {"answer": "texts"}
    counts = COUNTS
    samples = SAMPLES / NAME
    shared_metrics = "summary"
    published = Published(
        PUBLISHED / "longbench_pro.csv",
        _published_place,
        "mode",
        {"nonthinking": "nonthinking", THINKING: THINKING},
        "the leaderboard of LongBench Pro, December 2025",
        ((OVERALL, OVERALL), (BEST, "best of 3"), (PASS, "pass@3")),
        1,
    )

    def __init__(self) -> None:
        dimensions = {**DIMENSIONS, SECONDARY: tuple(SECONDARY_TASKS)}
        tables = {}
        for name, title, question, budget, modes in _FORMS:
            tasks = {
                f"{name}_{one.code}": Task(
                    name=f"{name}_{one.code}",
                    table=name,
                    counted=f"{name}_{one.code}",
                    dataset=one.code,
                    label=one.name,
                    questions=QUESTIONS_PER_TASK,
                    template="prompt",
                    budget=budget,
                    segmented=one.metric == SUMMARY,
                    summary=one.metric == SUMMARY,
                    question=question,
                )
                for one in SECONDARY_TASKS.values()
            }
            tables[name] = Table(name, NAME, self.title, title, tasks, dimensions, modes)
        self.tables = MappingProxyType(tables)
        self.tasks = MappingProxyType(
            {name: task for table in tables.values() for name, task in table.tasks.items()}
        )

    # ------------------------------------------------------------------ asking

    def load(self, task: Task, data_dir: str | None) -> Documents:
        from lm_eval_longbench.data.load_array import load_array  # slow to import

        return load_array(self, data_dir, task.dataset, {SECONDARY: task.label})

    def arrow_file(self, row: Mapping[str, Any]) -> str:
        return SECONDARY_TASKS[row[SECONDARY]].code

    def row_problem(self, row: Any) -> str | None:
        from lm_eval_longbench.data.rows import are_texts, schema_problem, value_problem

        texts = tuple(name for name in self.fields if name not in self.kinds)
        problem = schema_problem(row, self.fields, texts)
        if problem:
            return problem
        if not are_texts(row["answer"]):
            return "has a field 'answer' that is not a list of texts"
        if not any(text.strip() for text in row["answer"]):
            return "has no answer"
        task = SECONDARY_TASKS.get(row[SECONDARY])
        if task is None:
            return f"has an unknown secondary_task {row[SECONDARY]!r}"
        problem = value_problem(row, DIMENSIONS)
        if problem is None and row["primary_task"] != task.primary:
            own = row["primary_task"]
            return f"has the primary_task {own!r}, which {task.name!r} is not part of"
        return problem

    def asking(self, task: Task, options: Options, repeats: int) -> Asking:
        from lm_eval_longbench.benchmarks.longbench_pro_asking import ProAsking

        return ProAsking(self, task, options, repeats)

    def render(self, task: Task, row: Mapping[str, Any]) -> str:
        """Return the official prompt of one question, stripped."""
        if task.question not in row:
            raise PromptError(
                f"The LongBench Pro prompt needs the field {task.question!r}; the document lacks "
                "it."
            )
        fields = {**row, "question": row[task.question]}
        return fill(self.template(task), "LongBench Pro", fields).strip()

    def generation(self, task: Task) -> dict[str, Any]:
        """Sampled at temperature 1, within the prompt form's output budget."""
        return {"until": [], "max_gen_toks": task.budget, "temperature": 1.0}

    def protocol(self, task: Task, *, thinking: bool = False) -> Protocol:
        """Limits and budgets are those of the published models; either form may get either score."""
        known = published_presets()
        limits = tuple(sorted({preset.truncate_to for preset in known}))
        budgets = {preset.max_gen_toks for preset in known if preset.thinking == thinking}
        return Protocol(limits, "on", tuple(sorted(budgets)), None, 3)

    def golds(self, doc: Mapping[str, Any]) -> list[str]:
        return list(doc["answer"])

    # ------------------------------------------------------------------ judging

    def question_problem(self, doc: Mapping[str, Any], task: Task) -> str | None:
        problem = _question_problem(doc)
        if problem is None and doc[SECONDARY] != task.label:
            return f"{doc[SECONDARY]!r} is another task than {task.name}"
        return problem

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
        # Many documents are asked one question: only with the document it is known for the same.
        questions = (doc.get("question_nonthinking"), doc.get("question_thinking"))
        asked = (*questions, doc["answer"], document)
        return Sample(
            table=task.table,
            task=task.name,
            id=text_id(doc["id"]) or "",
            order=0,
            repeat=repeat,
            response=response,
            golds=doc["answer"],
            shown={name: doc[name] for name in (*DIMENSIONS, SECONDARY)},
            truncated=truncated,
            content=None if document is None else content_hash(*asked),
            document=document,
        )

    def score(self, sample: Sample, reasoning: str = DROP, *, extras: bool = False) -> Scored:
        """Return what an answer is worth; a summary (T4) has no score yet, unless it is empty."""
        from lm_eval_longbench.metrics.longbench_pro import (  # slow to import
            SummaryParts,
            sample_failed,
            score_sample,
        )

        answer = answer_of(sample.response or "", reasoning)
        metric = SECONDARY_TASKS[sample.shown[SECONDARY]].metric
        worth = score_sample(metric, sample.shown["language"], answer, sample.golds)
        if isinstance(worth, SummaryParts):
            return Scored(
                worth.score(None),
                worth.failed(None),
                {**sample.shown, "rouge_l": worth.rouge_l, "semantic_similarity": None},
                summary=answer,
            )
        return Scored(worth, sample_failed(metric, answer, sample.golds), sample.shown)

    def with_similarity(
        self, shown: Mapping[str, Any], similarity: float | None, *, official: bool
    ) -> tuple[float | None, bool, dict[str, Any]]:
        from lm_eval_longbench.metrics.longbench_pro import SummaryParts

        parts = SummaryParts(shown["rouge_l"], empty=similarity is None)
        counted = similarity if official else None
        known = 0.0 if similarity is None else similarity
        own = {**shown, "semantic_similarity": known}
        return parts.score(counted), parts.failed(counted), own

    # ------------------------------------------------------------------ figures

    def question_figures(self, answers: Answers) -> list[Figure]:
        """Return score, best-of-N and pass@N; of summaries the parts of the score, too."""
        given = answers.given
        best = best_scores(answers.scores, given)
        found = [
            ("score", answers.means(given)),
            ("best_of_n", best),
            ("pass_at_n", passed(best, _is_summary(answers))),
        ]
        found += [
            (name, answers.means(given, answers.fields.get(name, answers.scores * np.nan)))
            for name in self.sample_fields
            if any(
                task.summary
                for name_of, task in answers.table.tasks.items()
                if name_of in answers.expected
            )
        ]
        return [
            Figure(
                OVERALL,
                name,
                leaf(answers, name, given.any(axis=1), values, given),
                SHARE,
                metric=name,
            )
            for name, values in found
        ]

    def figures(self, answers: Answers) -> list[Figure]:
        """Return every figure of the official summary, and the means of the secondary tasks.

        Figures are shares. An unscored summary leaves every figure that contains it without a
        value. A question that lacks a run takes part with the runs it has.
        """
        given, means = answers.given, answers.means(answers.given)
        is_summary, runs = _is_summary(answers), range(1, answers.repeats + 1)

        def figure(
            section: str,
            name: str,
            values: np.ndarray,
            counted: np.ndarray,
            path: tuple[str, ...] = (),
            among: np.ndarray | None = None,
            *,
            binary: bool = False,
            detail: bool = False,
        ) -> Figure:
            chosen = counted.any(axis=1)
            chosen = chosen if among is None else chosen & among
            tree = leaf(answers, f"{section}/{name}", chosen, values, counted, binary=binary)
            own = ("official", *path) if path else ()
            return Figure(section, name, tree, SHARE, path=own, detail=detail)

        def by_dimension(
            prefix: str, values: np.ndarray, counted: np.ndarray, path: tuple[str, ...]
        ) -> Iterator[Figure]:
            for dimension, names in DIMENSIONS.items():
                key = (*path, dimension) if path else (f"average_{dimension}_metric",)
                for name in names:
                    section, among = f"{prefix}{dimension}", answers.has(dimension, name)
                    yield figure(
                        section, name, values, counted, (*key, name), among, detail=bool(prefix)
                    )

        found = [figure(OVERALL, OVERALL, means, given, ("average_overall_metric",))]
        upto = {}
        for run in runs:
            only = np.zeros_like(given)
            only[:, run - 1] = given[:, run - 1]
            key = f"inference_iteration_{run}_overall_metric"
            found.append(figure(ITERATION, f"{ITERATION} {run}", answers.means(only), only, (key,)))
            counted = given & (np.arange(answers.repeats) < run)
            upto[run] = (counted, best_scores(answers.scores, counted))
        found += by_dimension("", means, given, ())
        for run, (counted, best) in upto.items():
            path = (f"BoN-{run}", "overall_metric")
            found.append(figure(BEST, f"best of {run}", best, counted, path))
        for run, (counted, best) in upto.items():
            values, path = passed(best, is_summary), (f"pass@{run}",)
            found.append(figure(PASS, f"pass@{run}", values, counted, path, binary=True))
        for name in SECONDARY_TASKS:
            among = answers.has(SECONDARY, name)
            found.append(figure(SECONDARY, name, means, given, (), among, detail=True))
        for run, (counted, best) in upto.items():
            found += by_dimension(f"best of {run}, ", best, counted, (f"BoN-{run}",))
        return found

    def official(self, answers: Answers, figures: Sequence[Figure]) -> dict[str, Any]:
        """Return the summary in the official schema.

        A figure without a sample is None. A question that lacks a run is counted as inconsistent.
        Figures that would contain an unscored summary are None, and then (only then, the official
        schema has no such key) a last key says how many there are.
        """
        stated = {figure.path[1:]: figure.official for figure in figures if figure.path}
        given, runs = answers.given, range(1, answers.repeats + 1)

        def by_dimension(*path: str) -> dict[str, Any]:
            return {
                dimension: {name: stated[(*path, dimension, name)] for name in names}
                for dimension, names in DIMENSIONS.items()
            }

        summary: dict[str, Any] = {
            "total_questions_num": len(answers),
            "inference_iterations": answers.repeats,
            "total_samples_num": int(given.sum()),
            "fail_samples_num": int(answers.failed.sum()),
            "inference_inconsistent_samples_num": int((~given).any(axis=1).sum()),
            "average_overall_metric": stated[("average_overall_metric",)],
        }
        for run in runs:
            key = f"inference_iteration_{run}_overall_metric"
            summary[key] = stated[(key,)]
        for dimension, names in DIMENSIONS.items():
            key = f"average_{dimension}_metric"
            summary[key] = {name: stated[(key, name)] for name in names}
        for run in runs:
            best = f"BoN-{run}"
            overall = stated[(best, "overall_metric")]
            summary[best] = {"overall_metric": overall, **by_dimension(best)}
            summary[f"pass@{run}"] = stated[(f"pass@{run}",)]
        unscored = int(answers.unscored.sum())
        return summary | ({"unscored_samples_num": unscored} if unscored else {})

    # ------------------------------------------------------------------ official files

    def is_official_row(self, row: Mapping[str, Any], stem: str) -> bool:
        return SECONDARY in row and ("prediction" in row or "bon_idx" in row)

    def is_official_name(self, stem: str) -> bool:
        return INFERENCE in stem

    def run_in_name(self, stem: str) -> str | None:
        return stem.partition(INFERENCE)[0] if INFERENCE in stem else None

    def is_scored_elsewhere(self, row: Mapping[str, Any], stem: str) -> bool:
        return "metric" in row and INFERENCE not in stem

    def official_table(self, row: Any, stem: str) -> str:
        """Return the form of asking that a file's name says."""
        lower = stem.lower()
        thinking = "thinking" in lower and not re.search(r"non[-_ ]?thinking", lower)
        return f"{NAME}_thinking" if thinking else NAME

    def read_official(self, row: Mapping[str, Any], index: int, table: Table, task: str) -> Read:
        problem = _question_problem(row)
        if problem:
            return Unusable(problem)
        if "prediction" not in row:
            return Unusable("no field 'prediction'")
        if not isinstance(row["prediction"], str | None):
            return Unusable("'prediction' is neither a text nor null")
        if not is_whole(row.get("bon_idx"), 1, MOST_REPEATS):
            return Unusable(f"'bon_idx' is not a whole number from 1 to {MOST_REPEATS}")
        own = table.tasks[f"{table.name}_{SECONDARY_TASKS[row[SECONDARY]].code}"]
        # The official files have no `context`.
        document = document_of_text(row.get("context"))
        answer = row["prediction"] or ""
        return [self.sample(row, own, row["bon_idx"], answer, document=document)]

    # ------------------------------------------------------------------ in the harness

    def harness_metrics(self, task: Task) -> tuple[Metric, ...]:
        names = ("score", "best_of_n", "pass_at_n", *(self.sample_fields if task.summary else ()))
        # A summary has no score until its similarity is known.
        return (*(Metric(name, "mean_if_all_known") for name in names), *COUNT_METRICS)

    def groups(self) -> Iterator[Group]:
        """Yield the primary tasks of each form and the whole; questions weigh alike."""
        names = ("score", "best_of_n", "pass_at_n", *(one.name for one in COUNT_METRICS))
        for form, table in self.tables.items():
            groups = []
            for number, primary in enumerate(PRIMARY_TASKS, start=1):
                members = tuple(
                    name
                    for name, task in table.tasks.items()
                    if SECONDARY_TASKS[task.label].primary == primary
                )
                groups.append(f"{form}_t{number}")
                yield Group(groups[-1], members, names, by_size=True, alias=primary)
            yield Group(form, tuple(groups), names, by_size=True)


def _is_summary(answers: Answers) -> np.ndarray:
    """Return which questions ask for a summary, bool [questions]."""
    return np.any([answers.has("primary_task", name) for name in _SUMMARY_TASKS], axis=0)


def _question_problem(row: Mapping[str, Any]) -> str | None:
    if text_id(row.get("id")) is None:
        return "no field 'id' with a text"
    name = row.get(SECONDARY)
    if not isinstance(name, str) or name not in SECONDARY_TASKS:
        return "'secondary_task' is missing or is none of LongBench Pro's"
    task = SECONDARY_TASKS[name]
    for dimension, valid in DIMENSIONS.items():
        if row.get(dimension) not in valid:
            return f"{dimension!r} is missing or not one of {', '.join(valid)}"
    if row["primary_task"] != task.primary:
        return f"{task.name!r} is no part of the primary task {row['primary_task']!r}"
    if not is_texts(row.get("answer")):
        return "'answer' is not a list of one or more texts"
    if task.metric == SUMMARY and not any(text.strip() for text in row["answer"]):
        return "'answer' holds no reference to compare a summary with"
    return None


PRO = LongBenchPro()
