"""The formats of a report: a table for a terminal and Markdown, with what they share.

CSV and JSON have modules of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import StringIO
from itertools import groupby
from typing import Protocol, TypeVar

from rich.console import Console
from rich.measure import Measurement
from rich.table import Column, Table

from lm_eval_longbench.errors import UnknownNameError
from lm_eval_longbench.figures.figure import Unit
from lm_eval_longbench.figures.intervals import FEWEST
from lm_eval_longbench.figures.tree import FEW_DIFFER, Difference
from lm_eval_longbench.language import said, told
from lm_eval_longbench.reports.published import Entry, Leaderboard, Rank
from lm_eval_longbench.reports.render_csv import csv_text
from lm_eval_longbench.reports.render_json import json_text
from lm_eval_longbench.reports.report import BenchmarkReport, Cell, Report, ReportRow

FIGURE_HEADER = "value [95%] n/failed/unscored"
# In place of an interval, where few questions differ.
FEW = "few differ"
DIFFERENCE_HEADER = "difference [95%] p n"


def interval_mark(reason: str) -> str:
    """Return what stands in place of an interval, such as " [n<20]"; "" for another reason."""
    if reason == FEW_DIFFER:
        return f" [{FEW}]"
    if not reason.startswith("fewer"):
        return ""
    return f" [{'documents' if reason.endswith('documents') else 'n'}<{FEWEST}]"


def figure_text(figure: Cell | None, unit: Unit) -> str:
    """Return one cell, such as "41.23 [38.10, 44.30] 200/0/0"; empty for no figure.

    "41.23 [n<20] 5/0/0": too few questions for an interval.
    """
    if figure is None:
        return ""
    ends = interval_mark(figure.reason)
    if figure.low is not None:
        ends = f" [{unit.shown(figure.low)}, {unit.shown(figure.high)}]"
    return f"{figure.shown(unit)}{ends} {figure.n}/{figure.failed}/{figure.unscored}"


def p_text(p_value: float) -> str:
    """Return a p-value in print."""
    return "p<0.001" if p_value < 0.0005 else f"p={p_value:.3f}"


def difference_text(difference: Difference | None, unit: Unit) -> str:
    """Return one cell, such as "+1.20 [-0.30, +2.70] p=0.120 n=503"; empty for no difference.

    "+1.20 [n<20] n=5", "+1.20 [few differ] n=200": too few questions, or too few that differ, for
    an interval and a p-value.
    """
    if difference is None:
        return ""
    text = unit.shown(difference.value, signed=True) + interval_mark(difference.reason)
    if difference.low is not None and difference.p_value is not None:
        low, high = (unit.shown(end, signed=True) for end in (difference.low, difference.high))
        text += f" [{low}, {high}] {p_text(difference.p_value)}"
    return f"{text} n={difference.n}"


class _Placed(Protocol):
    @property
    def section(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def detail(self) -> bool: ...


_Row = TypeVar("_Row", bound=_Placed)


def sections(all_rows: Iterable[_Row]) -> Iterator[tuple[str, list[_Row]]]:
    """Yield the shown rows by section; the title is "" where it would only repeat its one row."""
    shown = (row for row in all_rows if not row.detail)
    for section, group in groupby(shown, key=lambda row: row.section):
        rows = list(group)
        yield "" if [row.name for row in rows] == [section] else section, rows


def row_texts(row: ReportRow) -> list[str]:
    """Return the cells of a row: one a column, then one a pair."""
    figures = [figure_text(figure, row.unit) for figure in row.figures]
    return figures + [difference_text(difference, row.unit) for difference in row.differences]


def headers(report: BenchmarkReport) -> list[tuple[str, str]]:
    """Return what stands above the cells of a row: a label, and what its cells hold."""
    columns = [(column.label, said(FIGURE_HEADER)) for column in report.columns]
    return columns + [
        (told(pair.label), said("none" if pair.reason else DIFFERENCE_HEADER))
        for pair in report.pairs
    ]


def entry_texts(board: Leaderboard, entry: Entry, unit: Unit) -> list[str]:
    """Return the figures of a line of a leaderboard, with the digits that were published."""
    texts = []
    for place, value in zip(board.places, entry.values, strict=True):
        if value is None:
            texts.append("-")
        elif entry.published is None or unit.name == "share":
            texts.append(f"{value * unit.shown_factor / unit.factor:.{unit.decimals}f}")
        else:
            texts.append(f"{value:.{entry.published.decimals[place]}f}")
    return texts


def entry_note(board: Leaderboard, entry: Entry) -> str:
    """Return what sets a line of a leaderboard apart; "" for a published row that counts."""
    if entry.published is None:
        ranked = any(rank.column == entry.name and rank.rank for rank in board.ranks)
        return told("this report" if ranked else "this report, not ranked")
    if entry.published.caveat:
        return told(f"not ranked: {entry.published.caveat}")
    return told("not ranked: mode not stated") if entry.published.mode != board.mode else ""


def source_texts(board: Leaderboard) -> list[str]:
    """Return where the published rows are from; one line a source, with its models if several."""
    models: dict[str, list[str]] = {}
    for entry in board.entries:
        if entry.published is not None:
            models.setdefault(entry.published.source, []).append(entry.name)
    if len(models) == 1:
        return [told(f"Source: {next(iter(models))}.")]
    return [told(f"Source of {', '.join(names)}: {source}.") for source, names in models.items()]


def board_title(board: Leaderboard, title: str) -> str:
    """Return the heading of a leaderboard."""
    return told(f"Published for {title}{f', {board.mode}' if board.mode else ''}")


def rank_text(rank: Rank, board: Leaderboard) -> str:
    """Return the sentence about one rank."""
    among = f" among {rank.mode} figures" if rank.mode else ""
    start = f"{rank.column}, {rank.place[1]}{among}: "
    if rank.rank is None:
        return told(f"{start}no rank, because {rank.reason}.")
    ties = f", tied with {', '.join(rank.ties)}" if rank.ties else ""
    only_if = " (counts if the model was thinking)" if rank.mode != board.mode else ""
    unknown = f" ({rank.unknown})" if rank.unknown else ""
    return told(f"{start}rank {rank.rank} of {rank.of}{ties}{only_if}{unknown}.")


def escaped_markdown(text: str) -> str:
    """Return a text as Markdown shows it."""
    for character in "\\|*_`<>":
        text = text.replace(character, f"\\{character}")
    return " ".join(text.replace("](", "\\](").split())  # no link


def markdown_line(cells: Sequence[str]) -> str:
    """Return a line of a table in Markdown."""
    return f"| {' | '.join(cells)} |"


def _markdown_figures(report: BenchmarkReport) -> Iterator[str]:
    heads = [f"{escaped_markdown(label)}<br>{what}" for label, what in headers(report)]
    yield markdown_line([said("figure"), *heads])
    yield markdown_line(["---", *["---:"] * len(heads)])
    for title, rows in sections(report.rows):
        if title:
            yield markdown_line([f"**{escaped_markdown(title)}**", *[""] * len(heads)])
        for row in rows:
            yield markdown_line([escaped_markdown(row.name), *row_texts(row)])


def _markdown_board(board: Leaderboard, report: BenchmarkReport) -> Iterator[str]:
    unit = report.rows[0].unit
    yield f"### {board_title(board, report.title)}"
    yield ""
    yield markdown_line([said("model"), *(name for _, name in board.places), said("note")])
    yield markdown_line(["---", *["---:"] * len(board.places), "---"])
    for entry in board.entries:
        name, note = escaped_markdown(entry.name), escaped_markdown(entry_note(board, entry))
        name = f"**{name}**" if entry.published is None else name
        yield markdown_line([name, *entry_texts(board, entry, unit), note])
    yield ""
    yield from (f"- {escaped_markdown(text)}" for text in source_texts(board))
    yield from (f"- {escaped_markdown(rank_text(rank, board))}" for rank in board.ranks)


def _markdown_lines(report: Report) -> Iterator[str]:
    for benchmark in report.benchmarks:
        yield f"## {benchmark.title}"
        yield ""
        yield from _markdown_figures(benchmark)
        yield ""
        yield from (f"- {escaped_markdown(told(note))}" for note in benchmark.notes)
        yield ""
        for board in benchmark.leaderboards:
            if board.reason:
                yield escaped_markdown(told(f"No rank: {board.reason}."))
            else:
                yield from _markdown_board(board, benchmark)
            yield ""
    for text in (*(f"Remark: {own}" for own in report.remarks), *report.method):
        yield f"- {escaped_markdown(told(text))}"


def markdown_text(report: Report) -> str:
    """Return the report as Markdown: a table a benchmark, its notes, the published rows."""
    return "".join(f"{line}\n" for line in _markdown_lines(report))


# Wide enough for any table where nobody says how wide lines may be.
_UNLIMITED = 100_000


def _header(label: str, holds: str) -> str:
    return f"{label.replace(' less ', chr(10) + 'less ')}\n{holds}"


def _table_figures(report: BenchmarkReport, chosen: range) -> Table:
    """Lay out some of the columns."""
    heads = headers(report)
    table = Table(
        Column(said("figure"), overflow="fold"),
        *(Column(_header(*heads[number]), overflow="fold") for number in chosen),
        title=report.title,
        title_justify="left",
    )
    for title, rows in sections(report.rows):
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
            table = _table_figures(report, range(start, end))
            if Measurement.get(console, unlimited, table).maximum <= console.width:
                break
            end -= 1
        blocks.append(_table_figures(report, range(start, end)))
        start = end
    return blocks


def _table_board(board: Leaderboard, report: BenchmarkReport) -> Table:
    unit = report.rows[0].unit
    table = Table(
        Column(said("model"), overflow="fold"),
        *(Column(name, justify="right", overflow="fold") for _, name in board.places),
        Column(said("note"), overflow="fold"),
        title=board_title(board, report.title),
        title_justify="left",
    )
    for entry in board.entries:
        table.add_row(entry.name, *entry_texts(board, entry, unit), entry_note(board, entry))
    return table


def console_in_memory(width: int | None) -> Console:
    """Return a console that keeps what is printed on it; `width`: of lines, None: no limit."""
    return Console(
        file=StringIO(),
        width=width or _UNLIMITED,
        color_system=None,
        force_terminal=False,
        markup=False,
        highlight=False,
        emoji=False,
    )


def text_of(console: Console) -> str:
    """Return what was printed on a console in memory, without spaces at the ends of lines."""
    assert isinstance(console.file, StringIO)
    return "".join(f"{line.rstrip()}\n" for line in console.file.getvalue().splitlines())


def table_text(report: Report, width: int | None = None) -> str:
    """Return the report as plain text.

    Args:
        report: what to print.
        width: longest line; tables of many runs are split into blocks of columns. None: no limit.
    """
    console = console_in_memory(width)
    for benchmark in report.benchmarks:
        for block in _blocks(benchmark, console):
            console.print(block)
        for note in benchmark.notes:
            console.print(told(note))
        for board in benchmark.leaderboards:
            if board.reason:
                console.print(told(f"No rank: {board.reason}."))
                continue
            console.print(_table_board(board, benchmark))
            for line in source_texts(board):
                console.print(line)
            for rank in board.ranks:
                console.print(rank_text(rank, board))
        console.print()
    for line in (*(f"Remark: {text}" for text in report.remarks), *report.method):
        console.print(told(line))
    return text_of(console)


TABLE = "table"
_OTHERS: Mapping[str, Callable[[Report], str]] = {
    "markdown": markdown_text,
    "csv": csv_text,
    "json": json_text,
}
FORMATS = (TABLE, *_OTHERS)


def check_format(name: str) -> str:
    """Return a format's name; UnknownNameError if there is none such."""
    if name not in FORMATS:
        raise UnknownNameError("format", name, FORMATS)
    return name


def render(report: Report, name: str, width: int | None = None) -> str:
    """Return a report in a format.

    Args:
        report: what to print.
        name: one of FORMATS.
        width: longest line of tables; None: no limit.

    Raises:
        UnknownNameError: there is no such format.
    """
    return table_text(report, width) if check_format(name) == TABLE else _OTHERS[name](report)
