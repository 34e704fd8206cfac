"""The signature of scored answers: that of their run, as far as it is known, scored here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval_longbench.benchmarks.registry import benchmarks
from lm_eval_longbench.signature.compare import incomparable
from lm_eval_longbench.signature.data_label import read_label
from lm_eval_longbench.signature.signature import (
    UNKNOWN,
    SignaturePart,
    combined,
    of_scored,
    package_versions,
    unknown,
)


def table_signatures(
    tables: Mapping[str, Mapping[str, Any]], recorded: Sequence[Mapping[str, Any] | None]
) -> dict[str, SignaturePart]:
    """Return the signature of each table.

    What a run's results file says stands; what depends on scoring (metrics, packages, embedding
    model, counts) is what is so here. What nothing tells is UNKNOWN, not null.

    Args:
        tables: parts of report.json by table.
        recorded: signatures of the inputs; None for an input without one.

    Returns:
        For each table "line", "ingredients", under "tasks" the ingredients of each task, and under
        "differences" why runs that were merged are not comparable.
    """
    known: dict[str, list[Mapping[str, Any]]] = {}
    for signature in recorded:
        if signature is not None:
            known.setdefault(str(signature["task"]), []).append(signature)
    return {name: _of_table(table, known) for name, table in tables.items()}


def _of_table(
    table: Mapping[str, Any], known: Mapping[str, Sequence[Mapping[str, Any]]]
) -> SignaturePart:
    tasks = {
        task: _scored_here(combined(known[task]) if task in known else unknown(task=task), table)
        for task in table["tasks"]
    }
    differences = _differences([known[task] for task in tasks if task in known])
    return {**of_scored(tasks, table), "differences": differences}


# Half runs of one task have other counts, and another hash of the reasoning that each embeds.
_OF_A_HALF = ("questions_sha256", "asked", "kept", "answered", "reasoning_sha256")
# All are scored by one policy here, whatever their runs did.
_SCORED_ANEW = ("reasoning", "reasoned")


def _differences(merged: Sequence[Sequence[Mapping[str, Any]]]) -> list[str]:
    """Return in what the merged runs of a task differ that moves scores, a sentence each."""
    found = set()
    for runs in merged:
        parts = [
            {name: value for name, value in run.items() if name not in (*_OF_A_HALF, *_SCORED_ANEW)}
            # Two selections of questions by `only` are two parts of one run.
            | {"data": read_label(run["data"]).base}
            for run in runs
        ]
        found.update(incomparable(parts))
    return sorted(found)


def _scored_here(signature: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    data = table["data"]
    here = {
        "reasoning": table["reasoning"]["policy"],
        "reasoned": table["reasoning"]["answers"],
        "benchmark": table["benchmark"],
        "repeats": table["repeats"],
        "metrics": benchmarks()[table["benchmark"]].metrics,
        "embedding_model": table["embedding_model"],
        "packages": package_versions(),
    }
    if signature["data"] == UNKNOWN and len(data) == 1:
        here["data"] = data[0]
    return {**signature, **here}
