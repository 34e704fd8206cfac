"""What `run` prints last: headlines and verdicts, then categories, then notes, then files.

All are made of the report on the run. The whole of it is what `report` prints.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rich.cells import cell_len

from lm_eval_longbench.benchmarks.registry import benchmarks
from lm_eval_longbench.language import said, sentence, several, told
from lm_eval_longbench.records.answer import failed_text
from lm_eval_longbench.reporting.notes import Column, warning_of
from lm_eval_longbench.reporting.published import lacks_first_pass, verdict_of
from lm_eval_longbench.reporting.render import figure_parts, sections
from lm_eval_longbench.reporting.report import BenchmarkReport, Cell, Report, ReportRow

# Figures of a headline where none is official.
_FIGURES = 4
# Columns of text where nobody says how wide lines may be.
_WIDTH = 120


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


@dataclass(frozen=True)
class Asked:
    """How many questions a run was told to ask.

    Attributes:
        option: that left some out, such as "--limit 2"; "": none did.
        counts: by task how many of how many.
    """

    option: str = ""
    counts: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def departs(self, tasks: Iterable[str]) -> str:
        """Return that questions of some tasks were left out, in words; "" if none was."""
        own = [self.counts[task] for task in tasks if task in self.counts]
        some, every = sum(one for one, _ in own), sum(of for _, of in own)
        if some == every:
            return ""
        return sentence("{} of {} questions were asked ({})", some, every, self.option)


def _wrapped(text: str, width: int) -> list[str]:
    """Return the lines of a text that is broken between the parts of its list only."""
    tied = text.replace(" ", "\xa0").replace(",\xa0", ", ")
    lines = textwrap.wrap(tied, width, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\xa0", " ") for line in lines]


def _aligned(lines: Sequence[tuple[str, str]], width: int | None = None) -> str:
    """Return names and texts in two columns.

    Args:
        lines: names and texts.
        width: at which texts are wrapped; None: nowhere, for they may be commands and paths.
    """
    wide = max((cell_len(name) for name, _ in lines), default=0)  # Chinese takes two columns
    found = []
    for name, text in lines:
        parts = _wrapped(text, max(width - wide - 2, 20)) if width else [text]
        heads = [name, *[""] * (len(parts) - 1)]
        found += [
            f"{head}{' ' * (wide - cell_len(head))}  {part}".rstrip()
            for head, part in zip(heads, parts, strict=True)
        ]
    return "".join(f"{line}\n" for line in found)


# ---------------------------------------------------------------------- headlines and verdicts

_Known = list[tuple[ReportRow, Cell]]


def _tasks_here(column: Column) -> list[str]:
    """Return the tasks of a table that the run has, in the order of the table."""
    return [task for task in column.table.info.tasks if task in column.table.answers.expected]


def _title(report: BenchmarkReport, column: Column) -> str:
    return f"{report.title} {column.table.info.mode or ''}".strip()


def _named(known: _Known) -> str:
    """Return figures with their intervals, where they have one."""
    texts = []
    for row, cell in known:
        number, ends, _ = figure_parts(cell, row.unit)
        texts.append(f"{row.name} {number}{'' if cell.low is None else f' {ends}'}")
    return ", ".join(texts)


def _sections(report: BenchmarkReport, number: int) -> list[tuple[str, _Known]]:
    """Return the figures of a column that have a value by section; none that is one of another."""
    found = []
    for _, rows in sections(report.rows):
        own = [(row, cell) for row in rows if (cell := row.figures[number]) and cell.is_known]
        if own and not own[0][0].unit.signed:
            found.append((own[0][0].section, own))
    return found


def _means(report: BenchmarkReport, number: int) -> str:
    """Return the means over a benchmark's tasks, by length; "" where none has a value."""
    benchmark, column = benchmarks()[report.benchmark], report.columns[number]
    if benchmark.headline or len(_tasks_here(column)) < 2:
        return ""
    wanted = {name for _, name in (point.place for point in benchmark.look.headline)}
    means = [
        f"{figure.section} {figure.unit.shown(figure.tree.value)}"
        for figure in benchmark.chart_figures(column.table.answers)
        if figure.name in wanted and figure.unit == benchmark.unit and figure.tree.value is not None
    ]
    return f"{said('means over tasks')}: {', '.join(means)}" if means else ""


def _headline(report: BenchmarkReport, number: int) -> str:
    """Return the headline figures of a column; those of its tasks where it has none."""
    if means := _means(report, number):
        return means
    benchmark, known = benchmarks()[report.benchmark], _sections(report, number)
    every = [own for _, rows in known for own in rows]
    official = [own for own in every if (own[0].section, own[0].name) in benchmark.headline]
    if official:
        return _named(official)
    texts, left = [], _FIGURES
    main = [own for own in known if own[0] in benchmark.task_sections[:1]] or known
    for section, own in main:
        label = "" if section == benchmark.labelled else f"{section}: "
        texts += [f"{label}{_named(own[:left])}"] if left else []
        left = max(left - len(own), 0)
    more = sum(len(own) for _, own in main) - _FIGURES
    rest = f" {said('and {} more', more)}" if more > 0 else ""
    return "; ".join(texts) + rest or said("no value")


def _shares(columns: Sequence[Column]) -> str:
    """Return how many answers there are, and which share of them failed, was cut, ..."""
    counts = [column.table.facts.counts for column in columns]
    failures: Counter[str] = Counter()
    for column in columns:
        failures.update(column.table.answers.failures)
    texts = []
    for name in ("failed", "unscored", "truncated", "capped"):
        known = [own for own in counts if own.get(name) is not None]
        number = sum(own[name] or 0 for own in known)
        every = sum(own.get("samples") or 0 for own in known)
        if not known:
            texts.append(f"{said(name)} {said('not known')}")
        elif name == "failed" and number:
            texts.append(told(failed_text(number, failures)))
        elif name != "unscored" or number:
            share = 100 * number / every if every else 0.0
            texts.append(f"{said(name)} {number} ({share:.1f}%)")
    return f"{sum(own.get('samples') or 0 for own in counts)}: {', '.join(texts)}"


def official_protocol(columns: Sequence[Column], asked: Asked = Asked()) -> tuple[str, str]:
    """Return in what tables of one benchmark depart from the official protocol, and the unknown.

    Args:
        columns: of one run; with chain of thought both passes.
        asked: how many questions of them.

    Returns:
        Two phrases; both "": all was as officially.
    """
    reasons: dict[str, None] = {}  # each once
    unknown: dict[str, None] = {}
    for column in columns:
        modes, tasks = column.table.info.published or ("",), _tasks_here(column)
        verdict = verdict_of(column.table, tasks, modes[0])
        # Other data is among the departures.
        is_said = verdict.departs and not column.table.facts.is_official
        unlike = "" if is_said else verdict.unlike
        lacking = lacks_first_pass(column.run, column.table)
        reasons |= dict.fromkeys((asked.departs(tasks), unlike, *verdict.departs))
        unknown |= dict.fromkeys((verdict.unknown, sentence("the first pass") if lacking else ""))
    return several(reasons), several(unknown)


def is_official(report: Report, asked: Asked) -> bool:
    """Whether nothing in a run departs from the official protocol."""
    return not any(official_protocol(one.columns, asked)[0] for one in report.benchmarks)


def _opening(report: Report, asked: Asked) -> list[tuple[str, str]]:
    lines = []
    for one in report.benchmarks:
        for number, column in enumerate(one.columns):
            lines.append((_title(one, column), _headline(one, number)))
        departs, unknown = map(told, official_protocol(one.columns, asked))
        verdict = f"{said('not known')}: {unknown}" if unknown else said("yes")
        if departs:
            verdict = f"{said('no, because')}: {departs}"
        lines.append((said("official protocol"), verdict))
    return lines


def headlines(report: Report, asked: Asked = Asked()) -> list[str]:
    """Return the headline of each table of one run, and the verdict on each benchmark."""
    return [f"{name}: {text}" for name, text in _opening(report, asked)]


def opening(report: Report, asked: Asked = Asked()) -> str:
    """Return the first lines: headlines, whether they are official, and what became of answers.

    Args:
        report: on one run.
        asked: how many questions it was told to ask.
    """
    columns = [column for one in report.benchmarks for column in one.columns]
    return _aligned([*_opening(report, asked), (said("answers"), _shares(columns))])


# ---------------------------------------------------------------------- categories and notes


def categories(report: Report, width: int | None = None) -> str:
    """Return the other figures: a line a section.

    Args:
        report: on one run.
        width: longest line; None: one that reads well.
    """
    parts = []
    for one in report.benchmarks:
        known = benchmarks()[one.benchmark]
        for number, column in enumerate(one.columns):
            lines = []
            for section, own in _sections(one, number):
                others = [(row, c) for row, c in own if (section, row.name) not in known.headline]
                texts = [f"{row.name} {cell.shown(row.unit)}" for row, cell in others]
                if texts and section not in known.task_sections[1:]:
                    lines.append((section, ", ".join(texts)))
            title = f"{_title(one, column)}\n"
            if lines:
                alone = len(report.benchmarks) == len(one.columns) == 1
                parts.append(("" if alone else title) + _aligned(lines, width or _WIDTH))
    return "\n".join(parts)


def notes(report: Report) -> str:
    """Return what a reader must know of the figures, a line each."""
    lines: list[str] = []
    for one in report.benchmarks:
        warnings = [warning_of(column.table) for column in one.columns]
        lines += map(told, one.on_figures)
        lines += [said("Warning: {}.", text) for text in warnings if text]
    lines += [said("Remark: {}", remark) for remark in report.remarks]
    return "".join(f"{line}\n" for line in lines)


# ---------------------------------------------------------------------- files


def block(signatures: Mapping[str, str], files: Files) -> str:
    """Return the last lines of a run: where things are, and how to go on.

    Args:
        signatures: a line for each table.
        files: where things are.
    """
    lines = [(said("model"), files.model)]
    lines.append((said("results"), files.results or said("not written: give --output_path")))
    lines += [(said("log"), files.log)] if files.log else []
    lines += [(said("signature"), f"{name}: {line}") for name, line in signatures.items()]
    lines += [(said("next"), files.next)] if files.next else []
    return _aligned(lines)


def predicted(questions: int, files: Files) -> str:
    """Return what a run with --predict_only prints last."""
    told = said("{} questions, not scored (--predict_only)", questions)
    return f"{_aligned([(said('answers'), told)])}\n{block({}, files)}"
