"""What runs have cost: tokens, time and money, from the answers that they kept."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lm_eval_longbench.benchmarks.registry import benchmarks
from lm_eval_longbench.records.price import Price
from lm_eval_longbench.records.store import answer_files
from lm_eval_longbench.records.summary import TOKENS, TaskAnswers, files_of, summary
from lm_eval_longbench.reporting.notes import Column
from lm_eval_longbench.reporting.report import BenchmarkReport, Report


def _kept(path: Path, column: Column) -> TaskAnswers | None:
    """Return the answers to a column's tasks that were kept; None: there are none.

    They lie in the run's `--output_path`: the folder that was given, or the one above it.
    """
    files = files_of(path) if path.is_dir() else []
    found = TaskAnswers()
    own = set(column.table.info.tasks)
    for file in files or answer_files(path.parent):
        for name, task in summary(file).tasks.items():
            if name in own:
                found.join(task)
    return found if found.answered else None


def _points(report: BenchmarkReport, number: int) -> float | None:
    """Return the first figure of the headline that a column has, as it is shown."""
    for place in benchmarks()[report.benchmark].headline:
        for row in report.rows:
            cell = row.figures[number] if (row.section, row.name) == place else None
            if cell is not None and cell.value is not None:
                return row.unit.scaled(cell.value)
    return None


def costs(report: Report, folders: Mapping[str, Path], price: Price) -> list[dict[str, str]]:
    """Return a line for each run and table whose answers were kept.

    Args:
        report: of the runs.
        folders: that were given, by the names of the runs.
        price: of tokens.
    """
    rows = []
    for own in report.benchmarks:
        for number, column in enumerate(own.columns):
            kept = _kept(folders[column.run.name], column)
            if kept is None:
                continue
            row = {"run": f"{column.label}, {own.title}", "answers": f"{kept.answered:,}"}
            counts = {name: getattr(kept, name) for name in TOKENS}
            for name, value in counts.items():
                row[name.replace("_tokens", "")] = "" if value is None else f"{value:,}"
            seconds = kept.last - kept.first if kept.first and kept.last else 0.0
            written = kept.completion_tokens or 0
            row["seconds"] = f"{seconds:,.0f}"
            row["tokens/s"] = f"{written / seconds:,.1f}" if seconds and written else ""
            row |= {"cost": "", "points per unit": ""}
            if kept.prompt_tokens is not None and kept.completion_tokens is not None:
                cost = price.of(kept.prompt_tokens, kept.cached_tokens or 0, written)
                points = _points(own, number)
                row["cost"] = f"{cost:,.4g}"
                if points is not None and cost:
                    row["points per unit"] = f"{points / cost:,.4g}"
            rows.append(row)
    return rows
