"""The signature of scored answers: that of their run, as far as it is known, scored here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.input_files import read_json
from lm_eval_longbench.provenance.compare import incomparable
from lm_eval_longbench.provenance.packages import package_versions
from lm_eval_longbench.provenance.signature import (
    INGREDIENTS,
    METRIC_VERSIONS,
    UNKNOWN,
    combined,
    completed,
    line,
    unknown,
)

# The harness writes a run's sample logs and its results file with the same date in their names.
_LOG = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+?)\.jsonl(?:\.gz)?")


def _results_beside(log: Path) -> Any:
    """Return what the results file of a sample log's run holds; None without one."""
    found = _LOG.fullmatch(log.name)
    if found is None:
        return None
    try:
        return read_json(log.parent / f"results_{found['date']}.json", PredictionError)
    except PredictionError:
        return None


def recorded_signature(log: Path) -> dict[str, Any] | None:
    """Return the signature that the results file beside a sample log has for its task.

    None where there is no such file, or none that says so: it is not needed to score.
    """
    found, results = _LOG.fullmatch(log.name), _results_beside(log)
    try:
        run = results["configs"][found["task"]]["metadata"]["longbench_run"]
        return completed({name: run[name] for name in INGREDIENTS if name in run})
    except (KeyError, TypeError):
        return None


def recorded_model(log: Path) -> str | None:
    """Return the name of the model whose answers a sample log holds; None: nothing says."""
    results = _results_beside(log)
    name = results.get("model_name") if isinstance(results, dict) else None
    return name if isinstance(name, str) and name else None


def table_signatures(
    tables: Mapping[str, Mapping[str, Any]], recorded: Sequence[Mapping[str, Any] | None]
) -> dict[str, dict[str, Any]]:
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
) -> dict[str, Any]:
    tasks = {
        task: _scored_here(combined(known[task]) if task in known else unknown(task=task), table)
        | {"answered": own["questions"], "failed": own["failed"], "truncated": own["truncated"]}
        for task, own in table["tasks"].items()
    }
    counts = table["counts"]
    whole = combined(list(tasks.values())) | {
        "answered": counts["questions"],
        "failed": counts["failed"],
        "truncated": counts["truncated"],
    }
    if UNKNOWN in [own["asked"] for own in tasks.values()]:
        whole |= {"asked": UNKNOWN, "kept": UNKNOWN}
    return {
        "line": line(whole),
        "ingredients": whole,
        "tasks": tasks,
        "differences": _differences([known[task] for task in tasks if task in known]),
    }


# Half runs of one task have other counts, and another hash of the reasoning that each embeds.
_OF_A_HALF = ("questions_sha256", "asked", "kept", "answered", "reasoning_sha256")


def _differences(merged: Sequence[Sequence[Mapping[str, Any]]]) -> list[str]:
    """Return in what the merged runs of a task differ that moves scores, a sentence each."""
    found = set()
    for runs in merged:
        parts = [
            {name: value for name, value in run.items() if name not in _OF_A_HALF} for run in runs
        ]
        found.update(incomparable(parts))
    return sorted(found)


def _scored_here(signature: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    data = table["data"]
    here = {
        "benchmark": table["benchmark"],
        "repeats": table["repeats"],
        "metrics": METRIC_VERSIONS[table["benchmark"]],
        "embedding_model": table["embedding_model"],
        "packages": package_versions(),
    }
    if signature["data"] == UNKNOWN and len(data) == 1:
        here["data"] = data[0]
    return {**signature, **here}
