r"""Print a report as LaTeX tables: booktabs, one table a benchmark, and one a leaderboard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from lm_eval_longbench.benchmarks.base import Place
from lm_eval_longbench.benchmarks.registry import benchmarks
from lm_eval_longbench.figures.figure import Unit
from lm_eval_longbench.figures.tree import Difference
from lm_eval_longbench.reports.published import Leaderboard
from lm_eval_longbench.reports.report import BenchmarkReport, Cell, Report
from lm_eval_longbench.terminal import escaped_line

_SPECIAL = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}
_HEAD = "% Needs \\usepackage{booktabs}; Chinese names need xelatex or lualatex with a CJK font.\n"


def escaped_latex(text: str) -> str:
    """Return a text of one line that LaTeX prints as it is."""
    return "".join(_SPECIAL.get(character, character) for character in escaped_line(text))


def _interval(low: float | None, high: float | None, unit: Unit, *, signed: bool = False) -> str:
    if low is None or high is None:
        return ""
    ends = ", ".join(unit.shown(end, signed=signed) for end in (low, high))
    return rf" {{\scriptsize [{ends}]}}"


def _cell(figure: Cell | None, unit: Unit) -> str:
    if figure is None:
        return "--"
    shown = figure.shown(unit)
    return "--" if shown == "-" else shown + _interval(figure.low, figure.high, unit)


def _difference(found: Difference | None, unit: Unit) -> str:
    if found is None or found.value is None:
        return "--"
    text = unit.shown(found.value, signed=True)
    return text + _interval(found.low, found.high, unit, signed=True)


def _table(
    head: Sequence[str], groups: Sequence[tuple[str, Sequence[Sequence[str]]]], caption: str
) -> str:
    """Return a table of groups of rows; head and cells are LaTeX, captions and groups are not."""
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escaped_latex(caption)}}}",
        rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}",
        r"\toprule",
        " & ".join(head) + r" \\",
    ]
    for title, rows in groups:
        lines.append(r"\midrule")
        if title:
            heading = rf"\multicolumn{{{len(head)}}}{{l}}{{\emph{{{escaped_latex(title)}}}}}"
            lines.append(heading + r" \\")
        lines += [" & ".join(row) + r" \\" for row in rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


def _figures(report: BenchmarkReport) -> str:
    head = ["", *(escaped_latex(column.label) for column in report.columns)]
    head += [escaped_latex(pair.label) for pair in report.pairs]
    groups = []
    for section, rows in groupby(
        (row for row in report.rows if not row.detail), lambda row: row.section
    ):
        own = [
            [
                escaped_latex(row.name),
                *(_cell(figure, row.unit) for figure in row.figures),
                *(_difference(difference, row.unit) for difference in row.differences),
            ]
            for row in rows
        ]
        groups.append((section, own))
    return _table(head, groups, f"{report.title}. {benchmarks()[report.benchmark].unit_note}")


def _place(place: Place, title: str) -> str:
    section, name = place
    return escaped_latex(name if section in (name, title) else f"{section}: {name}")


def _leaderboard(board: Leaderboard, report: BenchmarkReport) -> str:
    unit = benchmarks()[report.benchmark].unit
    scale = unit.shown_factor / unit.factor
    rows = []
    for entry in board.entries:
        cells = [
            "--" if value is None else f"{scale * value:.{unit.decimals}f}"
            for value in entry.values
        ]
        name = escaped_latex(entry.name)
        rows.append([name if entry.published else rf"\textbf{{{name}}}", *cells])
    head = ["Model", *(_place(place, report.title) for place in board.places)]
    mode = f", {board.mode}" if board.mode else ""
    return _table(head, [("", rows)], f"{report.title}{mode}: published rows and runs (bold).")


def latex_text(report: Report) -> str:
    """Return a report as LaTeX: figures with 95% intervals, and leaderboards where asked for."""

    def tables() -> Iterator[str]:
        for benchmark in report.benchmarks:
            yield _figures(benchmark)
            for board in benchmark.leaderboards:
                if not board.reason:
                    yield _leaderboard(board, benchmark)

    return _HEAD + "\n".join(tables())
