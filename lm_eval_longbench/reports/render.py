"""The formats of a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lm_eval_longbench.errors import UnknownNameError
from lm_eval_longbench.reports.render_csv import csv_text
from lm_eval_longbench.reports.render_json import json_text
from lm_eval_longbench.reports.render_markdown import markdown_text
from lm_eval_longbench.reports.render_table import table_text
from lm_eval_longbench.reports.report import Report

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
