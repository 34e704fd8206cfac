"""Score answers and make figures of them, with nothing but texts: no harness, no torch, no file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lm_eval_longbench.benchmarks.registry import (
    benchmark_of,
    benchmark_of_table,
    find_task,
    tables,
)
from lm_eval_longbench.errors import (
    EmbeddingError,
    LongBenchError,
    PredictionError,
    UnknownNameError,
)
from lm_eval_longbench.metrics.reasoning import DROP, POLICIES
from lm_eval_longbench.records.sample import Sample, document_of_hash, line_of
from lm_eval_longbench.retrieval.embedding import summary_similarities
from lm_eval_longbench.retrieval.vectors import OFFICIAL_MODEL, Embedder
from lm_eval_longbench.scoring.score_chunk import score_sample
from lm_eval_longbench.statistics.answers import BadRow, Columns
from lm_eval_longbench.statistics.tree import estimate


def judge(
    task: str,
    doc: Mapping[str, Any],
    answer: str,
    *,
    repeat: int = 1,
    reasoning: str = DROP,
    embedder: Embedder | None = None,
) -> dict[str, Any]:
    """Return all that is known of one answer, as a line of samples.jsonl.

    Args:
        task: name of the task, such as "longbench_v1_qasper".
        doc: the question: a document of `load`, a row of the official data, or the "doc" of a
            sample log. Its long text is not needed.
        answer: what the model said; "" for an answer that failed.
        repeat: number of the answer among several to the question, from 1.
        reasoning: "drop" takes <think>...</think> out before scoring, "keep" scores it.
        embedder: gives summaries of LongBench Pro (T4) their similarity; None: they have no score.

    Returns:
        The line. "score" is from 0 to 1, or None: not scored. "failed" says whether the answer is
        empty.

    Raises:
        UnknownNameError: there is no such task or policy.
        PredictionError: the question lacks what its score needs.
        EmbeddingError: the embedder fails.
    """
    return line_of(_scored(task, doc, answer, repeat, reasoning, embedder, extras=True))


def _scored(
    task: str,
    doc: Mapping[str, Any],
    answer: str,
    repeat: int,
    reasoning: str,
    embedder: Embedder | None,
    *,
    extras: bool,
) -> Sample:
    if reasoning not in POLICIES:
        raise UnknownNameError("policy for reasoning", reasoning, POLICIES)
    own = find_task(task)
    benchmark = benchmark_of(own)
    counted = benchmark.tables[own.table].tasks[own.counted]
    problem = benchmark.question_problem(doc, counted)
    if problem:
        raise PredictionError(f"{task}: the question cannot be scored: {problem}.")
    # Where an earlier pass failed there was nothing to answer from; not every question tells.
    with contextlib.suppress(KeyError, TypeError, AttributeError, LongBenchError):
        answer = "" if benchmark.failed_before(counted, doc) else answer
    sample = benchmark.sample(
        doc,
        counted,
        repeat,
        answer,
        index=int(doc.get("index", getattr(doc, "index", 0))),
        document=document_of_hash(getattr(doc, "document_sha256", None)),
    )
    scored = score_sample(sample, reasoning, extras=extras)
    if scored.summary is not None and embedder is not None:
        (similarity,) = summary_similarities([(scored.summary, sample.golds)], embedder)
        scored.score, scored.failed, scored.shown = benchmark.with_similarity(
            scored.shown, similarity, official=embedder.name == OFFICIAL_MODEL
        )
    return sample


def score(
    task: str,
    doc: Mapping[str, Any],
    answer: str,
    *,
    reasoning: str = DROP,
    embedder: Embedder | None = None,
) -> float:
    """Return what an answer is worth, from 0 to 1: the official score of one answer.

    Args:
        task, doc, answer, reasoning, embedder: as for `judge`.

    Raises:
        EmbeddingError: it is a summary (LongBench Pro, T4) whose semantic similarity is not known.
        LongBenchError: as `judge`.
    """
    found = _scored(task, doc, answer, 1, reasoning, embedder, extras=False).worth
    if found.score is None:
        raise EmbeddingError(
            f"{task}: the score of a summary needs its semantic similarity by the official "
            "embedding model. Give embedder=lm_eval_longbench.choose_embedder("
            '"Qwen/Qwen3-Embedding-8B", None); `judge` gives what is known without one.'
        )
    return float(found.score)


@dataclass(frozen=True)
class FigureValue:
    """One figure over answers.

    Attributes:
        table, section, name: its place in reports.
        value: a share from 0 to 1 (relative figures: x/y - 1); None where it cannot be given: an
            answer is not scored, a dataset is missing, or there is no question.
        official: the value as the official code adds up and rounds it, in the benchmark's unit;
            None where it has no such figure.
        unit: "percent" or "share", of `official`; "relative".
        n: questions it is made of.
        low, high: ends of the 95% interval; None where there is none or none was asked for.
    """

    table: str
    section: str
    name: str
    value: float | None
    official: float | None
    unit: str
    n: int
    low: float | None = None
    high: float | None = None


def figures(
    samples: Iterable[Mapping[str, Any]], *, official: bool = False, intervals: bool = False
) -> list[FigureValue]:
    """Return every figure over some answers: headline, datasets, lengths and all others.

    Args:
        samples: answers as `judge` returns them or `Run.samples` has them.
        official: whether the questions are the official ones, so that those which are missing
            count where the official code counts them.
        intervals: also make the 95% intervals, which takes a second or two.

    Raises:
        PredictionError: a line is no answer of a table, or a question has an answer twice.
    """
    lines: dict[str, list[Mapping[str, Any]]] = {}
    for number, sample in enumerate(samples, start=1):
        table = sample.get("table")
        if table not in tables():
            raise PredictionError(
                f"Sample {number} is of the table {table!r}, which is none of "
                f"{', '.join(tables())}. Give lines as `judge` makes them."
            )
        lines.setdefault(str(table), []).append(sample)
    return [
        figure
        for name in tables()
        if name in lines
        for figure in _of_table(name, lines[name], official=official, intervals=intervals)
    ]


def _of_table(
    name: str, lines: list[Mapping[str, Any]], *, official: bool, intervals: bool
) -> Iterable[FigureValue]:
    benchmark = benchmark_of_table(name)
    try:
        repeats = max(int(line["repeat"]) for line in lines)
        columns = Columns(benchmark, tables()[name], repeats, official)
        for number, line in enumerate(lines, start=1):
            columns.add(line, number)
        answers = columns.finish()
    except (BadRow, KeyError, TypeError, ValueError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise PredictionError(f"A sample of {name} does not fit: {what}.") from error
    for figure in benchmark.figures(answers):
        if figure.hidden:
            continue
        ends = estimate(figure.tree) if intervals else None
        yield FigureValue(
            name,
            figure.section,
            figure.name,
            figure.tree.value,
            figure.official,
            figure.unit.name,
            figure.tree.n,
            None if ends is None else ends.low,
            None if ends is None else ends.high,
        )
