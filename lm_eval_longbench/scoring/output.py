"""Write the three result files with their signature, or make the same in memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval_longbench.benchmarks.registry import benchmarks, table_of, tables
from lm_eval_longbench.logs.scored_files import (
    FORMAT,
    REPORT,
    SAMPLES,
    SCORES,
    ReportFile,
    SampleLine,
)
from lm_eval_longbench.result_files import written_together
from lm_eval_longbench.scoring.official import OfficialFolder
from lm_eval_longbench.scoring.scan import Gathered, Scan
from lm_eval_longbench.scoring.store import Question, Row, Store, questions
from lm_eval_longbench.scoring.table_report import TableReport
from lm_eval_longbench.signature.signature import (
    UNKNOWN,
    SignaturePart,
    combined,
    of_scored,
    package_versions,
    unknown,
)
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


# ---------------------------------------------------------------------- the files


def _line(question: Question, repeat: int, row: Row) -> SampleLine:
    """Return the output line of an answer."""
    line: SampleLine = {
        "table": question.table.name,
        "task": question.task,
        "id": question.id,
        "repeat": repeat,
        "score": row.score,
        "failed": bool(row.failed),
        "truncated": None if row.truncated is None else bool(row.truncated),
        "capped": None if row.capped is None else bool(row.capped),
    }
    if row.failed and row.failure:
        line["failure"] = row.failure
    line.update(json.loads(row.shown))
    return line


@dataclass
class Results:
    """What is written of the stored samples.

    Attributes:
        store: all samples.
        gathered: what was read besides.
        scan: what is known of all samples.
        runs: names of the runs, by number.
        embedding_model: that gave the similarities; None: none.
        signatures: of the inputs; None for one without.
        official: where official files are written; None: nowhere.
        finish: returns further parts of the report, of which empty ones are left out.
    """

    store: Store
    gathered: Gathered
    scan: Scan
    runs: list[str]
    embedding_model: str | None
    signatures: Sequence[Mapping[str, Any] | None] = ()
    official: OfficialFolder | None = None
    finish: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None

    def _tables(self) -> dict[str, TableReport]:
        labels = self.gathered.labels
        made = {
            name: TableReport(
                name,
                self.scan.repeats[name],
                official=labels.official(name),
                reasoning=self.scan.policy(name),
                reasoned=name in self.scan.reasoning,
                copies=self.scan.copies,
            )
            for name in self.scan.tables
        }
        for source in self.gathered.sources:
            if source.table is not None:
                malformed = self.gathered.malformed[source.number]
                made[source.table].expect(source.task, malformed)
        return made

    def _report(self, made: dict[str, TableReport], inputs: list[dict[str, Any]]) -> ReportFile:
        def embedded(table: str) -> bool:
            return any(task.summary for task in tables()[table].tasks.values())

        parts = {
            name: table.as_json(
                data=self.gathered.labels.of(name),
                embedding_model=self.embedding_model if embedded(name) else None,
                runs=[self.runs[number] for number in sorted(self.scan.runs.get(name, ()))],
            )
            for name, table in made.items()
        }
        signatures = table_signatures(parts, self.signatures)
        for name, part in parts.items():
            part["signature"] = signatures[name]
        return {
            "format": FORMAT,
            "package": f"lm-eval-longbench {__version__}",
            "tables": parts,
            "inputs": sorted(inputs, key=lambda one: (one["name"], str(one["sha256"]))),
            "problems": self.gathered.problems.as_json(),
        }

    def make(
        self, emit: Callable[[SampleLine], None], inputs: list[dict[str, Any]]
    ) -> dict[str, Any]:
        """Emit all output lines in order; return the report on the input files."""
        made = self._tables()
        for task, number in self.scan.duplicates.items():
            table = table_of(task)
            if table is not None:
                made[table.name].count_duplicates(task, number)
        for question in questions(self.store.rows()):
            lines = [_line(question, repeat, row) for repeat, row in question.rows.items()]
            made[question.table.name].add(lines)
            for line in lines:
                emit(line)
            if self.official is not None:
                self.official.add(question)
        report = self._report(made, inputs)
        more = {} if self.finish is None else self.finish(report)
        return {**report, **{name: part for name, part in more.items() if part}}

    def write(self, folder: Path, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        """Write samples.jsonl, scores.json and report.json; return the report.

        Raises:
            LongBenchError: one of them cannot be written; earlier ones are untouched.
        """
        paths = [folder / name for name in (SAMPLES, SCORES, REPORT)]
        with written_together(paths) as (samples, scores, report):
            made = self.make(samples.add, inputs)
            official = {name: table["official"] for name, table in made["tables"].items()}
            only = next(iter(official.values()))
            scores.document(only if len(official) == 1 else official)
            report.document(made)
            if self.official is not None:
                self.official.finish(made)
        return made
