"""What runs have cost: tokens, time and money, from the answers that they kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lm_eval_longbench.benchmarks.registry import benchmarks
from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.records.store import answer_files
from lm_eval_longbench.records.summary import TOKENS, TaskAnswers, files_of, summary
from lm_eval_longbench.reporting.notes import Column
from lm_eval_longbench.reporting.report import BenchmarkReport, Report


@dataclass(frozen=True)
class Price:
    """Money for a million tokens.

    Attributes:
        prompt, answer: of each kind.
        cached: of a prompt's tokens that the server has read before; None: as others.
    """

    prompt: float
    answer: float
    cached: float | None = None

    def of(self, prompt: int, cached: int, answer: int) -> float:
        """Return the cost of some tokens; `cached` is a part of `prompt`."""
        again = self.prompt if self.cached is None else self.cached
        return ((prompt - cached) * self.prompt + cached * again + answer * self.answer) / 1e6


def read_price(text: str) -> Price:
    """Return the price that a user gives as "in,out" or "in,out,cached".

    Raises:
        OptionError: it is none.
    """
    try:
        numbers = [float(part) for part in text.split(",")]
        if not 2 <= len(numbers) <= 3 or not all(0 <= number < 1e9 for number in numbers):
            raise ValueError
    except ValueError:
        raise OptionError(
            f"--price is in,out or in,out,cached, money for a million tokens such as 2.5,10,1.25; "
            f"not {text!r}."
        ) from None
    return Price(*numbers)


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
            is_timed = kept.first and kept.last and not kept.batch  # batches come all at once
            seconds = (kept.last or 0.0) - (kept.first or 0.0) if is_timed else 0.0
            written = kept.completion_tokens or 0
            row["seconds"] = f"{seconds:,.0f}" if is_timed else ""
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
