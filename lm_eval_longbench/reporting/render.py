"""What is printed of a report: its figures once, as tables, lines of CSV and the value of JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from lm_eval_longbench.benchmarks.registry import benchmarks
from lm_eval_longbench.language import listed, said, sentence, told
from lm_eval_longbench.reporting.formats import CellParts, Printed, TextTable, write
from lm_eval_longbench.reporting.notes import Column, warning_of
from lm_eval_longbench.reporting.published import Entry, Leaderboard, PublishedRow, Rank
from lm_eval_longbench.reporting.report import BenchmarkReport, Cell, Report, ReportRow
from lm_eval_longbench.statistics.figure import RELATIVE, Place, Unit
from lm_eval_longbench.statistics.intervals import FEWEST, LEVEL, RESAMPLES, SEED
from lm_eval_longbench.statistics.tree import FEW_DIFFER, Difference

# ---------------------------------------------------------------------- cells

NOTHING: CellParts = ("",)
# A retained share, which is a ratio, as a percentage.
PERCENT = Unit("ratio", 1, 100, 2)


def _unit(report: BenchmarkReport, row: ReportRow) -> Unit:
    """Return how the differences of a row are given."""
    return PERCENT if report.are_shares else row.unit


def _parts(
    number: str, own: Cell | Difference, unit: Unit, rest: str, *, signed: bool = False
) -> CellParts:
    """Return number, "[low, high]" or what stands in its place, such as "[n<20]", and the rest."""
    ends = ""
    if own.low is not None:
        ends = f"[{', '.join(unit.shown(end, signed=signed) for end in (own.low, own.high))}]"
    elif own.reason == FEW_DIFFER:
        ends = "[few differ]"
    elif own.reason.startswith("fewer"):
        ends = f"[{'documents' if own.reason.endswith('documents') else 'n'}<{FEWEST}]"
    return number, ends, rest


def figure_parts(figure: Cell | None, unit: Unit) -> CellParts:
    """Return a cell, such as "41.23 [38.10, 44.30] 200/0/0" or "41.23 [n<20] 5/0/0"."""
    if figure is None:
        return NOTHING
    counts = f"{figure.n}/{figure.failed}/{figure.unscored}"
    return _parts(figure.shown(unit), figure, unit, counts)


def difference_parts(own: Difference | None, unit: Unit) -> CellParts:
    """Return a cell, such as "+1.20 [-0.30, +2.70] p=0.120 n=503" or "+1.20 [few differ] n=9"."""
    if own is None:
        return NOTHING
    signed = unit is not PERCENT
    rest = f"n={own.n}"
    if own.p_value is not None:
        rest = f"{'p<0.001' if own.p_value < 0.0005 else f'p={own.p_value:.3f}'} {rest}"
    return _parts(unit.shown(own.value, signed=signed), own, unit, rest, signed=signed)


# ---------------------------------------------------------------------- what people see


def sections(all_rows: Iterable[ReportRow]) -> Iterator[tuple[str, list[ReportRow]]]:
    """Yield the shown rows by section; the title is "" where it would only repeat its one row."""
    shown = (row for row in all_rows if not row.detail)
    for section, group in groupby(shown, key=lambda row: row.section):
        rows = list(group)
        yield "" if [row.name for row in rows] == [section] else section, rows


def _figures_table(report: BenchmarkReport) -> TextTable:
    """Return the table of a benchmark: a column a run, then one a pair."""

    def cells(row: ReportRow) -> list[CellParts]:
        own = [figure_parts(figure, row.unit) for figure in row.figures]
        return own + [difference_parts(one, _unit(report, row)) for one in row.differences]

    compared = "retained % [95%] p n" if report.are_shares else "difference [95%] p n"
    holds = [said("value [95%] n/failed/unscored")] * len(report.columns)
    holds += [said("none" if pair.reason else compared) for pair in report.pairs]
    return TextTable(
        report.title,
        ((said("figure"), ""), *zip(map(told, report.labels), holds, strict=True)),
        [(title, [(row.name, cells(row)) for row in own]) for title, own in sections(report.rows)],
        tuple(map(told, report.notes)),
        ("", *report.labels),
        f"{report.title}. {benchmarks()[report.benchmark].unit_note}",
    )


def _board_number(value: float | None, row: PublishedRow | None, place: Place, unit: Unit) -> str:
    """Return a figure of a leaderboard with the digits that were published; "-" for none."""
    if value is None:
        return "-"
    if row is None or unit.name == "share":
        return f"{value * unit.shown_factor / unit.factor:.{unit.decimals}f}"
    return f"{value:.{row.decimals[place]}f}"


def _entry_note(board: Leaderboard, entry: Entry) -> str:
    """Return what sets a line of a leaderboard apart; "" for a published row that counts."""
    if entry.published is None:
        ranked = any(rank.column == entry.name and rank.rank for rank in board.ranks)
        return said("this report" if ranked else "this report, not ranked")
    if entry.published.caveat:
        return said("not ranked: {}", entry.published.caveat)
    return said("not ranked: mode not stated") if entry.published.mode != board.mode else ""


def _source_texts(board: Leaderboard) -> list[str]:
    """Return where the published rows are from; one line a source, with its models if several."""
    models: dict[str, list[str]] = {}
    for entry in board.entries:
        if entry.published is not None:
            models.setdefault(entry.published.source, []).append(entry.name)
    if len(models) == 1:
        return [said("Source: {}.", *models)]
    return [said("Source of {}: {}.", ", ".join(names), own) for own, names in models.items()]


def rank_text(rank: Rank, board: Leaderboard) -> str:
    """Return the sentence about one rank."""
    start = f"{rank.column}, {rank.figure[1]}"
    if rank.mode:
        start = sentence("{} among {} figures", start, rank.mode)
    if rank.rank is None:
        return said("{}: no rank, because {}.", start, rank.reason)
    more = [sentence(", tied with {}", ", ".join(rank.ties))] if rank.ties else []
    if rank.mode != board.mode:
        more.append(sentence(" (counts if the model was thinking)"))
    more += [sentence(" ({})", rank.unknown)] if rank.unknown else []
    return said("{}: rank {} of {}{}.", start, rank.rank, rank.of, listed(more, "", ""))


def _board_table(board: Leaderboard, report: BenchmarkReport) -> TextTable:
    if board.reason:
        return TextTable("", (), (), (said("No rank: {}.", board.reason),))
    unit, title = benchmarks()[report.benchmark].unit, report.title
    paper = (name if at in (name, title) else f"{at}: {name}" for at, name in board.places)
    title += f", {board.mode}" if board.mode else ""
    rows = []
    for own in board.entries:
        each = zip(own.values, board.places, strict=True)
        cells = [(_board_number(value, own.published, at, unit),) for value, at in each]
        rows.append((own.name, (*cells, (_entry_note(board, own),))))
    heads = (said("model"), *(name for _, name in board.places), said("note"))
    return TextTable(
        said("Published for {}", title),
        [(head, "") for head in heads],
        [("", rows)],
        (*_source_texts(board), *(rank_text(rank, board) for rank in board.ranks)),
        ("Model", *paper),
        f"{title}: published rows and runs (bold).",  # LaTeX is English
        [own.name for own in board.entries if own.published is None],
    )


# ---------------------------------------------------------------------- lines of CSV

_FIRST = ("benchmark", "section", "figure", "unit")
# What CSV has of a figure, behind the label of its run, and of a difference.
_FIGURE = ("", "low", "high", "n", "failed", "unscored", "interval")
DIFFERENCE = ("", "low", "high", "p", "n")


def csv_cells(own: Cell | Difference | None, unit: Unit, names: Sequence[str]) -> dict[str, Any]:
    """Return a figure or a difference by the names of its columns, rounded as in tables."""
    if own is None:
        return dict.fromkeys(names, "")
    known = {"": own.value, "low": own.low, "high": own.high}
    found = {name: "" if one is None else unit.shown(one) for name, one in known.items()}
    if isinstance(own, Cell) and own.value is not None:
        found[""] = own.shown(unit)
    found = {name: text.removeprefix("+") for name, text in found.items()}
    if isinstance(own, Difference):
        found["p"] = "" if own.p_value is None else f"{own.p_value:.4f}"
    elif own.method == "none":
        found["interval"] = f"none: {own.reason}" if own.reason else "none"
    else:
        found["interval"] = own.method + (" over documents" if own.documents else "")
    return {name: found.get(name, getattr(own, name, "")) for name in names}


def _row_line(report: BenchmarkReport, row: ReportRow) -> dict[str, Any]:
    unit = "relative percent" if row.unit is RELATIVE else "percent"
    line = dict(zip(_FIRST, (report.benchmark, row.section, row.name, unit), strict=True))
    cells = [csv_cells(own, row.unit, _FIGURE) for own in row.figures]
    cells += [csv_cells(own, _unit(report, row), DIFFERENCE) for own in row.differences]
    for label, own in zip(report.labels, cells, strict=True):
        line |= {f"{label}: {name}" if name else label: cell for name, cell in own.items()}
    place = (row.section, row.name)
    for published in (entry.published for board in report.leaderboards for entry in board.entries):
        if published is not None:
            mode = f" ({published.mode})" if published.mode else ""
            text = _board_number(published.values.get(place), published, place, row.unit)
            line[f"published: {published.model}{mode}"] = "" if text == "-" else text
    return line


def _rank_lines(report: BenchmarkReport) -> Iterator[dict[str, Any]]:
    for board in report.leaderboards:
        for rank in board.ranks:
            section = f"rank among published{f' ({rank.mode})' if rank.mode else ''}"
            place = (report.benchmark, section, rank.figure[1], "rank")
            own = {rank.column: rank.rank, f"{rank.column}: n": rank.of}
            yield dict(zip(_FIRST, place, strict=True)) | own


# ---------------------------------------------------------------------- the value of JSON


def _numbers(own: Cell | Difference, unit: Unit) -> dict[str, float | None]:
    """Return number and ends of a figure or a difference, unrounded."""
    return {name: unit.scaled(getattr(own, name)) for name in ("value", "low", "high")}


def figure_json(figure: Cell | None, unit: Unit) -> dict[str, Any] | None:
    """Return a figure with its interval; None for none."""
    if figure is None:
        return None
    interval = {"interval": figure.method, "reason": figure.reason or None}
    names = ("n", "documents", "failed", "unscored", "official")
    return {**_numbers(figure, unit), **interval, **{own: getattr(figure, own) for own in names}}


def difference_json(own: Difference | None, unit: Unit) -> dict[str, Any] | None:
    """Return a difference with its interval; None for none."""
    if own is None:
        return None
    rest = {"p_value": own.p_value, "reason": own.reason or None, "n": own.n}
    return {**_numbers(own, unit), **rest}


def _column_json(column: Column) -> dict[str, Any]:
    facts, warning = column.table.facts, warning_of(column.table)
    held = {key: facts.reasoning.get(key) for key in ("policy", "answers")}
    return {
        "label": column.label,
        "run": column.run.name,
        "table": column.table.info.name,
        **{name: getattr(facts, name) for name in _OF_COLUMN},
        "failures": column.table.answers.failures,
        "warnings": [warning] if warning else [],
        "problems": column.run.problems,
        **({} if column.table.otherwise is None else {"reasoning": held}),
    }


_OF_COLUMN = ("repeats", "data", "embedding_model", "counts")


def _entry_json(entry: Entry) -> dict[str, Any]:
    row = entry.published
    line = {"published": row is not None, "name": entry.name, "values": entry.values}
    if row is not None:
        line |= {"mode": row.mode, "source": row.source, "caveat": row.caveat}
        line["figures"] = [[*place, value] for place, value in row.values.items()]
    return line


def _board_json(board: Leaderboard) -> dict[str, Any]:
    return {
        "table": board.table,
        "mode": board.mode,
        "reason": board.reason or None,
        "figures": board.places,
        "entries": [_entry_json(entry) for entry in board.entries],
        "ranks": [
            {**vars(rank), "reason": rank.reason or None, "unknown": rank.unknown or None}
            for rank in board.ranks
        ],
    }


def _row_json(report: BenchmarkReport, row: ReportRow) -> dict[str, Any]:
    return {
        "section": row.section,
        "name": row.name,
        "unit": row.unit.name,
        "figures": [figure_json(own, row.unit) for own in row.figures],
        "differences": [difference_json(own, _unit(report, row)) for own in row.differences],
    }


def _benchmark_json(report: BenchmarkReport) -> dict[str, Any]:
    return {
        "benchmark": report.benchmark,
        "title": report.title,
        "columns": [_column_json(column) for column in report.columns],
        "pairs": [{**vars(pair), "reason": pair.reason or None} for pair in report.pairs],
        "figures": [_row_json(report, row) for row in report.rows],
        "notes": report.notes,
        "published": [_board_json(board) for board in report.leaderboards],
    }


# ---------------------------------------------------------------------- all of it


def printed(report: Report) -> Printed:
    """Return what is printed of a report.

    Values of JSON are unrounded, in the benchmark's own unit ("unit": percent of v1, E and v2,
    share of Pro; relative figures are x/y - 1). `pairs` number the columns from 0.
    """
    shown, lines = [], []
    for own in report.benchmarks:
        shown += [_figures_table(own), *(_board_table(board, own) for board in own.leaderboards)]
        lines += [*(_row_line(own, row) for row in own.rows), *_rank_lines(own)]
    fixed = {"level": LEVEL, "resamples": RESAMPLES, "seed": SEED, "fewest": FEWEST}
    value = {
        "method": {**fixed, "text": report.method},
        "remarks": report.remarks,
        "benchmarks": [_benchmark_json(own) for own in report.benchmarks],
    }
    closing = [*(said("Remark: {}", text) for text in report.remarks), *map(told, report.method)]
    return Printed(shown, closing, lines, _FIRST, value)


def render(report: Report, name: str, width: int | None = None) -> str:
    """Return a report in one of FORMATS, see `formats.write`."""
    return write(printed(report), name, width)
