"""Print a report as one CSV table: a line a figure, some columns a run."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from typing import Any

from lm_eval_longbench.answers.answer import NOT_KNOWN
from lm_eval_longbench.figures.figure import RELATIVE, Unit
from lm_eval_longbench.reports.published import PublishedRow
from lm_eval_longbench.reports.report import BenchmarkReport, Cell, Report, ReportRow

_FIRST = ("benchmark", "section", "figure", "unit")


# What table programs take for a formula, where it is no number.
_FORMULA = re.compile(r"[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")


def _plain(cell: Any) -> Any:
    """Return a cell that no table program runs: a text after an apostrophe."""
    text = isinstance(cell, str) and _FORMULA.match(cell) and not _NUMBER.fullmatch(cell)
    return f"'{cell}" if text else cell


def csv_of(lines: Sequence[Mapping[str, Any]], first: Sequence[str] = ()) -> str:
    """Return lines as CSV, under the names of all their cells or, without lines, the first ones."""
    names = list(dict.fromkeys(name for line in lines for name in line)) or list(first)
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(_plain, names))
    writer.writerows([_plain(line.get(name, "")) for name in names] for line in lines)
    return out.getvalue()


def _number(value: float | None, unit: Unit) -> str:
    return "" if value is None else unit.shown(value).removeprefix("+")


def _method(figure: Cell) -> str:
    """Return how an interval was made, or why there is none."""
    if figure.method == "none":
        return f"none: {figure.reason}" if figure.reason else "none"
    return figure.method if figure.documents is None else f"{figure.method} over documents"


def _figure_cells(report: BenchmarkReport, row: ReportRow) -> Iterator[tuple[str, str | int]]:
    for column, figure in zip(report.columns, row.figures, strict=True):
        cells: tuple[str | int, ...] = ("",) * 7
        if figure is not None:
            cells = (
                figure.shown(row.unit).lstrip("+") if figure.value is not None else "",
                _number(figure.low, row.unit),
                _number(figure.high, row.unit),
                figure.n,
                figure.failed,
                figure.unscored,
                _method(figure),
            )
        names = ("", ": low", ": high", ": n", ": failed", ": unscored", ": interval")
        yield from ((column.label + name, cell) for name, cell in zip(names, cells, strict=True))


def _difference_cells(report: BenchmarkReport, row: ReportRow) -> Iterator[tuple[str, str | int]]:
    for pair, difference in zip(report.pairs, row.differences, strict=True):
        cells: tuple[str | int, ...] = ("",) * 5
        if difference is not None:
            ends = (difference.value, difference.low, difference.high)
            p_value = "" if difference.p_value is None else f"{difference.p_value:.4f}"
            cells = (*(_number(value, row.unit) for value in ends), p_value, difference.n)
        names = ("", ": low", ": high", ": p", ": n")
        yield from ((pair.label + name, cell) for name, cell in zip(names, cells, strict=True))


def _published(report: BenchmarkReport) -> list[PublishedRow]:
    """Return the published rows of all leaderboards, each once, in their order."""
    rows = (entry.published for board in report.leaderboards for entry in board.entries)
    return list({id(row): row for row in rows if row is not None}.values())


def _published_cells(report: BenchmarkReport, row: ReportRow) -> Iterator[tuple[str, str]]:
    for published in _published(report):
        place = (row.section, row.name)
        mode = f" ({published.mode})" if published.mode else ""
        value = published.values.get(place)
        text = ""
        if value is not None and row.unit.name == "share":
            text = f"{100 * value:.2f}"
        elif value is not None:
            text = f"{value:.{published.decimals[place]}f}"
        yield f"published: {published.model}{mode}", text


def _rank_lines(report: BenchmarkReport) -> Iterator[dict[str, str | int]]:
    for board in report.leaderboards:
        for rank in board.ranks:
            yield {
                "benchmark": report.benchmark,
                "section": f"rank among published{f' ({rank.mode})' if rank.mode else ''}",
                "figure": rank.place[1],
                "unit": "rank",
                rank.column: "" if rank.rank is None else rank.rank,
                f"{rank.column}: n": rank.of,
            }


def _ended_lines(report: BenchmarkReport) -> Iterator[dict[str, str | int]]:
    """Yield how many answers ended at the budget, with the warning, and failures by reason.

    Reasons only where one is known.
    """
    labels = [column.label for column in report.columns]
    tables = [column.table for column in report.columns]
    rows: dict[tuple[str, str, str], list[str | int]] = {
        ("budget", "answers that ended at it", "answers"): [
            "" if (capped := table.facts.counts.get("capped")) is None else capped
            for table in tables
        ],
        ("budget", "warning", "text"): [table.capped_warning for table in tables],
    }
    reasons = dict.fromkeys(reason for table in tables for reason in table.answers.failures)
    for reason in reasons if reasons.keys() - {NOT_KNOWN} else ():
        numbers = [table.answers.failures.get(reason, "") for table in tables]
        rows["failed", reason, "answers"] = numbers
    for first, cells in rows.items():
        if any(cell != "" for cell in cells):
            names = dict(zip(_FIRST, (report.benchmark, *first), strict=True))
            yield {**names, **dict(zip(labels, cells, strict=True))}


def _reasoning_lines(report: BenchmarkReport) -> Iterator[dict[str, str | int]]:
    """Yield how many answers hold reasoning, and the policy of the figures, where any does."""
    holding = [column for column in report.columns if column.table.otherwise is not None]
    for key, figure in (("answers", "answers that hold reasoning"), ("policy", "policy")):
        if holding:
            yield {
                **dict(zip(_FIRST, (report.benchmark, "reasoning", figure, key), strict=True)),
                **{column.label: column.table.facts.reasoning[key] for column in holding},
            }


def _lines(report: Report) -> Iterator[dict[str, str | int]]:
    for benchmark in report.benchmarks:
        for row in benchmark.rows:
            unit = "relative percent" if row.unit is RELATIVE else "percent"
            first = (benchmark.benchmark, row.section, row.name, unit)
            yield {
                **dict(zip(_FIRST, first, strict=True)),
                **dict(_figure_cells(benchmark, row)),
                **dict(_difference_cells(benchmark, row)),
                **dict(_published_cells(benchmark, row)),
            }
        yield from _ended_lines(benchmark)
        yield from _reasoning_lines(benchmark)
        yield from _rank_lines(benchmark)


def csv_text(report: Report) -> str:
    """Return the report as CSV, numbers rounded as in the tables; an empty cell is no figure."""
    lines = list(_lines(report))
    return csv_of(lines, _FIRST)
