"""What the printed formats have in common: the texts of cells, headers and ranks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from lm_eval_longbench.figures.figure import Unit
from lm_eval_longbench.figures.intervals import FEWEST
from lm_eval_longbench.figures.tree import Difference
from lm_eval_longbench.reports.published import Entry, Leaderboard, Rank
from lm_eval_longbench.reports.report import BenchmarkReport, Cell, Row

FIGURE_HEADER = "value [95%] n/failed/unscored"
DIFFERENCE_HEADER = "difference [95%] p n"


def _mark(reason: str) -> str:
    """Return what stands in place of an interval, such as " [n<20]"; "" for another reason."""
    if not reason.startswith("fewer"):
        return ""
    return f" [{'documents' if reason.endswith('documents') else 'n'}<{FEWEST}]"


def figure_text(figure: Cell | None, unit: Unit) -> str:
    """Return one cell, such as "41.23 [38.10, 44.30] 200/0/0"; empty for no figure.

    "41.23 [n<20] 5/0/0": too few questions for an interval.
    """
    if figure is None:
        return ""
    ends = _mark(figure.reason)
    if figure.low is not None:
        ends = f" [{unit.shown(figure.low)}, {unit.shown(figure.high)}]"
    return f"{figure.shown(unit)}{ends} {figure.n}/{figure.failed}/{figure.unscored}"


def difference_text(difference: Difference | None, unit: Unit) -> str:
    """Return one cell, such as "+1.20 [-0.30, +2.70] p=0.120 n=503"; empty for no difference.

    "+1.20 [n<20] n=5": too few questions for an interval and a p-value.
    """
    if difference is None:
        return ""
    text = unit.shown(difference.value, signed=True) + _mark(difference.reason)
    if difference.low is not None:
        low, high = (unit.shown(end, signed=True) for end in (difference.low, difference.high))
        p_value = difference.p_value
        sure = p_value is not None and p_value < 0.0005
        text += f" [{low}, {high}] " + ("p<0.001" if sure else f"p={p_value:.3f}")
    return f"{text} n={difference.n}"


def sections(report: BenchmarkReport) -> Iterator[tuple[str, list[Row]]]:
    """Yield the shown rows by section; the title is "" where it would only repeat its one row."""
    shown = (row for row in report.rows if not row.detail)
    for section, group in groupby(shown, key=lambda row: row.section):
        rows = list(group)
        yield "" if [row.name for row in rows] == [section] else section, rows


def row_texts(row: Row) -> list[str]:
    """Return the cells of a row: one a column, then one a pair."""
    figures = [figure_text(figure, row.unit) for figure in row.figures]
    return figures + [difference_text(difference, row.unit) for difference in row.differences]


def headers(report: BenchmarkReport) -> list[tuple[str, str]]:
    """Return what stands above the cells of a row: a label, and what its cells hold."""
    columns = [(column.label, FIGURE_HEADER) for column in report.columns]
    return columns + [
        (pair.label, "none" if pair.reason else DIFFERENCE_HEADER) for pair in report.pairs
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
        return "this report" if ranked else "this report, not ranked"
    if entry.published.caveat:
        return f"not ranked: {entry.published.caveat}"
    return "not ranked: mode not stated" if entry.published.mode != board.mode else ""


def source_texts(board: Leaderboard) -> list[str]:
    """Return where the published rows are from; one line a source, with its models if several."""
    models: dict[str, list[str]] = {}
    for entry in board.entries:
        if entry.published is not None:
            models.setdefault(entry.published.source, []).append(entry.name)
    if len(models) == 1:
        return [f"Source: {next(iter(models))}."]
    return [f"Source of {', '.join(names)}: {source}." for source, names in models.items()]


def board_title(board: Leaderboard, title: str) -> str:
    """Return the heading of a leaderboard."""
    return f"Published for {title}{f', {board.mode}' if board.mode else ''}"


def rank_text(rank: Rank, board: Leaderboard) -> str:
    """Return the sentence about one rank."""
    among = f" among {rank.mode} figures" if rank.mode else ""
    start = f"{rank.column}, {rank.place[1]}{among}: "
    if rank.rank is None:
        return f"{start}no rank, because {rank.reason}."
    ties = f", tied with {', '.join(rank.ties)}" if rank.ties else ""
    only_if = " (counts if the model was thinking)" if rank.mode != board.mode else ""
    unknown = f" ({rank.unknown})" if rank.unknown else ""
    return f"{start}rank {rank.rank} of {rank.of}{ties}{only_if}{unknown}."
