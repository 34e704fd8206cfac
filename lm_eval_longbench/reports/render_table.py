"""Print a report as tables for a terminal."""

from __future__ import annotations

from io import StringIO

from rich.console import Console
from rich.measure import Measurement
from rich.table import Column, Table

from lm_eval_longbench.reports.published import Leaderboard
from lm_eval_longbench.reports.report import BenchmarkReport, Report
from lm_eval_longbench.reports.texts import (
    board_title,
    entry_note,
    entry_texts,
    headers,
    rank_text,
    row_texts,
    sections,
    source_texts,
)

# Wide enough for any table where nobody says how wide lines may be.
_UNLIMITED = 100_000


def _header(label: str, holds: str) -> str:
    return f"{label.replace(' less ', chr(10) + 'less ')}\n{holds}"


def _figures(report: BenchmarkReport, chosen: range) -> Table:
    """Lay out some of the columns."""
    heads = headers(report)
    table = Table(
        Column("figure", overflow="fold"),
        *(Column(_header(*heads[number]), overflow="fold") for number in chosen),
        title=report.title,
        title_justify="left",
    )
    for title, rows in sections(report):
        table.add_section()
        if title:
            table.add_row(title)
        for row in rows:
            texts = row_texts(row)
            name = f"  {row.name}" if title else row.name
            table.add_row(name, *(texts[number] for number in chosen))
    return table


def _blocks(report: BenchmarkReport, console: Console) -> list[Table]:
    """Return one table, or several of as many columns as fit beside each other."""
    total, blocks, start = len(headers(report)), [], 0
    unlimited = console.options.update(width=_UNLIMITED)
    while start < total:
        end = total
        while end > start + 1:
            table = _figures(report, range(start, end))
            if Measurement.get(console, unlimited, table).maximum <= console.width:
                break
            end -= 1
        blocks.append(_figures(report, range(start, end)))
        start = end
    return blocks


def _board(board: Leaderboard, report: BenchmarkReport) -> Table:
    unit = report.rows[0].unit
    table = Table(
        Column("model", overflow="fold"),
        *(Column(name, justify="right", overflow="fold") for _, name in board.places),
        Column("note", overflow="fold"),
        title=board_title(board, report.title),
        title_justify="left",
    )
    for entry in board.entries:
        table.add_row(entry.name, *entry_texts(board, entry, unit), entry_note(board, entry))
    return table


def table_text(report: Report, width: int | None = None) -> str:
    """Return the report as plain text.

    Args:
        report: what to print.
        width: longest line; tables of many runs are split into blocks of columns. None: no limit.
    """
    out = StringIO()
    console = Console(
        file=out,
        width=width or _UNLIMITED,
        color_system=None,
        force_terminal=False,
        markup=False,
        highlight=False,
        emoji=False,
    )
    for benchmark in report.benchmarks:
        for block in _blocks(benchmark, console):
            console.print(block)
        for note in benchmark.notes:
            console.print(note)
        for board in benchmark.leaderboards:
            if board.reason:
                console.print(f"No rank: {board.reason}.")
                continue
            console.print(_board(board, benchmark))
            for line in source_texts(board):
                console.print(line)
            for rank in board.ranks:
                console.print(rank_text(rank, board))
        console.print()
    for line in (*(f"Remark: {text}" for text in report.remarks), *report.method):
        console.print(line)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())
