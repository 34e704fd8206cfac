"""Write tables in each format: rich for terminals, tabulate, csv and json for files."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any, Literal

import tabulate
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table as RichTable

from lm_eval_longbench.console import escaped, escaped_line
from lm_eval_longbench.errors import UnknownNameError
from lm_eval_longbench.version import __version__

# Number, interval or the mark in its place, and what stands beside them; ("",) for no figure.
CellParts = tuple[str, ...]
# A name, and the cells right of it.
TextRow = tuple[str, Sequence[CellParts]]


def joined(parts: Iterable[str]) -> str:
    """Return the parts of a cell as one text."""
    return " ".join(filter(None, parts))


@dataclass(frozen=True)
class TextTable:
    """A table with the notes under it; without columns the notes alone.

    Attributes:
        title: its heading; "" for none.
        heads: a label for each column, and what its cells hold, which may be "".
        groups: its rows by section, with the title of each, which may be "".
        notes: what a reader must know.
        paper: the labels in LaTeX, which is English and has no room for the texts at the right.
        caption: of it in LaTeX.
        strong: names of rows that stand out.
    """

    title: str
    heads: Sequence[tuple[str, str]]
    groups: Sequence[tuple[str, Sequence[TextRow]]]
    notes: Sequence[str]
    paper: Sequence[str] = ()
    caption: str = ""
    strong: Sequence[str] = ()

    @property
    def texts(self) -> int:
        """How many columns at the right are texts."""
        return len(self.heads) - len(self.paper)


@dataclass(frozen=True)
class Printed:
    """A report in every form.

    Attributes:
        tables: as people see it.
        closing: notes on all of them.
        lines: of CSV.
        first: columns of CSV that stand first.
        value: in JSON.
    """

    tables: Sequence[TextTable]
    closing: Sequence[str]
    lines: Sequence[Mapping[str, Any]]
    first: Sequence[str]
    value: Mapping[str, Any]


# ---------------------------------------------------------------------- writers

# Wide enough for any table where nobody says how wide lines may be.
_UNLIMITED = 100_000


def _rich(table: TextTable, chosen: range) -> RichTable:
    """Lay out the first column of a table and some of the others."""
    made = RichTable(title=table.title, title_justify="left")
    for number in (0, *chosen):
        label, holds = table.heads[number]
        lines = [label.replace(" less ", "\nless "), *filter(None, [holds])]
        is_number = 0 < number < len(table.heads) - table.texts and not holds
        justify: Literal["left", "right"] = "right" if is_number else "left"
        made.add_column("\n".join(lines), justify=justify, overflow="fold")
    for title, rows in table.groups:
        made.add_section()
        if title:
            made.add_row(title)
        for name, cells in rows:
            texts = (joined(cells[number - 1]) for number in chosen)
            made.add_row(f"  {name}" if title else name, *texts)
    return made


def _blocks(table: TextTable, console: Console) -> Iterator[RichTable]:
    """Yield one table, or several of as many columns as fit beside each other."""
    total, start = len(table.heads), 1
    unlimited = console.options.update(width=_UNLIMITED)

    def fits(end: int) -> bool:
        made = _rich(table, range(start, end))
        return Measurement.get(console, unlimited, made).maximum <= console.width

    while start < total:
        fewest = total if table.texts else start + 1
        end = next(filter(fits, range(total, fewest, -1)), fewest)
        yield _rich(table, range(start, end))
        start = end


def _terminal(own: Printed, width: int | None) -> str:
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
    for table in own.tables:
        for part in (*_blocks(table, console), *table.notes, ""):
            console.print(part)
    for note in own.closing:
        console.print(note)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def _tabulated(
    table: TextTable,
    kind: str | tabulate.TableFormat,
    escape: Callable[[str], str],
    *,
    heads: Sequence[str] = (),
    cell: Callable[[CellParts], str] | None = None,
    bold: str = "{}",
    section: str = "{}",
    line: Sequence[object] = (),
) -> str:
    """Return a table as tabulate writes it.

    Args:
        table: to write.
        kind: of tabulate.
        escape: of texts.
        heads: of the columns, which may be less than all; (): those of the table.
        cell: text of a cell; None: its parts beside each other.
        bold, section: around names that stand out, and titles of sections.
        line: a row between two sections.
    """
    if not heads:
        heads = ["<br>".join(filter(None, map(escape, head))) for head in table.heads]
    text_of = cell or (lambda parts: escape(joined(parts)))
    number, rows = len(heads) - 1, list[Any]()
    for title, group in table.groups:
        rows += line if rows else ()
        rows += [[section.format(escape(title)), *[""] * number]] if title else []
        for name, cells in group:
            look = bold if name in table.strong else "{}"
            rows.append([look.format(escape(name)), *map(text_of, cells[:number])])
    aligned = ["left", *["right"] * (len(table.paper) - 1), *["left"] * table.texts]
    return tabulate.tabulate(
        rows, heads, kind, disable_numparse=True, colalign=aligned[: number + 1]
    )


def escaped_markdown(text: str) -> str:
    """Return a text as Markdown shows it."""
    text = re.sub(r"[\\|*_`>]|<(?=[A-Za-z/!?])|\](?=\()", r"\\\g<0>", escaped(text))
    return " ".join(text.split())


def _markdown(own: Printed, width: int | None) -> str:
    parts = []
    for table in own.tables:
        if table.heads:
            parts.append(f"{'###' if table.texts else '##'} {table.title}")
            bold = "**{}**"
            parts.append(_tabulated(table, "pipe", escaped_markdown, bold=bold, section=bold))
        parts.append("\n".join(f"- {escaped_markdown(note)}" for note in table.notes))
    parts.append("\n".join(f"- {escaped_markdown(note)}" for note in own.closing))
    return "\n\n".join(parts) + "\n"


_SPECIAL = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}
_RULES = (tabulate.Line(rf"\{name}rule", "", "", "") for name in ("top", "mid", "bottom"))
_TOP, _MIDDLE, _BOTTOM = _RULES
_LINE = tabulate.DataRow("", " & ", r" \\")
_BOOKTABS = tabulate.TableFormat(_TOP, _MIDDLE, None, _BOTTOM, _LINE, _LINE, 0, None)


def escaped_latex(text: str) -> str:
    """Return a text of one line that LaTeX prints as it is."""
    return "".join(_SPECIAL.get(character, character) for character in escaped_line(text))


def _latex_cell(parts: CellParts) -> str:
    """Return number and interval, the latter in small letters."""
    number, *ends = parts[:2]
    if number in ("", "-", "-,"):
        return "--"
    return number + "".join(rf" {{\scriptsize {escaped_latex(end)}}}" for end in ends if end)


def _latex(own: Printed, width: int | None) -> str:
    found = []
    for table in own.tables:
        if not table.heads:
            continue
        text = _tabulated(
            table,
            _BOOKTABS,
            escaped_latex,
            heads=list(map(escaped_latex, table.paper)),
            cell=_latex_cell,
            bold=r"\textbf{{{}}}",
            section=r"\makebox[0pt][l]{{\emph{{{}}}}}",
            line=[tabulate.SEPARATING_LINE],
        )
        columns = f"l{'r' * (len(table.paper) - 1)}"
        found.append(
            f"\\begin{{table}}\n\\centering\n\\caption{{{escaped_latex(table.caption)}}}\n"
            f"\\begin{{tabular}}{{{columns}}}\n{text}\n\\end{{tabular}}\n\\end{{table}}\n"
        )
    head = "% Needs \\usepackage{booktabs}; Chinese names need xelatex or lualatex with a CJK font."
    return "\n".join([head, *found])


# What table programs take for a formula, where it is no number.
_FORMULA = re.compile(r"[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")


def _plain(cell: Any) -> Any:
    """Return a cell that no table program runs: a text after an apostrophe."""
    text = isinstance(cell, str) and _FORMULA.match(cell) and not _NUMBER.fullmatch(cell)
    return f"'{cell}" if text else cell


def csv_of(lines: Sequence[Mapping[str, Any]], first: Sequence[str] = ()) -> str:
    """Return lines as CSV, under the names of all their cells; `first`: those that stand first.

    Numbers are rounded as in tables; an empty cell is no figure.
    """
    names = dict.fromkeys(_plain(name) for own in (dict.fromkeys(first), *lines) for name in own)
    out = StringIO()
    writer = csv.DictWriter(out, list(names), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({_plain(name): _plain(own[name]) for name in own} for own in lines)
    return out.getvalue()


def _json(own: Printed, width: int | None) -> str:
    value = {"format": 1, "package": f"lm-eval-longbench {__version__}", **own.value}
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


_WRITERS: Mapping[str, Callable[[Printed, int | None], str]] = {
    "table": _terminal,
    "markdown": _markdown,
    "csv": lambda own, width: csv_of(own.lines, own.first),
    "json": _json,
    "latex": _latex,
}
FORMATS = tuple(_WRITERS)


def check_format(name: str) -> str:
    """Return a format's name; UnknownNameError if there is none such."""
    if name not in FORMATS:
        raise UnknownNameError("format", name, FORMATS)
    return name


def write(own: Printed, name: str, width: int | None = None) -> str:
    """Return a report in a format.

    Args:
        own: what is printed.
        name: one of FORMATS.
        width: longest line of "table", whose columns are split into blocks; None: no limit.

    Raises:
        UnknownNameError: there is no such format.
    """
    writer = _WRITERS[check_format(name)]
    return writer(own, width)
