"""LongBench v2: all questions in five modes, and the zero-shot prompt by domain.

Its tasks are in tasks/longbench_v2. Source of the letter that is read and of the order of
operations: LongBench at commit 2e00731. Published figures: the leaderboard of LongBench v2 (65 rows
of 36 models, people and chance) and a third-party table; each row names its source. A row whose
sub-scores, weighted by the official numbers of questions, do not give its overall score has a
caveat, as have the rows of people and of chance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lm_eval_longbench.benchmarks import longbench_v2_figures
from lm_eval_longbench.benchmarks.base import (
    COUNTS as COUNT_METRICS,
)
from lm_eval_longbench.benchmarks.base import (
    PRESETS,
    PUBLISHED,
    SAMPLES,
    Benchmark,
    Metric,
    Place,
    Published,
    Table,
    Task,
)
from lm_eval_longbench.benchmarks.longbench_v2_figures import (
    COT,
    COT_ANSWER,
    COUNTS,
    LOOK_V2,
    NAME,
    NO_CONTEXT,
    OFFICIAL,
    PERCENT,
    RAG,
    SHOWN,
    SUB_SCORES,
)
from lm_eval_longbench.benchmarks.longbench_v2_files import ASKED, LAYOUTS, V2Files
from lm_eval_longbench.benchmarks.parts import Look
from lm_eval_longbench.benchmarks.sample import (
    Read,
    Sample,
    Scored,
    Unusable,
    content_hash,
    is_texts,
    text_id,
)
from lm_eval_longbench.catalog.presets import PresetTable
from lm_eval_longbench.metrics.letter import CHOICES, Verdict, judge
from lm_eval_longbench.metrics.reasoning import DROP
from lm_eval_longbench.prompts.render import render, text_sha256

if TYPE_CHECKING:
    from lm_eval_longbench.benchmarks.asking import Asking
    from lm_eval_longbench.options import Options


# ---------------------------------------------------------------------- the benchmark


def _published_place(column: str) -> Place | None:
    return (OFFICIAL, column) if column in SHOWN else None


class LongBenchV2(Benchmark):
    """503 questions of four choices; a headline a mode."""

    name = family = NAME
    short, sign, title, prepared_as = "v2", "lb-v2", "LongBench v2", "v2"
    metrics = "1.0"
    layouts = LAYOUTS
    official_files = V2Files()
    presets = PresetTable(
        "LongBench v2",
        PRESETS / "longbench_v2.csv",
        "LongBench at 2e00731 (2025-01-15), config/model2maxlen.json and pred.py",
    )
    unit = PERCENT
    unit_note = "Percent, one decimal."
    one_message = True
    sample_fields: Mapping[str, str] = {
        "compensated": "share",
        "unparsed": "flag",
        "dropped": "flag",
    }
    counted_flags = ("unparsed",)
    may_be_unknown = frozenset({"domain"})
    file_kind = "v2_results"
    look: Look = LOOK_V2
    fields = ("_id", "domain", "sub_domain", "difficulty", "length", *ASKED, "answer", "context")
    samples = SAMPLES / NAME
    published = Published(
        PUBLISHED / "longbench_v2.csv",
        _published_place,
        "cot",
        {"no": "direct", "yes": "CoT"},
        "",
        tuple((OFFICIAL, name) for name in SHOWN),
        1,
    )

    # ------------------------------------------------------------------ asking

    def prepared(self) -> Iterator[tuple[str, Task]]:
        """Yield each domain."""
        return (own for own in super().prepared() if own[1].where)

    def row_problem(self, row: Any) -> str | None:
        """Return what is wrong with a decoded row, or None if it is a question of LongBench v2.

        The document may be empty, and `sub_domain` any text: neither is needed to ask or to score.
        """
        problem = super().row_problem(row)
        if problem:
            return problem
        for name in ASKED:
            if not row[name].strip():
                return f"has an empty {name}"
        if row["answer"] not in CHOICES:
            return f"has the answer {row['answer']!r}, not one of {', '.join(CHOICES)}"
        return None

    def asking(self, task: Task, options: Options, repeats: int) -> Asking:
        from lm_eval_longbench.benchmarks import longbench_v2_asking as own
        from lm_eval_longbench.benchmarks.asking import Asking, RetrievedAsking

        if task.retrieved:
            return RetrievedAsking(self, task, options, repeats, own.RETRIEVAL)
        kinds = {COT: own.CotAsking, COT_ANSWER: own.CotAnswerAsking}
        return kinds.get(task.name, Asking)(self, task, options, repeats)

    def render(self, task: Task, row: Mapping[str, Any]) -> str:
        """Return a prompt; of pass two the row's `cot` is the reasoning, of RAG it has chunks."""
        if task.retrieved:
            from lm_eval_longbench.benchmarks.longbench_v2_asking import RETRIEVAL
            from lm_eval_longbench.options import Options

            return RETRIEVAL.rendered(task, row, Options())
        return render(task, row)

    def golds(self, doc: Mapping[str, Any]) -> list[str]:
        return [doc["answer"]]

    # ------------------------------------------------------------------ judging

    def question_problem(self, doc: Mapping[str, Any], task: Task) -> str | None:
        if text_id(doc.get("_id")) is None:
            return "no field '_id' with a text"
        known: dict[str, Sequence[str]] = {"answer": CHOICES}
        for name, valid in (
            known | {own: tuple(COUNTS[own]) for own in ("difficulty", "length")}
        ).items():
            if name not in doc:
                return f"no field {name!r}"
            if doc[name] not in valid:
                return f"{name!r} is not one of {', '.join(valid)}"
        domains = tuple(COUNTS["domain"])
        if doc.get("domain") is not None and doc["domain"] not in domains:
            return f"'domain' is not one of {', '.join(domains)}"
        if not isinstance(doc.get("sub_domain"), str | None):
            return "'sub_domain' is not a text"
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
        """Return an answer; one of a run that is empty would not be in an official file."""
        asked = [doc.get(name) for name in ASKED]
        return Sample(
            table=task.table,
            task=task.counted,
            id=text_id(doc["_id"]) or "",
            order=0,
            repeat=repeat,
            response=response,
            golds=[doc["answer"]],
            shown={
                "domain": doc.get("domain"),
                "sub_domain": doc.get("sub_domain"),
                "difficulty": doc["difficulty"],
                "length": doc["length"],
            },
            truncated=truncated,
            content=content_hash(*asked) if is_texts(asked) else None,
            document=document,
            dropped=not response,
        )

    def score(self, sample: Sample, reasoning: str = DROP, *, extras: bool = False) -> Scored:
        """Return what an answer is worth; the letter is read again where the answer is kept."""
        (gold,) = sample.golds
        if sample.response is None:
            verdict = Verdict(sample.stored, sample.stored == gold, failed=False)
        else:
            verdict = judge(sample.response, gold, reasoning)
        differs = sample.has_stored and sample.stored != verdict.choice
        return Scored(
            verdict.accuracy,
            verdict.failed,
            {
                **sample.shown,
                "choice": verdict.choice,
                "unparsed": verdict.unparsed,
                "compensated": verdict.compensated,
                "dropped": sample.dropped,
            },
            differing=(sample.stored, verdict.choice) if differs else None,
        )

    def failed_before(self, task: Task, doc: Mapping[str, Any]) -> bool | None:
        """Say whether pass one of chain of thought failed; None: a cut prompt does not tell.

        The prompt of pass two embeds the reasoning and no document: without a reasoning it is made
        of the question alone, whose hash the log has.
        """
        if task.name != COT_ANSWER:
            return False
        if doc["prompt"]["sha256"] == text_sha256(render(task, {**doc, "cot": ""})):
            return True
        return None if doc["prompt"]["truncated"] else False

    # ------------------------------------------------------------------ figures

    def pairing_label(self, task: Task) -> str:
        """Modes ask the same questions."""
        return ""

    figures = staticmethod(longbench_v2_figures.figures)
    question_figures = staticmethod(longbench_v2_figures.question_figures)
    official = staticmethod(longbench_v2_figures.official)
    parts = staticmethod(longbench_v2_figures.parts)

    # ------------------------------------------------------------------ official files

    def is_official_row(self, row: Mapping[str, Any], stem: str) -> bool:
        return "_id" in row and "answer" in row and ("response" in row or "pred" in row)

    def official_table(self, row: Any, stem: str) -> str:
        """Return a file's mode: chain of thought shows in its rows, the others in its name."""
        if (isinstance(row, dict) and "response_cot" in row) or stem.endswith("_cot"):
            return COT_ANSWER
        if stem.endswith("_no_context"):
            return NO_CONTEXT
        return RAG if re.search(r"_rag_\d+$", stem) else NAME

    def read_official(self, row: Mapping[str, Any], index: int, table: Table, task: str) -> Read:
        """Return the sample of a result.

        Where there is a `response`, null for a failed call, it is read again; else `pred` counts,
        the letter that was taken from it (null: none).
        """
        own_task = table.tasks[table.name]
        problem = self.question_problem(row, own_task)
        if problem:
            return Unusable(problem)
        has_response, has_stored = "response" in row, "pred" in row
        if not has_response and not has_stored:
            return Unusable("neither a field 'response' nor a field 'pred'")
        response, stored = row.get("response"), row.get("pred") or None
        if not isinstance(response, str | None):
            return Unusable("'response' is not a text")
        if stored not in (None, *CHOICES):
            if not has_response:
                return Unusable("'pred' is neither null nor a letter from A to D")
            stored = str(stored)
        own = self.sample(row, own_task, 1, (response or "") if has_response else None)
        own.stored, own.has_stored, own.dropped = stored, has_stored, False
        return [own]

    # ------------------------------------------------------------------ in the harness

    def harness_metrics(self, task: Task) -> tuple[Metric, ...]:
        unparsed = Metric("unparsed", higher_is_better=False)
        if task.name == COT:
            return (Metric("acc_one_call"), unparsed, *COUNT_METRICS)
        parts = [Metric(f"acc_{name}", "mean_of_known") for name in SUB_SCORES]
        return (Metric("acc"), *parts, Metric("acc_compensated"), unparsed, *COUNT_METRICS)


V2: LongBenchV2 = LongBenchV2()
