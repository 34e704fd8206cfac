"""LongBench v2: all questions in five modes, and the zero-shot prompt by domain.

Its tasks are in tasks/longbench_v2. Source of the letter that is read and of the order of
operations: LongBench at commit 2e00731. Published figures: the leaderboard of LongBench v2 (65 rows
of 36 models, people and chance) and a third-party table; each row names its source. A row whose
sub-scores, weighted by the official numbers of questions, do not give its overall score has a
caveat, as have the rows of people and of chance.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lm_eval_longbench.benchmarks.asking import Asking, RetrievedAsking
from lm_eval_longbench.benchmarks.base import PRESETS, PUBLISHED, SAMPLES, Benchmark, Published
from lm_eval_longbench.benchmarks.charts import LOOK_V2, OFFICIAL, OVERALL, Look
from lm_eval_longbench.benchmarks.modes import RETRIEVAL, CotAnswerAsking, CotAsking
from lm_eval_longbench.catalog.model import COUNTS as COUNT_METRICS
from lm_eval_longbench.catalog.model import Metric, Table, Task
from lm_eval_longbench.catalog.presets import PresetTable
from lm_eval_longbench.catalog.read import ours
from lm_eval_longbench.metrics.letter import CHOICES, Verdict, judge
from lm_eval_longbench.metrics.reasoning import DROP
from lm_eval_longbench.options import Options
from lm_eval_longbench.prompts.render import render, text_sha256
from lm_eval_longbench.records.sample import Read, Sample, Scored, Unusable, is_texts
from lm_eval_longbench.records.v2_files import (
    ASKED,
    COT,
    COT_ANSWER,
    LAYOUTS,
    NAME,
    NO_CONTEXT,
    RAG,
    V2Files,
)
from lm_eval_longbench.statistics.answers import Answers
from lm_eval_longbench.statistics.figure import (
    ALL,
    RELATIVE,
    Figure,
    Place,
    Reduced,
    Rows,
    Unit,
    field,
    mean,
    nested,
)
from lm_eval_longbench.statistics.means import percent_of, running_total

# ---------------------------------------------------------------------- figures

_V2 = ours(NAME)
COUNTS, QUESTIONS = _V2.counts, _V2.tasks[NAME].questions
# A question's length is that of its document.
SUB_SCORES = (*COUNTS["difficulty"], *COUNTS["length"])
PERCENT = Unit("percent", 100, 100, 1)
ACCURACY, STRICT, COMPENSATED = (
    "accuracy (failed are wrong)",
    "strict (missing and failed are wrong)",
    "official, compensated (no letter counts 0.25)",
)
SHOWN = (OVERALL, *SUB_SCORES)


def _rounded(values: np.ndarray, number: int) -> float:
    return percent_of(running_total(values), number, 1)


def _number(dimension: str, value: str) -> int:
    """Return how many official questions a group has."""
    return COUNTS[dimension][value] if dimension else QUESTIONS


def _written(answers: Answers) -> np.ndarray:
    """Return for which answers the official scripts write a line, bool [questions, repeats]."""
    found: np.ndarray = answers.given & ~answers.flags("dropped")
    return found


def _accuracy(answers: Answers) -> Reduced:
    return replace(mean(answers), binary=answers.repeats == 1)


def _official(answers: Answers) -> Reduced:
    return replace(mean(answers, _written(answers)), binary=answers.repeats == 1)


def _strict(answers: Answers) -> Reduced:
    worth = np.where(answers.given & ~answers.failed, answers.scores, 0.0)
    means = np.add.accumulate(worth, axis=1)[:, -1] / answers.repeats
    return Reduced(means, answers.given, binary=answers.repeats == 1)


def _compensated(answers: Answers) -> Reduced:
    worth = answers.fields.get("compensated", answers.scores)
    return mean(answers, _written(answers), worth)


def _ways() -> Iterator[Rows]:
    """Yield every figure four times, overall, and by difficulty, length and domain.

    - `official`: what the official scripts print for the same answers: a failed call of a run
      of ours is in no denominator, as they write no line for it; every line of their own files
      is.
    - `accuracy`: over every answer given, a failed one is wrong: `acc` of a run.
    - `strict`: a missing or failed answer is wrong; over the official 503 questions where the
      data are those, else over the questions that were answered.
    - `compensated`: the official mode in which an answer that names no letter counts 0.25.

    A question's figure is the mean over its repeats. Domains are None where a question's is not
    known, strict figures where there are more questions than official ones.
    """
    shown = Rows("", name=OVERALL, by=(ALL, "difficulty", "length"), rounded=_rounded)
    for section, reducer, *path in (
        (OFFICIAL, _official, "official"),
        (ACCURACY, _accuracy, "accuracy"),
        (STRICT, _strict, "strict"),
        (COMPENSATED, _compensated, "official", "compensated"),
        # The same of every answer given, which reports have no row for.
        ("", field("compensated"), "accuracy", "compensated"),
    ):
        own = replace(shown, section=section, reducer=reducer, hidden=not section)
        if section == STRICT:
            own = replace(own, whole=_number, in_file=lambda answers, value: answers.official)
        yield replace(own, path=(*path, "{value}"))
        yield replace(own, by=("domain",), detail=section != OFFICIAL)


_FIGURES = tuple(_ways())
_UNPARSED = Rows("", field("unparsed"), name="unparsed", metric="unparsed", unit=RELATIVE)
_OF_QUESTIONS = (
    Rows(ACCURACY, name=OVERALL, metric="acc"),
    Rows(ACCURACY, by=("difficulty", "length"), metric="acc_{value}"),
    Rows(COMPENSATED, field("compensated"), name=OVERALL, metric="acc_compensated"),
    _UNPARSED,
)


def _counted(answers: Answers) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield the counts behind each official figure."""
    groups = ((name, value) for name in ("difficulty", "length") for value in COUNTS[name])
    for dimension, value in ((ALL, OVERALL), *groups):
        own = answers.given & answers.has(dimension, value)[:, None] if dimension else answers.given
        yield (
            value,
            {
                "questions": int(np.count_nonzero(own.any(axis=1))),
                "samples": int(own.sum()),
                "failed": int((own & answers.failed).sum()),
                "unparsed": int((own & answers.flags("unparsed")).sum()),
                "dropped": int((own & answers.flags("dropped")).sum()),
                "official_questions": _number(dimension, value),
            },
        )


def official(answers: Answers, figures: Sequence[Figure]) -> dict[str, Any]:
    """Return what the official scripts print for the same answers.

    `compensated` is their other mode. `n` counts answers; `unparsed` and `failed` are among all
    that were given.
    """
    return nested(figures, "official") | {
        "n": int(_written(answers).sum()),
        "unparsed": int(answers.flags("unparsed").sum()),
        "failed": int(answers.failed.sum()),
    }


def parts(answers: Answers, figures: Sequence[Figure]) -> dict[str, Any]:
    """Return `strict`, `accuracy` and, under `parts`, the counts behind each figure.

    Strict figures are None if it is not known which questions are missing, or if there are more
    of a kind than official ones.
    """
    strict: dict[str, Any] | None = nested(figures, "strict")
    if not strict or None in strict.values():
        strict = None
    else:
        strict |= {"n": QUESTIONS * answers.repeats}
    accuracy = nested(figures, "accuracy") | {"n": int(answers.given.sum())}
    return {"strict": strict, "accuracy": accuracy, "parts": dict(_counted(answers))}


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
    drops_failed = True
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
        if task.retrieved:
            return RetrievedAsking(self, task, options, repeats, RETRIEVAL)
        kinds = {COT: CotAsking, COT_ANSWER: CotAnswerAsking}
        return kinds.get(task.name, Asking)(self, task, options, repeats)

    def render(self, task: Task, row: Mapping[str, Any]) -> str:
        """Return a prompt; of pass two the row's `cot` is the reasoning, of RAG it has chunks."""
        if task.retrieved:
            return RETRIEVAL.rendered(task, row, Options())
        return render(task, row)

    def golds(self, doc: Mapping[str, Any]) -> list[str]:
        return [doc["answer"]]

    # ------------------------------------------------------------------ judging

    def golds_problem(self, doc: Mapping[str, Any]) -> str | None:
        known = doc.get("answer") in CHOICES
        return None if known else f"'answer' is missing or not one of {', '.join(CHOICES)}"

    def shown_of(self, doc: Mapping[str, Any], task: Task, index: int) -> dict[str, Any]:
        return {name: doc.get(name) for name in ("domain", "sub_domain", "difficulty", "length")}

    def asked_of(self, doc: Mapping[str, Any], document: str | None) -> Sequence[Any] | None:
        asked = [doc.get(name) for name in ASKED]
        return asked if is_texts(asked) else None

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

    def rows(self, answers: Answers) -> Iterable[Rows]:
        """Return every figure four times, see `_ways`."""
        return _FIGURES

    def question_rows(self, answers: Answers) -> Iterable[Rows]:
        """Return `acc`, its parts, `acc_compensated`, `unparsed`; of a reasoning `acc_one_call`."""
        if answers.table.name == COT:
            return (Rows(ACCURACY, name=OVERALL, metric="acc_one_call"), _UNPARSED)
        return _OF_QUESTIONS

    official = staticmethod(official)
    parts = staticmethod(parts)

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
