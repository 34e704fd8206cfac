"""Print a report as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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


def _escaped(text: str) -> str:
    for character in "\\|*_`<>":
        text = text.replace(character, f"\\{character}")
    return " ".join(text.split())


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _figures(report: BenchmarkReport) -> Iterator[str]:
    heads = [f"{_escaped(label)}<br>{what}" for label, what in headers(report)]
    yield _line(["figure", *heads])
    yield _line(["---", *["---:"] * len(heads)])
    for title, rows in sections(report):
        if title:
            yield _line([f"**{_escaped(title)}**", *[""] * len(heads)])
        for row in rows:
            yield _line([_escaped(row.name), *row_texts(row)])


def _board(board: Leaderboard, report: BenchmarkReport) -> Iterator[str]:
    unit = report.rows[0].unit
    yield f"### {board_title(board, report.title)}"
    yield ""
    yield _line(["model", *(name for _, name in board.places), "note"])
    yield _line(["---", *["---:"] * len(board.places), "---"])
    for entry in board.entries:
        name, note = _escaped(entry.name), _escaped(entry_note(board, entry))
        name = f"**{name}**" if entry.published is None else name
        yield _line([name, *entry_texts(board, entry, unit), note])
    yield ""
    yield from (f"- {_escaped(text)}" for text in source_texts(board))
    yield from (f"- {_escaped(rank_text(rank, board))}" for rank in board.ranks)


def _lines(report: Report) -> Iterator[str]:
    for benchmark in report.benchmarks:
        yield f"## {benchmark.title}"
        yield ""
        yield from _figures(benchmark)
        yield ""
        yield from (f"- {_escaped(note)}" for note in benchmark.notes)
        yield ""
        for board in benchmark.leaderboards:
            if board.reason:
                yield f"No rank: {_escaped(board.reason)}."
            else:
                yield from _board(board, benchmark)
            yield ""
    yield from (f"- Remark: {_escaped(text)}" for text in report.remarks)
    yield from (f"- {_escaped(text)}" for text in report.method)


def markdown_text(report: Report) -> str:
    """Return the report as Markdown: a table a benchmark, its notes, the published rows."""
    return "".join(f"{line}\n" for line in _lines(report))
