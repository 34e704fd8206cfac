"""What `run` prints last: a short table a benchmark, and a block of at most twelve lines.

Both are made of the report on the run. The whole of it is what `report` prints.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Column as TableColumn
from rich.table import Table

from lm_eval_longbench.answers.answer import failed_text
from lm_eval_longbench.benchmarks.registry import benchmarks
from lm_eval_longbench.errors import few
from lm_eval_longbench.language import said, told
from lm_eval_longbench.reports.published import lacks_first_pass, verdict_of
from lm_eval_longbench.reports.render import FIGURE_HEADER, figure_text
from lm_eval_longbench.reports.report import BenchmarkReport, Cell, Column, Report, ReportRow

# Lines of the block, all its labels in one column.
MOST_LINES = 12
# Headlines and signatures share what the other lines leave: as many tables have lines of their own.
_MOST_TABLES = 2
_FIGURES, _REASONS, _TASKS = 4, 4, 3
_LACKING = "{} of {} tasks are not in this run: {}. Without them these have no value: {}."


@dataclass(frozen=True)
class Files:
    """Where a run has put what it made; "" for what there is not.

    Attributes:
        model: the backend and what it loaded.
        results: the folder of results and sample logs.
        log: the file of log records.
        next: a command to go on with.
    """

    model: str
    results: str
    log: str
    next: str


def _tasks_here(column: Column) -> list[str]:
    """Return the tasks of a table that the run has, in the order of the table."""
    return [task for task in column.table.info.tasks if task in column.table.answers.expected]


def _missing(column: Column) -> list[str]:
    here = set(_tasks_here(column))
    return [task for task in column.table.info.tasks if task not in here]


def _cells(report: BenchmarkReport) -> Iterator[tuple[ReportRow, list[Cell | None]]]:
    """Yield the rows that have a value, or a question whose score is missing."""
    lacking = [bool(_missing(column)) for column in report.columns]
    for row in report.rows:
        cells = [
            cell
            if cell and cell.n and not (cell.value is None and is_short and not cell.unscored)
            else None
            for cell, is_short in zip(row.figures, lacking, strict=True)
        ]
        if any(cells):
            yield row, cells


# ---------------------------------------------------------------------- the table


def _table(report: BenchmarkReport) -> Table | None:
    """Lay out the figures of more than one task: the harness has printed one row a task."""
    alone = benchmarks()[report.benchmark].task_sections
    labels = [column.table.info.mode or "" for column in report.columns]
    heads = [f"{label} {said(FIGURE_HEADER)}".strip() for label in labels]
    table = Table(
        TableColumn(said("figure"), no_wrap=True),
        *(TableColumn(head, no_wrap=True) for head in heads),
        title=report.title,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1, 0, 0),
    )
    section = ""
    for row, cells in _cells(report):
        if row.detail or row.section in alone:
            continue
        if row.section not in (section, row.name):
            table.add_row(said(row.section) if row.section == "headline" else row.section)
        section = row.section
        name = row.name if row.section == row.name else f"  {row.name}"
        table.add_row(name, *(figure_text(cell, row.unit) for cell in cells))
    return table if table.row_count else None


def tables_text(report: Report, width: int | None = None) -> str:
    """Return the tables of a run with the warnings on them.

    Args:
        report: on one run.
        width: longest line; None: no limit.
    """
    out = StringIO()
    console = Console(
        file=out, width=width or 1000, color_system=None, markup=False, highlight=False, emoji=False
    )
    for benchmark in report.benchmarks:
        table = _table(benchmark)
        if table is not None:
            console.print(table)
        for column in benchmark.columns:
            missing = _missing(column)
            if missing:
                every = len(column.table.info.tasks)
                headline = benchmarks()[benchmark.benchmark].headline
                names = ", ".join(name for _, name in headline) or said("means over tasks")
                lacking = told(few(missing, _TASKS))
                console.print(said(_LACKING, len(missing), every, lacking, names))
            if column.table.capped_warning:
                console.print(told(f"Warning: {column.table.capped_warning}."))
    for remark in report.remarks:
        console.print(told(f"Remark: {remark}"))
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


# ---------------------------------------------------------------------- the block


def _named(name: str, cell: Cell, row: ReportRow) -> str:
    ends = ""
    if cell.low is not None:
        ends = f" [{row.unit.shown(cell.low)}, {row.unit.shown(cell.high)}]"
    return f"{name} {cell.shown(row.unit)}{ends}"


def _means(report: BenchmarkReport, number: int) -> str:
    """Return the means over a benchmark's tasks, by length; "" where none has a value."""
    benchmark, answers = benchmarks()[report.benchmark], report.columns[number].table.answers
    wanted = {name for _, name in (point.place for point in benchmark.look.headline)}
    means = [
        f"{figure.section} {figure.unit.shown(figure.tree.value)}"
        for figure in benchmark.chart_figures(answers)
        if figure.name in wanted and figure.unit == benchmark.unit and figure.tree.value is not None
    ]
    return f"{said('means over tasks')}: {', '.join(means)}" if means else ""


def _headline(report: BenchmarkReport, number: int) -> str:
    """Return the headline figures of a column; those of its tasks where it has none."""
    places = benchmarks()[report.benchmark].headline
    if not places and _means(report, number):
        return _means(report, number)
    known = [(row, cells[number]) for row, cells in _cells(report)]
    named = [(row, cell) for row, cell in known if cell and (row.section, row.name) in places] or [
        (row, cell)
        for row, cell in known
        if cell and (not places or row.section in benchmarks()[report.benchmark].task_sections)
    ]
    if not named:
        named = [(row, cell) for row, cell in known if cell][:1]
    texts = [_named(row.name, cell, row) for row, cell in named if cell is not None]
    if not texts:
        return said("no value")
    more = len(texts) - _FIGURES
    return ", ".join(texts[:_FIGURES]) + (f" {said('and {} more', more)}" if more > 0 else "")


def _total(columns: Sequence[Column], name: str) -> tuple[int, int] | None:
    """Return how many of how many answers have a mark; None: it is known of none."""
    counts = [column.table.facts.counts for column in columns]
    known = [own for own in counts if own.get(name) is not None]
    if not known:
        return None
    return sum(own[name] or 0 for own in known), sum(own.get("samples") or 0 for own in known)


def _shares(columns: Sequence[Column]) -> str:
    texts = []
    for name in ("failed", "unscored", "truncated", "capped"):
        found = _total(columns, name)
        if found is None:
            texts.append(f"{said(name)} {said('not known')}")
        elif name != "unscored" or found[0]:
            number, every = found
            share = 100 * number / every if every else 0.0
            texts.append(f"{said(name)} {number} ({share:.1f}%)")
    failures: dict[str, int] = {}
    for column in columns:
        for reason, number in column.table.answers.failures.items():
            failures[reason] = failures.get(reason, 0) + number
    found = _total(columns, "failed")
    if found and found[0]:
        texts[0] = told(failed_text(found[0], failures))
    every = sum(column.table.facts.counts.get("samples") or 0 for column in columns)
    return f"{every}: {', '.join(texts)}"


def official_protocol(columns: Sequence[Column]) -> tuple[str, str]:
    """Return in what tables of one run depart from the official protocol, and what is not known.

    Args:
        columns: of one run; with chain of thought both passes.

    Returns:
        Two phrases; both "": all was as officially.
    """
    reasons: list[str] = []
    unknown: list[str] = []
    for column in columns:
        modes = column.table.info.published or ("",)
        verdict = verdict_of(column.table, _tasks_here(column), modes[0])
        unlike = verdict.unlike
        if verdict.departs and not column.table.facts.is_official:
            unlike = ""  # other data is among the departures
        for text in (unlike, *verdict.departs.split("; ")):
            if text and text not in reasons:
                reasons.append(text)
        lacking = [verdict.unknown] if verdict.unknown else []
        if lacks_first_pass(column.run, column.table):
            lacking.append("the first pass")
        unknown += [text for text in lacking if text not in unknown]
    more = f" {said('and {} more', len(reasons) - _REASONS)}" if len(reasons) > _REASONS else ""
    return told("; ".join(reasons[:_REASONS])) + more, told("; ".join(unknown))


def _protocol(columns: Sequence[Column]) -> str:
    departs, unknown = official_protocol(columns)
    if departs:
        return f"{said('no, because')}: {departs}"
    return f"{said('not known')}: {unknown}" if unknown else said("yes")


def _heads(report: Report) -> list[tuple[str, str]]:
    """Return the headline of each table of one run."""
    return [
        (f"{one.title} {column.table.info.mode or ''}".strip(), _headline(one, number))
        for one in report.benchmarks
        for number, column in enumerate(one.columns)
    ]


def headlines(report: Report) -> list[str]:
    """Return the headline of each table of one run, and the verdict on its protocol."""
    columns = [column for one in report.benchmarks for column in one.columns]
    lines = [*_heads(report), (said("official protocol"), _protocol(columns))]
    return [f"{name}: {text}" for name, text in lines]


def block(report: Report, signatures: Mapping[str, str], files: Files) -> str:
    """Return the last lines of a run, at most MOST_LINES of them.

    Args:
        report: on one run.
        signatures: a line for each table.
        files: where things are.
    """
    columns = [column for one in report.benchmarks for column in one.columns]
    lines = [(said("model"), files.model)]
    lines += _heads(report)[:_MOST_TABLES]
    lines.append((said("answers"), _shares(columns)))
    lines.append((said("official protocol"), _protocol(columns)))
    lines.append((said("results"), files.results or said("not written: give --output_path")))
    if files.log:
        lines.append((said("log"), files.log))
    own = list(signatures.items())
    lines += [(said("signature"), f"{name}: {line}") for name, line in own[:_MOST_TABLES]]
    if len(own) > _MOST_TABLES:
        name, line = lines[-1]
        lines[-1] = (name, f"{line} {said('and {} more', len(own) - _MOST_TABLES)}")
    lines.append((said("next"), files.next))
    wide = max(cell_len(name) for name, _ in lines)  # a Chinese character takes two columns
    return "".join(
        f"{name}{' ' * (wide - cell_len(name))}  {text}\n" for name, text in lines[:MOST_LINES]
    )
