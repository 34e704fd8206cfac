"""Official summaries: the figures that the official scripts of a benchmark write into one file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval_longbench.benchmarks.base import MOST_REPEATS, Benchmark, Place
from lm_eval_longbench.benchmarks.registry import benchmarks
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.input_files import read_json
from lm_eval_longbench.reporting.scored_run import is_scored
from lm_eval_longbench.statistics.answers import Columns

# The end of a summary's name, and what the official scripts put between it and the model.
_END = re.compile(r"[-_]?(context[-_].*|bon[-_].*)?summary$", re.IGNORECASE)
_REPEATS = "inference_iterations"
_COUNTS = ("fail_samples_num", "total_samples_num")


@dataclass(frozen=True)
class Summary:
    """One official summary.

    Attributes:
        benchmark: whose it is.
        model: by the name of its file.
        mode: of published rows that it is comparable with.
        values: in the benchmark's unit, by place.
        failed: share of samples without an answer; None: not stated.
    """

    benchmark: Benchmark
    model: str
    mode: str
    values: Mapping[Place, float]
    failed: float | None


def _whose(whole: Any) -> Benchmark | None:
    """Return the benchmark that a decoded file is a summary of; None: of none."""
    if not isinstance(whole, Mapping):
        return None
    found = (one for one in benchmarks().values() if one.overall and one.overall in whole)
    return next((one for one in found if isinstance(whole.get(_REPEATS), int)), None)


def _values(benchmark: Benchmark, table: str, whole: Mapping[str, Any]) -> dict[Place, float]:
    """Return the figures that a summary states, where the figures of no answers stand in one."""
    repeats = min(max(whole[_REPEATS], 1), MOST_REPEATS)
    answers = Columns(benchmark, benchmark.tables[table], repeats).finish()
    found = {}
    for figure in benchmark.figures(answers):
        value: Any = whole
        for name in figure.path[1:]:
            value = value.get(name) if isinstance(value, Mapping) else None
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if figure.path[:1] == ("official",) and is_number and 0 <= value <= figure.unit.factor:
            found[figure.place] = float(value)
    return found


def _failed(whole: Mapping[str, Any]) -> float | None:
    failed, samples = (whole.get(name) for name in _COUNTS)
    if not isinstance(failed, int) or not isinstance(samples, int) or samples < 1:
        return None
    return failed / samples


def _summary(path: Path, benchmark: Benchmark, whole: Mapping[str, Any]) -> Summary:
    table = benchmark.tables[benchmark.official_table(whole, path.stem)]
    of_thinking = next(iter(benchmark.tables)) != table.name
    mode = table.published[0] if table.published else table.mode
    model = _END.sub("", path.stem)
    if of_thinking:  # the name of the mode is no part of the model's
        model = re.sub(r"[-_]thinking$", "", model, flags=re.IGNORECASE)
    model = re.sub(r"[-_]non[-_]?thinking$", "", model, flags=re.IGNORECASE)
    values = _values(benchmark, table.name, whole)
    return Summary(benchmark, model or path.stem, mode, values, _failed(whole))


def read_summaries(paths: Sequence[Path]) -> tuple[list[Summary], list[Path]]:
    """Return the summaries under the paths, and the paths that hold none, in their order.

    Args:
        paths: summaries, folders of them, and what is anything else.

    Raises:
        PredictionError: a JSON file that is named, or ends in "summary.json", cannot be read.
    """
    found: list[Summary] = []
    others = []
    for path in paths:
        files = [path] if path.is_file() and path.suffix == ".json" else []
        if path.is_dir() and not is_scored(path):
            files = sorted(path.rglob("*summary.json"))
        own = []
        for file in files:
            whole = read_json(file, PredictionError)
            benchmark = _whose(whole)
            if benchmark is not None:
                own.append(_summary(file, benchmark, whole))
        found += own
        others += [] if own else [path]
    return found, others
