"""Make the report of merged answers; join shards; write answers as the official scripts do."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from lm_eval_longbench.benchmarks.registry import benchmark_of_table, benchmarks, carried, signs
from lm_eval_longbench.errors import LongBenchError, PredictionError
from lm_eval_longbench.files import read_json
from lm_eval_longbench.metrics.reasoning import DROP, KEEP
from lm_eval_longbench.prompts.render import joined_sha256
from lm_eval_longbench.records.layouts import OfficialFiles, WrittenRun
from lm_eval_longbench.records.scored import FORMAT, ReportFile, ReportTable, SignaturePart
from lm_eval_longbench.result_files import written_together
from lm_eval_longbench.scoring.files import LOG
from lm_eval_longbench.scoring.merge import TableAnswers
from lm_eval_longbench.scoring.plan import Plan
from lm_eval_longbench.scoring.problems import Problems
from lm_eval_longbench.shapes import leaves
from lm_eval_longbench.signature.signature import (
    UNKNOWN,
    combined,
    of_scored,
    package_versions,
    unknown,
)
from lm_eval_longbench.statistics.answers import Answers, Columns
from lm_eval_longbench.statistics.figure import counts, task_counts
from lm_eval_longbench.version import __version__

# ---------------------------------------------------------------------- shards


def _pieces(signatures: Sequence[Mapping[str, Any]]) -> tuple[Counter[int], int, int, int]:
    """Return how often each piece is there, the number of pieces, of questions, and those asked."""
    told = [str(own["shard"]).partition("/") for own in signatures]
    divisions = {division for *_, division in told}
    if len(divisions) > 1:
        raise PredictionError(
            f"{signatures[0]['task']}: shards of several divisions are no parts of one run: "
            f"{'; '.join(sorted(divisions))} questions. Score each division apart."
        )
    number, of = map(int, divisions.pop().split(" of "))
    pieces = [int(piece) for piece, *_ in told]
    asked = dict(zip(pieces, (own.get("asked") or 0 for own in signatures), strict=True))
    return Counter(pieces), number, of, sum(asked.values())


def joined(signatures: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the signature of the runs of a task; all shards together are one run."""
    whole = combined(signatures)
    if all(own.get("shard") for own in signatures):
        found, _, of, asked = _pieces(signatures)
        if asked == of and len(set(found.values())) == 1:
            whole["shard"] = None
            if isinstance(whole["reasoning_sha256"], list):
                whole["reasoning_sha256"] = joined_sha256(whole["reasoning_sha256"])
    return whole


def gaps(recorded: Sequence[Mapping[str, Any] | None]) -> list[dict[str, Any]]:
    """Return the tasks whose shards are not all there once, with the numbers of the shards.

    A shard without a question of a task is not missing where another task has it.

    Args:
        recorded: signatures of the logs; None: it has none.

    Raises:
        PredictionError: shards of several divisions.
    """
    tasks: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for own in recorded:
        if own is not None and own.get("shard"):
            tasks[str(own["task"])].append(own)
    read = {task: _pieces(own) for task, own in sorted(tasks.items())}
    seen: dict[int, set[int]] = defaultdict(set)
    for found, number, *_ in read.values():
        seen[number] |= set(found)
    rows = []
    for task, (found, number, of, asked) in read.items():
        every = set(range(1, number + 1))
        missing = (every - seen[number]) or (every - set(found)) if asked < of else set()
        usual = min(found.values())
        double = {piece for piece, times in found.items() if times > usual}
        if missing or double or asked < of:
            told = {name: sorted(own) for name, own in (("missing", missing), ("double", double))}
            rows.append({"task": task, "shards": number, "asked": asked, "of": of, **told})
    return rows


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
    found = {}
    for name, table in tables.items():
        own = {
            task: _scored_here(joined(known[task]) if task in known else unknown(task=task), table)
            for task in table["tasks"]
        }
        found[name] = of_scored(own, table, signs())
    return found


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
                malformed=own.malformed[task],
                duplicate=own.duplicates[task],
                copies=own.copies[task],
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


# ---------------------------------------------------------------------- official files


# What a file name is made of; of a model's name only the part behind the last slash, as officially.
_ODD = re.compile(r"[^\w.+-]+")
_LIMIT = re.compile(r"_context-(\d{1,12})_")


def write_official(
    folder: Path, plan: Plan, merged: Mapping[str, TableAnswers], report: Mapping[str, Any]
) -> None:
    """Write answers and their figures as the official scripts do; all files appear together.

    Args:
        folder: where they go.
        plan: what was read.
        merged: the answers, by table.
        report: the report on them.

    Raises:
        LongBenchError: a table's benchmark has no official files, or one cannot be written.
    """
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    figures: dict[str, dict[str, Any]] = {}
    for name, own in merged.items():
        benchmark = benchmark_of_table(name)
        table = benchmark.tables[name]
        files = benchmark.official_files
        if files is None:
            raise LongBenchError(
                f"{benchmark.title} has no official files that could be written: leave official "
                "out, or score its answers apart."
            )
        run = WrittenRun(_model(plan, files), _limit(plan), own.repeats)
        for sample in own.samples:
            if sample.official is not None:
                path = files.path(table, table.tasks[sample.task], run, sample.repeat)
                rows[path].append(files.numbered(sample.official, sample.repeat))
        path = files.figures_path(table, run)
        if path:
            figures[path] = files.figures(report["tables"][name]["official"])
    with written_together([folder / path for path in (*rows, *figures)]) as opened:
        for file, path in zip(opened, (*rows, *figures), strict=True):
            for row in rows.get(path, ()):
                file.add(row)
            if path in figures:
                file.document(figures[path], nan=True)


def _model(plan: Plan, files: OfficialFiles) -> str:
    """Return the model's name: of the results file beside the logs, or of official files' paths."""
    named = next((file.recorded.model for file in plan.files if file.recorded.model), None)
    if named is None:
        first = plan.files[0]
        path = first.place
        named = path.parent.name if first.kind == LOG else files.model_of(path)
    return _ODD.sub("_", named.rstrip("/").rpartition("/")[2]) or "model"


def _limit(plan: Plan) -> int:
    """Return the longest prompt in tokens that signatures or file names state; 0: none does."""
    for file in plan.files:
        limit = (file.recorded.signature or {}).get("limit")
        told = _LIMIT.search(file.place.name)
        if isinstance(limit, int):
            return limit
        if told:
            return int(told[1])
    return 0


# ---------------------------------------------------------------------- what official files state

# Official files are decimal texts of floats; sums in another order differ in the last bits.
_SAME = 1e-9
# Differing figures that a report names.
_NAMED = 20


def compared(stated: Any, computed: Mapping[str, Any]) -> dict[str, Any]:
    """Return how many figures are the same, and which differ; what only one side has is left out.

    Args:
        stated: decoded, from an official result file.
        computed: official figures of the answers.
    """
    known = dict(leaves(computed))
    same, differing = 0, []
    for place, value in leaves(stated):
        if type(value) not in (int, float) or not isinstance(known.get(place), int | float):
            continue
        if math.isclose(value, known[place], rel_tol=_SAME, abs_tol=_SAME):
            same += 1
        else:
            differing.append({"figure": "/".join(place), "stated": value, "computed": known[place]})
    return {"same": same, "differing_total": len(differing), "differing": differing[:_NAMED]}


def stated_figures(plan: Plan, report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what the official result files beside the input files say, compared with a report."""
    files: dict[tuple[Path, str], str] = {}
    for file in plan.files:
        if file.kind == LOG or file.layout or file.table is None:
            continue
        own = benchmark_of_table(file.table).official_files
        path = None if own is None else own.figures_beside(file.place)
        if path is not None and path.is_file():
            folder = file.name.rpartition("/")[0]
            files[path, file.table] = f"{folder}/{path.name}" if folder else path.name
    found = []
    for (path, table), name in sorted(files.items()):
        try:
            stated = read_json(path, PredictionError)
        except PredictionError as error:
            found.append({"name": name, "table": table, "problem": str(error)})
            continue
        found.append(
            {"name": name, "table": table, **compared(stated, report["tables"][table]["official"])}
        )
    return found
