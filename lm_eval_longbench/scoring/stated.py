"""Compare the figures that official result files state with those of the answers beside them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lm_eval_longbench.benchmarks.registry import benchmark_of_table
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.input_files import read_json
from lm_eval_longbench.scoring.files import LOG
from lm_eval_longbench.scoring.plan import Plan

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
        source = file.source
        if source.kind == LOG or source.layout or source.table is None:
            continue
        own = benchmark_of_table(source.table).official_files
        path = None if own is None else own.figures_beside(file.path)
        if path is not None and path.is_file():
            folder = source.name.rpartition("/")[0]
            files[path, source.table] = f"{folder}/{path.name}" if folder else path.name
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
