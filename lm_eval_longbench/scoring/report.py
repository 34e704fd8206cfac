"""Make the report of merged answers, with its signatures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from lm_eval_longbench.benchmarks.registry import benchmark_of_table, benchmarks, carried, signs
from lm_eval_longbench.metrics.reasoning import DROP, KEEP
from lm_eval_longbench.records.scored import FORMAT, ReportFile, ReportTable, SignaturePart
from lm_eval_longbench.scoring.merge import TableAnswers
from lm_eval_longbench.scoring.problems import Problems
from lm_eval_longbench.signature.signature import (
    UNKNOWN,
    combined,
    of_scored,
    package_versions,
    unknown,
)
from lm_eval_longbench.statistics.answers import Answers, Columns
from lm_eval_longbench.statistics.counts import counts, task_counts
from lm_eval_longbench.version import __version__

# ---------------------------------------------------------------------- signatures


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
        For each table "line", "ingredients", and under "tasks" the ingredients of each task.
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
    return of_scored(tasks, table, signs())


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


# ---------------------------------------------------------------------- one table


def _columns(own: TableAnswers, *, swapped: bool = False) -> Answers:
    """Return the answers as columns; `swapped`: under the other policy for reasoning."""
    benchmark = benchmark_of_table(own.name)
    table, expected = benchmark.tables[own.name], set(own.expected)
    found = Columns(benchmark, table, own.repeats, own.official, swapped, expected)
    for line in own.lines:
        found.add(line)
    return found.finish()


def table_report(own: TableAnswers) -> ReportTable:
    """Return a table's part of the report.

    Raises:
        BadRow: answers contradict each other.
    """
    benchmark, answers = benchmark_of_table(own.name), _columns(own)
    figures, other, otherwise = benchmark.figures(answers), None, None
    if answers.reasoned.any():
        other = _columns(own, swapped=True)
        otherwise = {
            "policy": DROP if own.reasoning == KEEP else KEEP,
            "official": benchmark.official(other, benchmark.figures(other)),
        }
    whole = counts(answers, sum(own.malformed.values()), sum(own.duplicates.values()))
    report: dict[str, Any] = {
        "benchmark": benchmark.name,
        "official": benchmark.official(answers, figures),
        "repeats": answers.repeats,
        "data": list(own.data),
        "embedding_model": own.embedding_model,
        "runs": list(own.runs),
        "reasoning": {"policy": own.reasoning, "answers": whole["reasoned"], "other": otherwise},
        "counts": whole,
        "failures": dict(answers.failures),
        "tasks": {
            task: task_counts(
                answers,
                task,
                other,
                malformed=own.malformed.get(task, 0),
                duplicate=own.duplicates.get(task, 0),
                copies=own.copies.get(task, 0),
            )
            for task in benchmark.tables[own.name].tasks
            if task in answers.expected | own.duplicates.keys()
        },
    }
    return cast(ReportTable, report | benchmark.parts(answers, figures))


# ---------------------------------------------------------------------- everything


def make_report(
    merged: Mapping[str, TableAnswers],
    problems: Problems,
    signatures: Sequence[Mapping[str, Any] | None],
    inputs: Iterable[dict[str, Any]],
) -> ReportFile:
    """Return the report.

    Args:
        merged: the tables.
        problems: what was left out or is missing.
        signatures: of the inputs; None for one without.
        inputs: what is said of the input files.
    """
    parts = {name: table_report(table) for name, table in merged.items()}
    signed = table_signatures(parts, signatures)
    for name, part in parts.items():
        part["signature"] = signed[name]
    report: ReportFile = {
        "format": FORMAT,
        "package": f"lm-eval-longbench {__version__}",
        "tables": parts,
        "inputs": sorted(inputs, key=lambda one: (one["name"], str(one["sha256"]))),
        "problems": problems.as_json(),
    }
    if own := carried(part["benchmark"] for part in parts.values()):
        report["longbench_benchmarks"] = own
    return report
