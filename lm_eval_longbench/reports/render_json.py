"""Print a report as JSON: everything, unrounded."""

from __future__ import annotations

import json
from typing import Any

from lm_eval_longbench.figures.figure import Unit
from lm_eval_longbench.figures.intervals import FEWEST, LEVEL, RESAMPLES, SEED
from lm_eval_longbench.figures.tree import Difference
from lm_eval_longbench.reports.published import Leaderboard
from lm_eval_longbench.reports.report import BenchmarkReport, Cell, Column, Report, ReportRow
from lm_eval_longbench.version import __version__


def figure_json(figure: Cell | None, unit: Unit) -> dict[str, Any] | None:
    """Return a figure with its interval; None for none."""
    if figure is None:
        return None
    return {
        "value": unit.scaled(figure.value),
        "low": unit.scaled(figure.low),
        "high": unit.scaled(figure.high),
        "interval": figure.method,
        "reason": figure.reason or None,
        "n": figure.n,
        "documents": figure.documents,
        "failed": figure.failed,
        "unscored": figure.unscored,
        "official": figure.official,
    }


def difference_json(difference: Difference | None, unit: Unit) -> dict[str, Any] | None:
    """Return a difference with its interval; None for none."""
    if difference is None:
        return None
    return {
        "value": unit.scaled(difference.value),
        "low": unit.scaled(difference.low),
        "high": unit.scaled(difference.high),
        "p_value": difference.p_value,
        "reason": difference.reason or None,
        "n": difference.n,
    }


def _row(row: ReportRow) -> dict[str, Any]:
    return {
        "section": row.section,
        "name": row.name,
        "unit": row.unit.name,
        "figures": [figure_json(figure, row.unit) for figure in row.figures],
        "differences": [difference_json(difference, row.unit) for difference in row.differences],
    }


def _column(column: Column) -> dict[str, Any]:
    facts = column.table.facts
    reasoning = {key: facts.reasoning.get(key) for key in ("policy", "answers")}
    return {
        "label": column.label,
        "run": column.run.name,
        "table": column.table.info.name,
        "repeats": facts.repeats,
        "data": list(facts.data),
        "embedding_model": facts.embedding_model,
        "counts": dict(facts.counts),
        "failures": dict(column.table.answers.failures),
        "warnings": [warning] if (warning := column.table.capped_warning) else [],
        "problems": dict(column.run.problems),
        **({} if column.table.otherwise is None else {"reasoning": reasoning}),
    }


def _board(board: Leaderboard) -> dict[str, Any]:
    places = [list(place) for place in board.places]
    entries = []
    for entry in board.entries:
        row = entry.published
        line: dict[str, Any] = {"name": entry.name, "values": list(entry.values)}
        if row is not None:
            all_values = [[*place, value] for place, value in row.values.items()]
            line |= {"mode": row.mode, "source": row.source, "caveat": row.caveat}
            line["figures"] = all_values
        entries.append({"published": row is not None, **line})
    ranks = [
        {
            "column": rank.column,
            "figure": list(rank.place),
            "mode": rank.mode,
            "rank": rank.rank,
            "of": rank.of,
            "ties": list(rank.ties),
            "reason": rank.reason or None,
            "unknown": rank.unknown or None,
        }
        for rank in board.ranks
    ]
    return {
        "table": board.table,
        "mode": board.mode,
        "reason": board.reason or None,
        "figures": places,
        "entries": entries,
        "ranks": ranks,
    }


def _benchmark(report: BenchmarkReport) -> dict[str, Any]:
    return {
        "benchmark": report.benchmark,
        "title": report.title,
        "columns": [_column(column) for column in report.columns],
        "pairs": [
            {
                "label": pair.label,
                "first": pair.first,
                "second": pair.second,
                "shared": pair.shared,
                "by_line": pair.by_line,
                "reason": pair.reason or None,
            }
            for pair in report.pairs
        ],
        "figures": [_row(row) for row in report.rows],
        "notes": list(report.notes),
        "published": [_board(board) for board in report.leaderboards],
    }


def json_text(report: Report) -> str:
    """Return the report as JSON.

    Values are unrounded, in the benchmark's own unit ("unit": percent of v1, E and v2, share of
    Pro; relative figures are x/y - 1). `pairs` number the columns from 0.
    """
    value = {
        "format": 1,
        "package": f"lm-eval-longbench {__version__}",
        "method": {
            "level": LEVEL,
            "resamples": RESAMPLES,
            "seed": SEED,
            "fewest": FEWEST,
            "text": list(report.method),
        },
        "remarks": list(report.remarks),
        "benchmarks": [_benchmark(benchmark) for benchmark in report.benchmarks],
    }
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
