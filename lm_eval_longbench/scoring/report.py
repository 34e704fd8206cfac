"""Make the report of merged answers, with its signatures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from lm_eval_longbench.benchmarks.registry import benchmark_of_table, benchmarks, carried, signs
from lm_eval_longbench.metrics.reasoning import DROP, KEEP
from lm_eval_longbench.records.scored import FORMAT, ReportFile, ReportTable, SignaturePart
from lm_eval_longbench.scoring.merge import Gathered, MergedTable
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


@dataclass(frozen=True)
class TableAnswers:
    """The scored answers of one table, and what is known of them.

    Attributes:
        name: of the table.
        lines: as of samples.jsonl.
        repeats: answers that each question should have.
        official: whether its questions are official ones, so that it is known which are missing.
        reasoning: policy by which reasoning was scored.
        data: labels of the questions' data.
        embedding_model: that gave the similarities; None: none.
        runs: names of the runs that the answers are from.
        expected: tasks that have figures even without an answer.
        malformed: lines by task; None: of files that do not tell their task.
        duplicates: samples left out, by task.
        copies: questions that are there already, by task; None: not known.
    """

    name: str
    lines: Sequence[Mapping[str, Any]]
    repeats: int
    official: bool
    reasoning: str
    data: Sequence[str]
    embedding_model: str | None = None
    runs: Sequence[str] = ()
    expected: Iterable[str] = ()
    malformed: Mapping[str | None, int] = field(default_factory=dict)
    duplicates: Mapping[str, int] = field(default_factory=dict)
    copies: Mapping[str, int | None] = field(default_factory=dict)

    def columns(self, *, swapped: bool = False) -> Answers:
        """Return the answers as columns; `swapped`: under the other policy for reasoning."""
        benchmark = benchmark_of_table(self.name)
        table, expected = benchmark.tables[self.name], set(self.expected)
        found = Columns(benchmark, table, self.repeats, self.official, swapped, expected)
        for line in self.lines:
            found.add(line)
        return found.finish()


def table_report(own: TableAnswers) -> ReportTable:
    """Return a table's part of the report.

    Raises:
        BadRow: answers contradict each other.
    """
    benchmark, answers = benchmark_of_table(own.name), own.columns()
    figures, other, otherwise = benchmark.figures(answers), None, None
    if answers.reasoned.any():
        other = own.columns(swapped=True)
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


def _answers(
    merged: MergedTable, gathered: Gathered, runs: Sequence[str], embedding_model: str | None
) -> TableAnswers:
    name, labels = merged.table.name, gathered.labels
    own = [source for source in gathered.sources if source.table == name]
    malformed: Counter[str | None] = Counter()
    for source in own:
        malformed[source.task] += gathered.malformed[source.number]
    embedded = any(task.summary for task in merged.table.tasks.values())
    return TableAnswers(
        name,
        [sample.line for sample in merged.samples],
        merged.repeats,
        labels.official(name),
        merged.policy(),
        labels.of(name),
        embedding_model if embedded else None,
        [runs[number] for number in sorted(merged.runs)],
        [source.task for source in own if source.task is not None],
        malformed,
        merged.duplicates,
        merged.copies,
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
        name: table_report(_answers(table, gathered, runs, embedding_model))
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
