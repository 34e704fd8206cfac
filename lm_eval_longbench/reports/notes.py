"""What a reader must know beside the figures."""

from __future__ import annotations

from collections.abc import Sequence

from lm_eval_longbench.reports.bootstrap import RESAMPLES, SEED
from lm_eval_longbench.reports.columns import Column, Pair

# Merged runs that are named.
_NAMED = 5
_INTERVALS = (
    f"Intervals are 95%: percentile bootstrap over questions ({RESAMPLES} resamples, seed {SEED}; "
    "for means of means each dataset by itself), or Wilson's for pass@N and, with one answer a "
    "question, the accuracies of LongBench v2. n counts questions, failed (no answer) and unscored "
    "count samples. A figure that lacks a dataset or a score has no value."
)
_DIFFERENCES = (
    "Differences are on the questions that both runs have, by the paired bootstrap (same seed and "
    "resamples); p is two-sided, 2 * min(share of resamples <= 0, share >= 0) with 1 added to the "
    f"counts, and at least 2/{RESAMPLES + 1}."
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
    if len(facts.runs) > 1:
        named = ", ".join(facts.runs[:_NAMED]) + (", ..." if len(facts.runs) > _NAMED else "")
        parts.append(f"merged from {len(facts.runs)} runs as of one model: {named}")
    if facts.embedding_model:
        parts.append(f"embedding model {facts.embedding_model}")
    for name in ("failed", "unscored", "truncated", "unparsed", "inconsistent"):
        if counts.get(name):
            parts.append(f"{counts[name]} {name}")
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
