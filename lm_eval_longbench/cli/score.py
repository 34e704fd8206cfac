"""`lm-eval-longbench score`: score prediction files without a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column, Table

from lm_eval_longbench.aggregation.length_buckets import BUCKETS
from lm_eval_longbench.catalog import Split
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.offline.score_v1 import (
    BENCHMARKS,
    DatasetScores,
    find_files,
    score_files,
)
from lm_eval_longbench.offline.write import json_file, json_lines

# Bad lines shown of each file; all are counted.
_SHOWN = 20


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def results_table(results: list[DatasetScores], benchmark: str) -> Table:
    """Lay the figures out in percent, with what was not scored beside them."""
    figures = BUCKETS if benchmark == "v1_e" else ("score",)
    table = Table(
        Column("dataset", no_wrap=True), *figures, "scored", "failed", "malformed", "official rows"
    )
    for result in results:
        figure = result.figure
        values = figure.values() if isinstance(figure, dict) else (figure,)
        table.add_row(
            result.split.info.name,
            *map(_cell, values),
            str(len(result.scores)),
            str(result.failed),
            str(len(result.bad)),
            str(result.split.rows),
        )
    return table


def warnings_of(result: DatasetScores, shown: int = _SHOWN) -> list[str]:
    """Return what a user must know about one file: bad lines, and a count that is not official."""
    lines = [f"malformed, not scored: {bad}" for bad in result.bad[:shown]]
    if len(result.bad) > shown:
        lines.append(f"... and {len(result.bad) - shown} more malformed lines")
    rows = len(result.scores) + len(result.bad)
    if rows != result.split.rows:
        name = result.split.info.name
        lines.append(f"{name}: {rows} rows instead of the official {result.split.rows}")
    return lines


def _check_strict(results: list[DatasetScores]) -> None:
    bad = [line for result in results for line in result.bad]
    if bad:
        shown = "\n".join(f"  {line}" for line in bad[:_SHOWN])
        raise PredictionError(
            f"{len(bad)} malformed lines, and --strict is on; nothing was written.\n{shown}"
        )


def _score(files: list[tuple[Split, Path]], output: Path, strict: bool) -> list[DatasetScores]:
    with json_lines(output / "samples.jsonl") as emit:
        results = list(score_files(files, emit))
        if strict:
            _check_strict(results)
        # Before samples.jsonl appears, so that the two files are always of one run.
        scores = {result.split.info.name: result.figure for result in results}
        json_file(output / "scores.json", scores)
    return results


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""

    @app.command("score")
    def score(
        path: Annotated[Path, typer.Argument(help="Folder of <dataset>.jsonl prediction files.")],
        benchmark: Annotated[str, typer.Option(help=" or ".join(BENCHMARKS))],
        output: Annotated[Path, typer.Option(help="Folder for scores.json and samples.jsonl.")],
        strict: Annotated[
            bool, typer.Option("--strict", help="Fail if any line is malformed.")
        ] = False,
    ) -> None:
        """Score official prediction files: scores.json in the official shape, samples.jsonl."""
        files, others = find_files(path, benchmark)
        results = _score(files, output, strict)
        errors = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
        for file in others:
            errors.print(f"warning: {file.name} is no dataset of {benchmark}; not scored")
        for result in results:
            for line in warnings_of(result):
                errors.print(f"warning: {line}")
        Console().print(results_table(results, benchmark))
        typer.echo(f"written: {output / 'scores.json'}, {output / 'samples.jsonl'}")
