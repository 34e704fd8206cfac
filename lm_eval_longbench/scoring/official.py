"""Write scored answers as the official scripts do, and compare what official files state."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lm_eval_longbench.benchmarks.registry import benchmark_of_table
from lm_eval_longbench.errors import LongBenchError, PredictionError
from lm_eval_longbench.files import read_json
from lm_eval_longbench.records.layouts import OfficialFiles, WrittenRun
from lm_eval_longbench.result_files import written_together
from lm_eval_longbench.scoring.files import LOG
from lm_eval_longbench.scoring.merge import TableAnswers
from lm_eval_longbench.scoring.plan import Plan

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


def _leaves(value: Any, place: str = "") -> Iterator[tuple[str, float]]:
    """Yield each number of nested objects with its place."""
    if isinstance(value, Mapping):
        for name, own in value.items():
            yield from _leaves(own, f"{place}/{name}" if place else str(name))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield place, value


def compared(stated: Any, computed: Mapping[str, Any]) -> dict[str, Any]:
    """Return how many figures are the same, and which differ; what only one side has is left out.

    Args:
        stated: decoded, from an official result file.
        computed: official figures of the answers.
    """
    known = dict(_leaves(computed))
    same, differing = 0, []
    for place, value in _leaves(stated):
        if place not in known:
            continue
        if math.isclose(value, known[place], rel_tol=_SAME, abs_tol=_SAME):
            same += 1
        else:
            differing.append({"figure": place, "stated": value, "computed": known[place]})
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
