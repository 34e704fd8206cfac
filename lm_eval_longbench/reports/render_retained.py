"""The formats of a report on what runs keep of a baseline."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from io import StringIO
from typing import Any

from rich.table import Column
from rich.table import Table as RichTable

from lm_eval_longbench.figures.figure import Unit
from lm_eval_longbench.figures.intervals import LEVEL
from lm_eval_longbench.reports.render import (
    TABLE,
    check_format,
    console_in_memory,
    escaped_markdown,
    interval_mark,
    markdown_line,
    p_text,
    sections,
    text_of,
)
from lm_eval_longbench.reports.retained import (
    RetainedReport,
    RetainedRow,
    RetainedShare,
    RetainedTable,
)
from lm_eval_longbench.version import __version__

# A ratio as a percentage.
PERCENT = Unit("ratio", 1, 100, 2)
_HOLDS = "retained % [95%] p n, score"


def kept_text(kept: RetainedShare, unit: Unit) -> str:
    """Return one cell, such as "97.31 [95.10, 99.52] p=0.018 n=200, 40.12"; "" for no figure."""
    if kept.score is None:
        return ""
    found, score = kept.retained, unit.shown(kept.score)
    if found is None:
        return f"-, {score}"
    text = PERCENT.shown(found.value) + interval_mark(found.reason)
    if found.low is not None and found.p_value is not None:
        ends = f"{PERCENT.shown(found.low)}, {PERCENT.shown(found.high)}"
        text += f" [{ends}] {p_text(found.p_value)}"
    return f"{text} n={found.n}, {score}"


def _heads(table: RetainedTable) -> list[tuple[str, str]]:
    return [
        (f"{table.baseline.run.name} (baseline)", "score"),
        *((label, _HOLDS) for label in table.labels),
    ]


def _cells(row: RetainedRow) -> list[str]:
    return [row.unit.shown(row.baseline), *(kept_text(kept, row.unit) for kept in row.kept)]


def _last(report: RetainedReport) -> Iterator[str]:
    yield from (f"Remark: {text}" for text in report.remarks)
    yield from report.method


def table_text(report: RetainedReport, width: int | None = None) -> str:
    """Return the report as plain text; `width`: of the longest line, None: no limit."""
    console = console_in_memory(width)
    for table in report.tables:
        heads = (Column(f"{label}\n{holds}", overflow="fold") for label, holds in _heads(table))
        made = RichTable(
            Column("figure", overflow="fold"), *heads, title=table.title, title_justify="left"
        )
        for title, rows in sections(table.rows):
            made.add_section()
            if title:
                made.add_row(title)
            for row in rows:
                made.add_row(f"  {row.name}" if title else row.name, *_cells(row))
        console.print(made)
        for note in table.notes:
            console.print(note)
        console.print()
    for line in _last(report):
        console.print(line)
    return text_of(console)


def _markdown_lines(report: RetainedReport) -> Iterator[str]:
    for table in report.tables:
        heads = [f"{escaped_markdown(label)}<br>{holds}" for label, holds in _heads(table)]
        yield f"## {table.title}"
        yield ""
        yield markdown_line(["figure", *heads])
        yield markdown_line(["---", *["---:"] * len(heads)])
        for title, rows in sections(table.rows):
            if title:
                yield markdown_line([f"**{escaped_markdown(title)}**", *[""] * len(heads)])
            for row in rows:
                yield markdown_line([escaped_markdown(row.name), *_cells(row)])
        yield ""
        yield from (f"- {escaped_markdown(note)}" for note in table.notes)
        yield ""
    yield from (f"- {escaped_markdown(text)}" for text in _last(report))


def markdown_text(report: RetainedReport) -> str:
    """Return the report as Markdown."""
    return "".join(f"{line}\n" for line in _markdown_lines(report))


def _csv_lines(report: RetainedReport) -> Iterator[dict[str, Any]]:
    """Yield a line a figure and run, so that a sweep is a column of numbers to draw."""
    for table in report.tables:
        for row in table.rows:
            for column, kept in zip(table.columns, row.kept, strict=True):
                found = kept.retained
                ends = (None, None) if found is None else (found.low, found.high)
                value = None if found is None else found.value
                p_value = None if found is None else found.p_value
                texts = ["" if one is None else PERCENT.shown(one) for one in (value, *ends)]
                yield {
                    "table": table.baseline.table.info.name,
                    "section": row.section,
                    "figure": row.name,
                    "run": column.run.name,
                    **({report.x: column.run.name} if report.x else {}),
                    "baseline": row.unit.shown(row.baseline),
                    "score": "" if kept.score is None else row.unit.shown(kept.score),
                    **dict(zip(("retained", "low", "high"), texts, strict=True)),
                    "p": "" if p_value is None else f"{p_value:.4f}",
                    "n": "" if found is None else found.n,
                    "reason": "" if found is None else found.reason,
                }


def csv_text(report: RetainedReport) -> str:
    """Return the report as CSV: a line a figure and run, shares in percent."""
    lines = list(_csv_lines(report))
    out = StringIO()
    names = list(dict.fromkeys(name for line in lines for name in line))
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return out.getvalue()


def _json_kept(kept: RetainedShare, unit: Unit) -> dict[str, Any]:
    found = kept.retained
    return {
        "score": unit.scaled(kept.score),
        "retained": None if found is None else found.value,
        "low": None if found is None else found.low,
        "high": None if found is None else found.high,
        "p_value": None if found is None else found.p_value,
        "n": None if found is None else found.n,
        "reason": (found.reason or None) if found is not None else None,
    }


def json_text(report: RetainedReport) -> str:
    """Return the report as JSON: everything, unrounded; `retained` is a ratio, 1 for all."""
    value = {
        "format": 1,
        "package": f"lm-eval-longbench {__version__}",
        "baseline": report.baseline,
        "x": {"name": report.x, "values": dict(report.numbers)} if report.x else None,
        "method": {"level": LEVEL, "text": list(report.method)},
        "remarks": list(report.remarks),
        "tables": [
            {
                "table": table.baseline.table.info.name,
                "title": table.title,
                "runs": [column.run.name for column in table.columns],
                "figures": [
                    {
                        "section": row.section,
                        "name": row.name,
                        "unit": row.unit.name,
                        "baseline": row.unit.scaled(row.baseline),
                        "runs": [_json_kept(kept, row.unit) for kept in row.kept],
                    }
                    for row in table.rows
                ],
                "notes": list(table.notes),
            }
            for table in report.tables
        ],
    }
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


_OTHERS: Mapping[str, Callable[[RetainedReport], str]] = {
    "markdown": markdown_text,
    "csv": csv_text,
    "json": json_text,
}


def render(report: RetainedReport, name: str, width: int | None = None) -> str:
    """Return the report in a format, see `reports.render.FORMATS`; `width`: of tables.

    Raises:
        UnknownNameError: there is no such format.
    """
    return table_text(report, width) if check_format(name) == TABLE else _OTHERS[name](report)
