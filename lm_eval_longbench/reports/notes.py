"""What a reader must know beside the figures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lm_eval_longbench.metrics.reasoning import KEEP
from lm_eval_longbench.reports.columns import Column, Pair
from lm_eval_longbench.figures.intervals import FEWEST, RESAMPLES, SEED

# Merged runs that are named.
_NAMED = 5
_INTERVALS = (
    f"Intervals are 95%: the bias-corrected and accelerated bootstrap ({RESAMPLES} resamples, seed "
    f"{SEED}; for means of means each dataset by itself), its levels widened for small samples, or "
    "Wilson's for pass@N and, with one answer a question, the accuracies of LongBench v2. What is "
    "resampled are documents, each with all of its questions; where documents are not known, or no "
    "two questions share one, questions. n counts questions, failed (no answer) and unscored count "
    "samples. A figure that lacks a dataset or a score has no value. "
    f"[n<{FEWEST}]: fewer than {FEWEST} questions (or documents), in one of its datasets if it is "
    "a mean of several, say too little about others for an interval or a p-value."
)
_DIFFERENCES = (
    "Differences are on the questions that both runs have: paired, by Student's t over documents; "
    "p is two-sided, and below 0.05 where the interval leaves out 0."
)


def method(*, differences: bool) -> tuple[str, ...]:
    """Return how intervals, and differences where there are any, were made."""
    return (_INTERVALS, _DIFFERENCES) if differences else (_INTERVALS,)


_UNITS = {
    "longbench_v1": "Percent, two decimals.",
    "longbench_v1_e": "Percent, two decimals; relative figures are 100 * (x/y - 1).",
    "longbench_v2": "Percent, one decimal.",
    "longbench_pro": (
        "Shares of 1, as in the official summary, shown times 100 with two decimals, as published."
    ),
}


def _documents(column: Column) -> str:
    """Return what is known of the documents that questions share; "" for nothing worth a word."""
    documents = column.table.documents
    known = documents[documents != 0]
    number = len(np.unique(known))
    lacking = len(documents) - len(known)
    if not len(known):
        if column.table.info.benchmark != "longbench_pro" or not lacking:
            return ""
        return (
            "not known which questions share a document, so that intervals and p-values treat all "
            "as independent and are too sure"
        )
    text = f"{number} documents"
    if lacking:
        text += f", and {lacking} questions whose document is not known"
    return text if lacking or number < len(known) else ""


def _of_column(column: Column) -> str:
    facts = column.table.facts
    counts = facts.counts
    parts = [f"data {facts.data_text}"]
    repeats = f" x {facts.repeats} repeats" if facts.repeats > 1 else ""
    parts.append(f"{counts.get('questions', 0)} questions{repeats}")
    missing = counts.get("missing")
    parts.append(
        "not known how many are missing"
        if missing is None
        else f"{missing} of {counts.get('official_questions')} official ones missing"
    )
    documents = _documents(column)
    parts += [documents] if documents else []
    if len(facts.runs) > 1:
        named = ", ".join(facts.runs[:_NAMED]) + (", ..." if len(facts.runs) > _NAMED else "")
        parts.append(f"merged from {len(facts.runs)} runs as of one model: {named}")
    if facts.embedding_model:
        parts.append(f"embedding model {facts.embedding_model}")
    for name in ("failed", "unscored", "truncated", "unparsed", "inconsistent"):
        if counts.get(name):
            parts.append(f"{counts[name]} {name}")
    if column.table.otherwise is not None:
        policy, answers = facts.reasoning["policy"], facts.reasoning["answers"]
        how, other = ("keep", "dropped") if policy == KEEP else ("drop", "kept")
        parts.append(
            f"{answers} of {counts.get('samples')} answers hold reasoning (<think>...</think>), "
            f"which the figures {how}; those with reasoning {other} have rows of their own"
        )
    problems = column.run.problems.items()  # missing questions are told already
    parts += [f"{number} {kind} rows" for kind, number in problems if kind != "missing"]
    line = facts.signature.get("line")
    return f"{column.label}: {'; '.join(parts)}.{f' Signature {line}' if line else ''}"


def _of_pair(pair: Pair) -> str:
    if pair.reason:
        return f"No difference {pair.label}: {pair.reason}."
    text = f"Difference {pair.label}: on the {pair.shared} questions that both have"
    if pair.by_line:
        text += (
            ", paired by their line in the prediction files: right only if both files have their "
            "lines in one order"
        )
    return f"{text}."


def notes_of(
    benchmark: str, columns: Sequence[Column], pairs: Sequence[Pair], details: int
) -> list[str]:
    """Return the notes under a benchmark's table.

    Args:
        benchmark: its name.
        columns, pairs: of the table.
        details: figures that only CSV and JSON show.
    """
    notes = [_UNITS[benchmark], *map(_of_column, columns), *map(_of_pair, pairs)]
    if details:
        notes.append(f"{details} more figures with --format csv or json.")
    return notes
