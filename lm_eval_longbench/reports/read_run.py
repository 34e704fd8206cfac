"""Read a folder that `lm-eval-longbench score` wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lm_eval_longbench.catalog import MOST_REPEATS
from lm_eval_longbench.catalog_pro import DIMENSIONS
from lm_eval_longbench.catalog_v2 import COUNTS
from lm_eval_longbench.errors import DataError, PredictionError
from lm_eval_longbench.input_files import blocks, decoded, lines, read_whole, reading
from lm_eval_longbench.provenance.shapes import (
    COUNT,
    OBJECT,
    PERCENT,
    SCORE,
    TEXT,
    Each,
    Fields,
    ListOf,
    OrNull,
    Plain,
    Shape,
    checked,
)
from lm_eval_longbench.reports.sample_columns import BadRow, SampleColumns
from lm_eval_longbench.reports.scored import Facts, Run, unique_names
from lm_eval_longbench.reports.tables import TABLES

REPORT, SAMPLES = "report.json", "samples.jsonl"
_FORMAT = 1
_V2_PARTS = dict.fromkeys(
    ("overall", *(value for values in COUNTS.values() for value in values)), OrNull(PERCENT)
)
_ENTRY = Fields(
    {
        "repeats": Plain(
            f"a whole number from 1 to {MOST_REPEATS}", (int,), least=1, most=MOST_REPEATS
        ),
        "data": ListOf(TEXT),
        "embedding_model": OrNull(TEXT),
        "official": OBJECT,
        "counts": Each(OrNull(COUNT)),
        "tasks": Each(Fields({}, {"questions": COUNT, "copies": OrNull(COUNT)})),
    },
    {
        "strict": OrNull(Fields({}, _V2_PARTS)),
        "accuracy": OrNull(Fields({}, _V2_PARTS)),
        "signature": OrNull(
            Fields(
                {},
                {
                    "line": OrNull(TEXT),
                    "ingredients": OrNull(OBJECT),
                    "tasks": OrNull(Each(OBJECT)),
                    "differences": ListOf(TEXT),
                },
            )
        ),
        "runs": OrNull(ListOf(TEXT)),
        "reasoning": OrNull(
            Fields(
                {},
                {
                    "policy": OrNull(TEXT),
                    "answers": OrNull(COUNT),
                    "other": OrNull(Fields({"official": OBJECT})),
                },
            )
        ),
    },
)
_AGAIN = "Score the predictions again with `lm-eval-longbench score`."


def is_scored(folder: Path) -> bool:
    """Return whether a folder holds the files of a scored run."""
    return (folder / REPORT).is_file() and (folder / SAMPLES).is_file()


def _official_shape(benchmark: str, repeats: int) -> Shape:
    """Return the shape of the official figures of a table, as far as a report shows them."""
    share, percent = OrNull(SCORE), OrNull(PERCENT)
    if benchmark == "longbench_v1":
        return Each(percent)
    if benchmark == "longbench_v1_e":
        return Each(OrNull(Each(percent)))
    if benchmark == "longbench_v2":
        return Fields({}, {**_V2_PARTS, "compensated": Fields({}, _V2_PARTS)})
    best = Fields({}, {"overall_metric": share, **dict.fromkeys(DIMENSIONS, Each(share))})
    shapes: dict[str, Shape] = {"average_overall_metric": share}
    shapes |= {f"average_{name}_metric": Each(share) for name in DIMENSIONS}
    for run in range(1, repeats + 1):
        shapes |= {f"inference_iteration_{run}_overall_metric": share}
        shapes |= {f"BoN-{run}": best, f"pass@{run}": share}
    return Fields({}, shapes)


def _facts(file: Path, table: str, entry: Any) -> Facts:
    """Return what report.json says about a table; DataError if it does not say it."""
    if table not in TABLES:
        raise DataError(f"{file}: {table!r} is no table of this version: {', '.join(TABLES)}.")
    said, place = f"{file} is no sound report", f"tables.{table}"
    try:
        checked(entry, _ENTRY, said, place)
        shape = _official_shape(TABLES[table].benchmark, entry["repeats"])
        checked(entry["official"], shape, said, f"{place}.official")
        reasoning = entry.get("reasoning") or {}
        otherwise = (reasoning.get("other") or {"official": {}})["official"]
        if otherwise:
            checked(otherwise, shape, said, f"{place}.reasoning.other.official")
    except PredictionError as error:
        raise DataError(f"{error} {_AGAIN}") from error
    return Facts(
        repeats=entry["repeats"],
        data=tuple(entry["data"]),
        embedding_model=entry["embedding_model"],
        official=entry["official"],
        counts=entry["counts"],
        tasks=entry["tasks"],
        strict=entry.get("strict") or {},
        accuracy=entry.get("accuracy") or {},
        signature=entry.get("signature") or {},
        runs=tuple(entry.get("runs") or ()),
        reasoning=reasoning,
        official_otherwise=otherwise,
    )


def _read_report(file: Path) -> tuple[dict[str, Facts], dict[str, int]]:
    """Return the tables' facts and the number of rows by kind of problem."""
    try:
        report = decoded(read_whole(file))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{file} cannot be read as JSON: {error}. {_AGAIN}") from error
    if not isinstance(report, dict) or report.get("format") != _FORMAT:
        raise DataError(f'{file} has no "format": {_FORMAT}. {_AGAIN}')
    tables, problems = report.get("tables"), report.get("problems", {})
    if not isinstance(tables, dict) or not isinstance(problems, dict):
        raise DataError(f"{file} needs the objects 'tables' and 'problems'. {_AGAIN}")
    totals = {}
    for kind, rows in problems.items():
        if isinstance(rows, list) and rows:
            totals[kind] = problems.get(f"{kind}_total", len(rows))
            try:
                checked(totals[kind], COUNT, f"{file} is no sound report", f"{kind}_total")
            except PredictionError as error:
                raise DataError(f"{error} {_AGAIN}") from error
    return {name: _facts(file, name, entry) for name, entry in tables.items()}, totals


def _read_samples(file: Path, columns: dict[str, SampleColumns]) -> None:
    """Add every line to the columns of its table; DataError names a line that does not fit."""
    with reading(file, DataError):
        for number, line in enumerate(lines(blocks(file)), start=1):
            try:
                row = decoded(line)
                columns[row["table"]].add(row, number)
            except KeyError as error:
                raise DataError(
                    f"{file}, line {number}: {error} is no field of the line, or no table of "
                    f"{REPORT}. {_AGAIN}"
                ) from error
            except (BadRow, TypeError, ValueError, RecursionError) as error:
                raise DataError(f"{file}, line {number}: {error}. {_AGAIN}") from error


def read_run(folder: Path, name: str | None = None) -> Run:
    """Read a scored run; of a million samples it keeps some fifty bytes each.

    Args:
        folder: with report.json and samples.jsonl.
        name: in print; the folder's name if not given.

    Raises:
        DataError: a file is missing, damaged, or not of the other's run; names file and line.
    """
    if not is_scored(folder):
        raise DataError(
            f"{folder} is not a folder with {REPORT} and {SAMPLES}, as `lm-eval-longbench score` "
            "writes them."
        )
    facts, problems = _read_report(folder / REPORT)
    file = folder / SAMPLES
    columns = {table: SampleColumns(table, facts[table]) for table in TABLES if table in facts}
    _read_samples(file, columns)
    tables = {}
    for table, column in columns.items():
        stated = facts[table].counts.get("samples")
        if stated != len(column):
            raise DataError(
                f"{file} has {len(column)} lines of {table}, and {REPORT} counts {stated}: they "
                f"are not of one run. {_AGAIN}"
            )
        held = facts[table].reasoning.get("answers", 0)
        if held != column.reasoned:
            raise DataError(
                f"{file} has {column.reasoned} answers of {table} that hold reasoning, and "
                f"{REPORT} counts {held}: they are not of one run. {_AGAIN}"
            )
        try:
            tables[table] = column.finish()
        except BadRow as error:
            raise DataError(f"{file}, line {error.line}: {error}. {_AGAIN}") from error
    return Run(name or unique_names([folder])[0], folder, tables, problems)
