"""LongBench Pro: 25 secondary tasks in two prompt forms, three answers each.

Its tasks are in tasks/longbench_pro and tasks/longbench_pro_thinking. Source of the schema of the
summary: its code at 88fbeb8. Published figures: the leaderboard of LongBench Pro, December 2025
(https://github.com/caskcsg/longcontext, data Apache-2.0), 46 models in 80 settings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from lm_eval_longbench.benchmarks.asking import Asking
from lm_eval_longbench.benchmarks.base import PRESETS, PUBLISHED, SAMPLES, Benchmark, Published
from lm_eval_longbench.benchmarks.charts import BEST, LOOK_PRO, OVERALL, PASS, Look
from lm_eval_longbench.benchmarks.modes import ProAsking
from lm_eval_longbench.catalog.model import COUNTS as COUNT_METRICS
from lm_eval_longbench.catalog.model import Metric, Table, Task
from lm_eval_longbench.catalog.presets import PresetTable
from lm_eval_longbench.catalog.read import ours
from lm_eval_longbench.data.rows import kind_problem, value_problem
from lm_eval_longbench.metrics.lists import ITEM_METRICS
from lm_eval_longbench.metrics.reasoning import DROP, answer_of
from lm_eval_longbench.metrics.summary import SummaryParts, sample_failed, score_sample
from lm_eval_longbench.options import MOST_REPEATS, Options
from lm_eval_longbench.records.layouts import Layout, OfficialFiles
from lm_eval_longbench.records.pro_files import LAYOUTS, ProFiles
from lm_eval_longbench.records.sample import (
    Read,
    Sample,
    Scored,
    Unusable,
    document_of_text,
    is_texts,
    is_whole,
)
from lm_eval_longbench.signature.protocol import Protocol
from lm_eval_longbench.statistics.answers import Answers
from lm_eval_longbench.statistics.figure import (
    Figure,
    Place,
    Rows,
    Unit,
    best,
    field,
    mean,
    nested,
    only,
    passed,
)

# In the names of the official inference files.
INFERENCE = "_inference_"


# ---------------------------------------------------------------------- figures

NAME, THINKING, SECONDARY = "longbench_pro", "thinking", "secondary_task"
_PRO = ours(NAME)
COUNTS = _PRO.counts
# Dimensions by which official figures are broken down, in the official order, and their values.
DIMENSIONS = {name: tuple(own) for name, own in COUNTS.items() if name != SECONDARY}
# The tasks of the non-thinking form by the official names of the secondary tasks.
SECONDARY_TASKS = {own.label: own for own in _PRO.tasks.values() if own.table == NAME}
# Official summaries are shares; the published tables print them times 100, two decimals.
SHARE = Unit("share", 1, 100, 2)
# No summary equals its reference: beyond this score it passes.
_SUMMARY_PASS = 0.65
_SUMMARY_TASKS = tuple(
    dict.fromkeys(task.category for task in SECONDARY_TASKS.values() if task.summary)
)
ITERATION = "iteration"


def _bound(answers: Answers) -> np.ndarray:
    """Return what the best answer to a summary must exceed to pass, NaN for other questions."""
    summary = np.any([answers.has("primary_task", name) for name in _SUMMARY_TASKS], 0)
    return np.where(summary, _SUMMARY_PASS, np.nan)


def official(answers: Answers, figures: Sequence[Figure]) -> dict[str, Any]:
    """Return the summary in the official schema.

    A figure without a sample is None. A question that lacks a run is counted as inconsistent.
    Figures that would contain an unscored summary are None, and then (only then, the official
    schema has no such key) a last key says how many there are.
    """
    stated = nested(figures, "official")
    given, runs = answers.given, range(1, answers.repeats + 1)
    names = [
        "average_overall_metric",
        *(f"inference_iteration_{run}_overall_metric" for run in runs),
        *(f"average_{dimension}_metric" for dimension in DIMENSIONS),
        *(name for run in runs for name in (f"BoN-{run}", f"pass@{run}")),
    ]
    summary: dict[str, Any] = {
        "total_questions_num": len(answers),
        "inference_iterations": answers.repeats,
        "total_samples_num": int(given.sum()),
        "fail_samples_num": int(answers.failed.sum()),
        "inference_inconsistent_samples_num": int((~given).any(axis=1).sum()),
        **{name: stated[name] for name in names},
    }
    unscored = int(answers.unscored.sum())
    return summary | ({"unscored_samples_num": unscored} if unscored else {})


def _published_place(column: str) -> Place | None:
    if column == OVERALL:
        return OVERALL, OVERALL
    for prefix, section, name in (("best_of_", BEST, "best of "), ("pass_at_", PASS, "pass@")):
        if column.startswith(prefix):
            return section, name + column.removeprefix(prefix)
    dimension, _, value = column.partition(":")
    if dimension == "primary_task":
        return dimension, next(
            name for name in DIMENSIONS[dimension] if name.startswith(f"{value}.")
        )
    return (dimension, value) if value else None


# ---------------------------------------------------------------------- the benchmark


class LongBenchPro(Benchmark):
    """1,500 questions of 25 tasks; a headline a prompt form."""

    name = family = NAME
    short, sign, title, prepared_as = "pro", "lb-pro", "LongBench Pro", "pro"
    metrics = "1.1"
    layouts: tuple[Layout, ...] = LAYOUTS
    official_files: OfficialFiles | None = ProFiles()
    presets = PresetTable(
        "LongBench Pro",
        PRESETS / "longbench_pro.csv",
        "the inference settings published with LongBench Pro (December 2025)",
    )
    unit = SHARE
    unit_note = (
        "Shares of 1, as in the official summary, shown times 100 with two decimals, as published."
    )
    one_message = True
    length_field = "token_length"
    exact_means = True
    sample_fields: Mapping[str, str] = {"rouge_l": "", "semantic_similarity": "cosine"}
    file_kind = "pro_inference"
    file_names = "some"
    look: Look = LOOK_PRO
    split_by = SECONDARY
    shares_documents = True
    labelled = "secondary task"
    overall = "average_overall_metric"
    fields = (
        *("id", "context", "language", "token_length", "primary_task", "secondary_task"),
        *("contextual_requirement", "question_nonthinking", "question_thinking", "answer"),
        "difficulty",
    )
    kinds: Mapping[str, str] = {"answer": "texts"}
    samples = SAMPLES / NAME
    published: Published | None = Published(
        PUBLISHED / "longbench_pro.csv",
        _published_place,
        "mode",
        {"nonthinking": "nonthinking", THINKING: THINKING},
        "the leaderboard of LongBench Pro, December 2025",
        ((OVERALL, OVERALL), (BEST, "best of 3"), (PASS, "pass@3")),
        1,
    )

    # ------------------------------------------------------------------ asking

    def row_problem(self, row: Any) -> str | None:
        problem = kind_problem(row, self.fields, self.kinds)
        if problem:
            return problem
        if not any(text.strip() for text in row["answer"]):
            return "has no answer"
        task = SECONDARY_TASKS.get(row[SECONDARY])
        if task is None:
            return f"has an unknown secondary_task {row[SECONDARY]!r}"
        problem = value_problem(row, DIMENSIONS)
        if problem is None and row["primary_task"] != task.category:
            own = row["primary_task"]
            return f"has the primary_task {own!r}, which {task.label!r} is not part of"
        return problem

    def asking(self, task: Task, options: Options, repeats: int) -> Asking:
        return ProAsking(self, task, options, repeats)

    def protocol(self, task: Task, *, thinking: bool = False) -> Protocol:
        """Limits and budgets are the published models'; either form may get either score."""
        known = self.presets.published()
        limits = tuple(sorted({preset.truncate_to for preset in known}))
        given = (own.max_gen_toks for own in known if own.thinking == thinking)
        budgets = {own for own in given if own is not None}
        return Protocol(limits, "on", tuple(sorted(budgets)), None, self.repeats)

    def golds(self, doc: Mapping[str, Any]) -> list[str]:
        return list(doc["answer"])

    # ------------------------------------------------------------------ judging

    def question_problem(self, doc: Mapping[str, Any], task: Task) -> str | None:
        name = doc.get(SECONDARY)
        own = SECONDARY_TASKS.get(name) if isinstance(name, str) else None
        if own is None:
            return "'secondary_task' is missing or is none of LongBench Pro's"
        problem = super().question_problem(doc, task)
        if problem:
            return problem
        if doc["primary_task"] != own.category:
            return f"{own.label!r} is no part of the primary task {doc['primary_task']!r}"
        return None if own.label == task.label else f"{name!r} is another task than {task.name}"

    def golds_problem(self, doc: Mapping[str, Any]) -> str | None:
        if not is_texts(doc.get("answer")):
            return "'answer' is not a list of one or more texts"
        if SECONDARY_TASKS[doc[SECONDARY]].summary and not any(map(str.strip, doc["answer"])):
            return "'answer' holds no reference to compare a summary with"
        return None

    def shown_of(self, doc: Mapping[str, Any], task: Task, index: int) -> dict[str, Any]:
        shown = {name: doc[name] for name in (*DIMENSIONS, SECONDARY)}
        own = doc.get("scored_by")
        return {**shown, "scored_by": own} if isinstance(own, str) else shown

    def asked_of(self, doc: Mapping[str, Any], document: str | None) -> Sequence[Any] | None:
        # Many documents are asked one question: only with the document it is known for the same.
        questions = (doc.get("question_nonthinking"), doc.get("question_thinking"))
        return None if document is None else (*questions, doc["answer"], document)

    def score(self, sample: Sample, reasoning: str = DROP, *, extras: bool = False) -> Scored:
        """Return what an answer is worth; a summary (T4) has no score yet, unless it is empty."""
        answer = answer_of(sample.response or "", reasoning)
        metric = sample.shown.get("scored_by") or SECONDARY_TASKS[sample.shown[SECONDARY]].metric
        worth = score_sample(metric, sample.shown["language"], answer, sample.golds)
        if isinstance(worth, SummaryParts):
            return Scored(
                worth.score(None),
                worth.failed(None),
                {**sample.shown, "rouge_l": worth.rouge_l, "semantic_similarity": None},
                summary=answer,
            )
        return Scored(worth, sample_failed(metric, answer, sample.golds), sample.shown)

    def metrics_of(self, task: Task) -> Sequence[str]:
        # A summary is what takes its similarity; a list of items has none.
        return (task.metric,) if task.summary else tuple(ITEM_METRICS)

    def with_similarity(
        self, shown: Mapping[str, Any], similarity: float | None, *, official: bool
    ) -> tuple[float | None, bool, dict[str, Any]]:
        parts = SummaryParts(shown["rouge_l"], empty=similarity is None)
        counted = similarity if official else None
        known = 0.0 if similarity is None else similarity
        own = {**shown, "semantic_similarity": known}
        return parts.score(counted), parts.failed(counted), own

    # ------------------------------------------------------------------ figures

    def rows(self, answers: Answers) -> Iterable[Rows]:
        """Return every figure of the official summary, and the means of the secondary tasks.

        Figures are shares. An unscored summary leaves every figure that contains it without a
        value. A question that lacks a run takes part with the runs it has.
        """
        dimensions = tuple(DIMENSIONS)
        iterations, bests, passes, parts = [], [], [], []
        for n in range(1, answers.repeats + 1):
            path = ("official", f"inference_iteration_{n}_overall_metric")
            iterations.append(Rows(ITERATION, only(n), name=f"{ITERATION} {n}", path=path))
            path, highest = ("official", f"BoN-{n}"), best(n)
            bests.append(Rows(BEST, highest, name=f"best of {n}", path=(*path, "overall_metric")))
            passing, path_of_part = passed(n, _bound), (*path, "{dimension}", "{value}")
            passes.append(Rows(PASS, passing, name=f"pass@{n}", path=("official", f"pass@{n}")))
            section = f"best of {n}, {{dimension}}"
            parts.append(Rows(section, highest, by=dimensions, path=path_of_part, detail=True))
        average = ("official", "average_{dimension}_metric", "{value}")
        return (
            Rows(OVERALL, name=OVERALL, path=("official", "average_overall_metric")),
            *iterations,
            Rows("{dimension}", by=dimensions, path=average),
            *bests,
            *passes,
            Rows("{dimension}", by=(SECONDARY,), detail=True),
            *parts,
        )

    def question_rows(self, answers: Answers) -> Iterable[Rows]:
        """Return score, best-of-N and pass@N; of summaries the parts of the score, too."""
        runs = answers.repeats
        own = {"score": mean, "best_of_n": best(runs), "pass_at_n": passed(runs, _bound)}
        if any(answers.table.tasks[name].summary for name in answers.expected):
            own |= {name: field(name) for name in self.sample_fields}
        return [Rows("", reducer, metric=name) for name, reducer in own.items()]

    official = staticmethod(official)

    # ------------------------------------------------------------------ official files

    def is_official_row(self, row: Mapping[str, Any], stem: str) -> bool:
        return not self.variant and SECONDARY in row and ("prediction" in row or "bon_idx" in row)

    def is_official_name(self, stem: str) -> bool:
        return not self.variant and INFERENCE in stem

    def run_in_name(self, stem: str) -> str | None:
        return stem.partition(INFERENCE)[0] if self.is_official_name(stem) else None

    def is_scored_elsewhere(self, row: Mapping[str, Any], stem: str) -> bool:
        return not self.variant and "metric" in row and INFERENCE not in stem

    def official_table(self, row: Any, stem: str) -> str:
        lower = stem.lower()
        thinking = "thinking" in lower and not re.search(r"non[-_ ]?thinking", lower)
        return f"{NAME}_thinking" if thinking else NAME

    def read_official(self, row: Mapping[str, Any], index: int, table: Table, task: str) -> Read:
        asked = SECONDARY_TASKS.get(str(row.get(SECONDARY)))
        own = table.tasks[f"{table.name}_{asked.dataset if asked else 't1_1'}"]
        problem = self.question_problem(row, own)
        if problem:
            return Unusable(problem)
        if "prediction" not in row:
            return Unusable("no field 'prediction'")
        if not isinstance(row["prediction"], str | None):
            return Unusable("'prediction' is neither a text nor null")
        if not is_whole(row.get("bon_idx"), 1, MOST_REPEATS):
            return Unusable(f"'bon_idx' is not a whole number from 1 to {MOST_REPEATS}")
        # The official files have no `context`.
        document = document_of_text(row.get("context"))
        answer = row["prediction"] or ""
        return [self.sample(row, own, row["bon_idx"], answer, document=document)]

    # ------------------------------------------------------------------ in the harness

    def harness_metrics(self, task: Task) -> tuple[Metric, ...]:
        names = ("score", "best_of_n", "pass_at_n", *(self.sample_fields if task.summary else ()))
        # A summary has no score until its similarity is known.
        return (*(Metric(name, "mean_if_all_known") for name in names), *COUNT_METRICS)


PRO: LongBenchPro = LongBenchPro()
