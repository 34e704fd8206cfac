"""Make the report of merged answers, with its signatures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

from lm_eval_longbench.benchmarks.registry import benchmark_of_table, benchmarks, carried
from lm_eval_longbench.logs.scored_files import FORMAT, Otherwise, ReportFile, ReportTable
from lm_eval_longbench.metrics.reasoning import DROP, KEEP
from lm_eval_longbench.scoring.merge import Gathered, MergedTable
from lm_eval_longbench.signature.signature import (
    UNKNOWN,
    SignaturePart,
    combined,
    of_scored,
    package_versions,
    unknown,
)
from lm_eval_longbench.statistics.answers import Columns
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
    return of_scored(tasks, table)


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

_NONE: Mapping[Any, Any] = MappingProxyType({})


def columns_of(
    name: str, repeats: int, *, official: bool, reasoned: bool, expected: Iterable[str] = ()
) -> list[Columns]:
    """Return empty columns for the answers of a table.

    Args:
        name: of the table.
        repeats: answers that each question should have.
        official: whether its questions are official ones, so that it is known which are missing.
        reasoned: whether any answer holds reasoning: then second columns come along, for what it is
            worth under the other policy.
        expected: tasks that have figures even without an answer.
    """
    benchmark = benchmark_of_table(name)
    return [
        Columns(benchmark, benchmark.tables[name], repeats, official, swapped, set(expected))
        for swapped in (False, True)[: 1 + reasoned]
    ]


def table_report(
    ways: Sequence[Columns],
    reasoning: str | None,
    *,
    malformed: Mapping[str | None, int] = _NONE,
    duplicates: Mapping[str, int] = _NONE,
    copies: Mapping[str, int | None] = _NONE,
    data: Sequence[str] = (),
    embedding_model: str | None = None,
    runs: Sequence[str] = (),
) -> ReportTable:
    """Return a table's part of the report.

    Args:
        ways: its answers, as of `columns_of`.
        reasoning: policy by which reasoning was scored.
        malformed: lines by task; None: of files that do not tell their task.
        duplicates: samples left out, by task.
        copies: questions that are there already, by task; None: not known.
        data, runs: labels and names.
        embedding_model: that gave the similarities; None: none.

    Raises:
        BadRow: answers contradict each other.
    """
    table = ways[0].table
    benchmark = benchmark_of_table(table.name)
    answers, *others = (columns.finish() for columns in ways)
    figures = benchmark.figures(answers)
    other = others[0] if others else None
    otherwise: Otherwise | None = None
    if other is not None:
        otherwise = {
            "policy": DROP if reasoning == KEEP else KEEP,
            "official": benchmark.official(other, benchmark.figures(other)),
        }
    whole = counts(answers, sum(malformed.values()), sum(duplicates.values()))
    present = answers.expected | duplicates.keys()
    report: ReportTable = {
        "benchmark": benchmark.name,
        "official": benchmark.official(answers, figures),
        "repeats": answers.repeats,
        "data": list(data),
        "embedding_model": embedding_model,
        "runs": list(runs),
        "reasoning": {"policy": reasoning, "answers": whole["reasoned"], "other": otherwise},
        "counts": whole,
        "failures": dict(answers.failures),
        "tasks": {
            task: task_counts(
                answers,
                task,
                other,
                malformed=malformed.get(task, 0),
                duplicate=duplicates.get(task, 0),
                copies=copies.get(task, 0),
            )
            for task in table.tasks
            if task in present
        },
    }
    report.update(cast(Any, benchmark.parts(answers, figures)))
    return report


# ---------------------------------------------------------------------- everything


def _merged_report(
    merged: MergedTable, gathered: Gathered, runs: Sequence[str], embedding_model: str | None
) -> ReportTable:
    name, labels = merged.table.name, gathered.labels
    own = [source for source in gathered.sources if source.table == name]
    malformed: Counter[str | None] = Counter()
    for source in own:
        malformed[source.task] += gathered.malformed[source.number]
    ways = columns_of(
        name,
        merged.repeats,
        official=labels.official(name),
        reasoned=bool(merged.reasoned),
        expected=[source.task for source in own if source.task is not None],
    )
    for question in merged.questions:
        for sample in question.samples.values():
            for columns in ways:
                columns.add(sample.line)
    embedded = any(task.summary for task in merged.table.tasks.values())
    return table_report(
        ways,
        merged.policy(),
        malformed=malformed,
        duplicates=merged.duplicates,
        copies=merged.copies,
        data=labels.of(name),
        embedding_model=embedding_model if embedded else None,
        runs=[runs[number] for number in sorted(merged.runs)],
    )


def make_report(
    merged: Mapping[str, MergedTable],
    gathered: Gathered,
    runs: Sequence[str],
    embedding_model: str | None,
    signatures: Sequence[Mapping[str, Any] | None],
    inputs: Iterable[dict[str, Any]],
) -> ReportFile:
    """Return the report.

    Args:
        merged: the tables.
        gathered: what was read.
        runs: names of the runs, by number.
        embedding_model: that gave the similarities; None: none.
        signatures: of the inputs; None for one without.
        inputs: what is said of the input files.

    Raises:
        PredictionError: answers of a table were scored by two policies for reasoning.
    """
    parts = {
        name: _merged_report(table, gathered, runs, embedding_model)
        for name, table in merged.items()
    }
    signed = table_signatures(parts, signatures)
    for name, part in parts.items():
        part["signature"] = signed[name]
    report: ReportFile = {
        "format": FORMAT,
        "package": f"lm-eval-longbench {__version__}",
        "tables": parts,
        "inputs": sorted(inputs, key=lambda one: (one["name"], str(one["sha256"]))),
        "problems": gathered.problems.as_json(),
    }
    if own := carried(part["benchmark"] for part in parts.values()):
        report["longbench_benchmarks"] = own
    return report
