"""LongBench Pro: 25 secondary tasks in two prompt forms, three answers each.

Its tasks are in tasks/longbench_pro and tasks/longbench_pro_thinking. Source of the schema of the
summary: its code at 88fbeb8. Published figures: the leaderboard of LongBench Pro, December 2025
(https://github.com/caskcsg/longcontext, data Apache-2.0), 46 models in 80 settings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.benchmarks import longbench_pro_figures
from lm_eval_longbench.benchmarks.answer_files import Layout, OfficialFiles
from lm_eval_longbench.benchmarks.base import (
    COUNTS as COUNT_METRICS,
)
from lm_eval_longbench.benchmarks.base import (
    MOST_REPEATS,
    PRESETS,
    PUBLISHED,
    SAMPLES,
    Benchmark,
    Metric,
    Place,
    Protocol,
    Published,
    Table,
    Task,
)
from lm_eval_longbench.benchmarks.longbench_pro_figures import (
    BEST,
    DIMENSIONS,
    LOOK_PRO,
    NAME,
    OVERALL,
    PASS,
    SECONDARY,
    SECONDARY_TASKS,
    SHARE,
    THINKING,
)
from lm_eval_longbench.benchmarks.longbench_pro_files import LAYOUTS, ProFiles
from lm_eval_longbench.benchmarks.parts import Look
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
from lm_eval_longbench.catalog.presets import PresetTable
from lm_eval_longbench.data.rows import kind_problem, value_problem
from lm_eval_longbench.metrics.lists import ITEM_METRICS
from lm_eval_longbench.metrics.reasoning import DROP, answer_of
from lm_eval_longbench.metrics.summary import SummaryParts, sample_failed, score_sample

if TYPE_CHECKING:
    from lm_eval_longbench.benchmarks.asking import Asking
    from lm_eval_longbench.options import Options

# In the names of the official inference files.
INFERENCE = "_inference_"


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
    choices = DIMENSIONS
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
        from lm_eval_longbench.benchmarks.longbench_pro_asking import ProAsking

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
        own = {"scored_by": doc["scored_by"]} if isinstance(doc.get("scored_by"), str) else {}
        return Sample(
            table=task.table,
            task=task.counted,
            id=text_id(doc["id"]) or "",
            order=0,
            repeat=repeat,
            response=response,
            golds=doc["answer"],
            shown={**{name: doc[name] for name in (*DIMENSIONS, SECONDARY)}, **own},
            truncated=truncated,
            content=None if document is None else content_hash(*asked),
            document=document,
        )

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

    figures = staticmethod(longbench_pro_figures.figures)
    question_figures = staticmethod(longbench_pro_figures.question_figures)
    official = staticmethod(longbench_pro_figures.official)

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
        problem = _question_problem(row)
        if problem:
            return Unusable(problem)
        if "prediction" not in row:
            return Unusable("no field 'prediction'")
        if not isinstance(row["prediction"], str | None):
            return Unusable("'prediction' is neither a text nor null")
        if not is_whole(row.get("bon_idx"), 1, MOST_REPEATS):
            return Unusable(f"'bon_idx' is not a whole number from 1 to {MOST_REPEATS}")
        own = table.tasks[f"{table.name}_{SECONDARY_TASKS[row[SECONDARY]].dataset}"]
        # The official files have no `context`.
        document = document_of_text(row.get("context"))
        answer = row["prediction"] or ""
        return [self.sample(row, own, row["bon_idx"], answer, document=document)]

    # ------------------------------------------------------------------ in the harness

    def harness_metrics(self, task: Task) -> tuple[Metric, ...]:
        names = ("score", "best_of_n", "pass_at_n", *(self.sample_fields if task.summary else ()))
        # A summary has no score until its similarity is known.
        return (*(Metric(name, "mean_if_all_known") for name in names), *COUNT_METRICS)


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
    if row["primary_task"] != task.category:
        return f"{task.label!r} is no part of the primary task {row['primary_task']!r}"
    if not is_texts(row.get("answer")):
        return "'answer' is not a list of one or more texts"
    if task.summary and not any(text.strip() for text in row["answer"]):
        return "'answer' holds no reference to compare a summary with"
    return None


PRO: LongBenchPro = LongBenchPro()
