"""What runs have cost: tokens, time and money, from the answers that they kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from lm_eval_longbench.benchmarks.registry import benchmarks
from lm_eval_longbench.console import say_table, table_of
from lm_eval_longbench.errors import OptionError
from lm_eval_longbench.records.store import answer_files
from lm_eval_longbench.records.summary import TOKENS, TaskAnswers, files_of, summary
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

    def of(self, own: TaskAnswers) -> float:
        """Return the cost of answers; tokens that nobody counted cost nothing."""
        prompt, cached = own.prompt_tokens or 0, own.cached_tokens or 0
        again = self.prompt if self.cached is None else self.cached
        answer = (own.completion_tokens or 0) * self.answer
        return ((prompt - cached) * self.prompt + cached * again + answer) / 1e6


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


def _kept(path: Path) -> dict[str, TaskAnswers]:
    """Return the answers of a run that were kept, by task.

    They lie in the run's `--output_path`: the folder that was given, or the one above it.
    """
    found: defaultdict[str, TaskAnswers] = defaultdict(TaskAnswers)
    for file in (files_of(path) if path.is_dir() else ()) or answer_files(path.parent):
        for name, own in summary(file).tasks.items():
            found[name] += own
    return found


def _points(report: BenchmarkReport, number: int) -> float | None:
    """Return the first figure of the headline that a column has, as it is shown."""
    for place in benchmarks()[report.benchmark].headline:
        for row in report.rows:
            cell = row.figures[number] if (row.section, row.name) == place else None
            if cell is not None and cell.value is not None:
                return row.unit.scaled(cell.value)
    return None


# What the table has of answers, and how it calls that.
_COLUMNS = {"answered": "answers", **{name: name.removesuffix("_tokens") for name in TOKENS}}


def costs(report: Report, folders: Mapping[str, Path], price: Price) -> list[dict[str, str]]:
    """Return a line for each run and table whose answers were kept; `folders` by name of run."""
    by_run, rows = {name: _kept(path) for name, path in folders.items()}, []
    for own in report.benchmarks:
        for number, column in enumerate(own.columns):
            by_task = by_run.get(column.run.name, {})
            names = by_task.keys() & set(column.table.info.tasks)
            kept = sum((by_task[name] for name in names), TaskAnswers())
            if not kept.answered:
                continue
            row = {"run": f"{column.label}, {own.title}", **kept.shown(_COLUMNS)}
            row |= dict.fromkeys(("seconds", "tokens/s", "cost", "points per unit"), "")
            if kept.first and kept.last and not kept.batch:  # batches come all at once
                seconds, written = kept.last - kept.first, kept.completion_tokens
                row["seconds"] = f"{seconds:,.0f}"
                row["tokens/s"] = f"{written / seconds:,.1f}" if seconds and written else ""
            if kept.prompt_tokens is not None and kept.completion_tokens is not None:
                cost, points = price.of(kept), _points(own, number)
                row["cost"] = f"{cost:,.4g}"
                if points is not None and cost:
                    row["points per unit"] = f"{points / cost:,.4g}"
            rows.append(row)
    return rows


def cost_text(report: Report, folders: Mapping[str, Path], price: Price) -> str:
    """Return `costs` as a table; OptionError if no answers were kept."""
    rows = costs(report, folders, price)
    if not rows:
        raise OptionError("--price needs the files of answers that `run` keeps in --output_path.")
    out = StringIO()
    say_table(table_of(rows, title="tokens and cost of the answers that are kept"), file=out)
    return out.getvalue()
