"""Runs, published rows and official summaries as the entries of a page: numbers with intervals.

Numbers stand as tables show them: shares times 100, the effective context length in steps from the
shortest length.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lm_eval_longbench.benchmarks.base import Benchmark
from lm_eval_longbench.benchmarks.charts import Ladder, Look, Point
from lm_eval_longbench.benchmarks.registry import benchmarks
from lm_eval_longbench.errors import PredictionError
from lm_eval_longbench.files import read_json
from lm_eval_longbench.language import listed, sentence, several
from lm_eval_longbench.options import MOST_REPEATS
from lm_eval_longbench.records.results import is_scored
from lm_eval_longbench.reporting.notes import Column, note_on_column, warning_of
from lm_eval_longbench.reporting.published import PublishedRow, verdict_of
from lm_eval_longbench.statistics.answers import Columns
from lm_eval_longbench.statistics.effective import (
    ByTokens,
    Effective,
    effective,
    effective_of_published,
)
from lm_eval_longbench.statistics.figure import SHARES, Place, shares
from lm_eval_longbench.statistics.tree import (
    Contrast,
    Difference,
    Estimate,
    Leaf,
    Mean,
    Tree,
    estimate,
)

# ---------------------------------------------------------------------- official summaries

# The end of a summary's name, and what the official scripts put between it and the model.
_END = re.compile(r"[-_]?(context[-_].*|bon[-_].*)?summary$", re.IGNORECASE)
_REPEATS = "inference_iterations"
_COUNTS = ("total_samples_num", "fail_samples_num")


# Whose a summary is, and its figures as a row: without decimals and source.
Summary = tuple[Benchmark, PublishedRow]


def _whose(whole: Any) -> Benchmark | None:
    """Return the benchmark that a decoded file is a summary of; None: of none."""
    if not isinstance(whole, Mapping):
        return None
    found = (one for one in benchmarks().values() if one.overall and one.overall in whole)
    return next((one for one in found if isinstance(whole.get(_REPEATS), int)), None)


def _values(benchmark: Benchmark, table: str, whole: Mapping[str, Any]) -> dict[Place, float]:
    """Return the figures that a summary states, where the figures of no answers stand in one."""
    repeats = min(max(whole[_REPEATS], 1), MOST_REPEATS)
    answers = Columns(benchmark, benchmark.tables[table], repeats).finish()
    found = {}
    for figure in benchmark.figures(answers):
        value: Any = whole
        for name in figure.path[1:]:
            value = value.get(name) if isinstance(value, Mapping) else None
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if figure.path[:1] == ("official",) and is_number and 0 <= value <= figure.unit.factor:
            found[figure.place] = float(value)
    return found


def _summary(path: Path, benchmark: Benchmark, whole: Mapping[str, Any]) -> Summary:
    table = benchmark.tables[benchmark.official_table(whole, path.stem)]
    of_thinking = next(iter(benchmark.tables)) != table.name
    mode = table.published[0] if table.published else table.mode
    model = _END.sub("", path.stem)
    if of_thinking:  # the name of the mode is no part of the model's
        model = re.sub(r"[-_]thinking$", "", model, flags=re.IGNORECASE)
    model = re.sub(r"[-_]non[-_]?thinking$", "", model, flags=re.IGNORECASE)
    values = _values(benchmark, table.name, whole)
    samples, failed = (whole.get(name) for name in _COUNTS)
    known = isinstance(samples, int) and isinstance(failed, int) and samples > 0
    facts = {"failed": str(failed), "samples": str(samples)} if known else {}
    return benchmark, PublishedRow(model or path.stem, mode, values, {}, "", "", facts)


def read_summaries(paths: Sequence[Path]) -> tuple[list[Summary], list[Path]]:
    """Return the summaries under the paths, and the paths that hold none, in their order.

    Args:
        paths: summaries, folders of them, and what is anything else.

    Raises:
        PredictionError: a JSON file that is named, or ends in "summary.json", cannot be read.
    """
    found: list[Summary] = []
    others = []
    for path in paths:
        files = [path] if path.is_file() and path.suffix == ".json" else []
        if path.is_dir() and not is_scored(path):
            files = sorted(path.rglob("*summary.json"))
        own = []
        for file in files:
            whole = read_json(file, PredictionError)
            benchmark = _whose(whole)
            if benchmark is not None:
                own.append(_summary(file, benchmark, whole))
        found += own
        others += [] if own else [path]
    return found, others


# ---------------------------------------------------------------------- entries

# Sections of numbers that no figure of a report has.
EFFECTIVE, TOKENS, GAP, GAIN = "effective", "tokens", "gap", "gain"
EFFECTIVE_PLACE, GAP_PLACE, GAIN_PLACE = (EFFECTIVE, ""), (GAP, ""), (GAIN, "")
# The effective length by measured tokens.
TOKENS_PLACE = (EFFECTIVE, TOKENS)
# Digits behind the point that a page keeps: more than any table shows.
_DIGITS = 6
# What rounding may take from a whole number of steps.
_ZERO = 1e-9
YES, NO, UNKNOWN = "yes", "no", "unknown"
# Value, ends of the interval, questions; or nothing.
Number = list[float | int | None] | None


def number(found: Estimate | Difference | float | None, factor: float = 1.0) -> Number:
    """Return an estimate, or a value alone, times a factor as the page has it; None without one."""
    if not isinstance(found, Estimate | Difference):
        return None if found is None else [round(factor * found, _DIGITS), None, None, None]
    if found.value is None:
        return None
    ends = (found.value, found.low, found.high)
    return [*(None if end is None else round(factor * end, _DIGITS) for end in ends), found.n]


def _of_effective(found: Effective | None, ladder: Ladder) -> Number:
    """Return an effective length in steps; whole ones where lengths have names only."""
    if found is None:
        return None
    ends = (found.position, found.low, found.high)
    if ladder.shortest:
        return [*(None if end is None else round(end, _DIGITS) for end in ends), None]
    return [*(None if end is None else math.floor(end + _ZERO) for end in ends), None]


@dataclass
class PageEntry:
    """One model in one mode.

    Attributes:
        model: its name in print.
        mode: key of the mode.
        run: whether it is a run, and no published row.
        values: numbers by place.
        facts: what else is known of it, by name: "type", "context", "cut", "link", ...
        official: whether it is of the official protocol: "yes", "no" or "unknown".
        why: what is not official of it, or not known.
        notes: lines about the run.
        trees: of a run's figures, by place.
        column: of a run.
        decimals: digits behind the point that its numbers were published with; None: all.
        longest: where its longest prompts stand, in steps of measured length; None: not measured.
    """

    model: str
    mode: str
    run: bool
    values: dict[Place, Number] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    official: str = YES
    why: str = ""
    notes: list[str] = field(default_factory=list)
    trees: Mapping[Place, Tree] = field(default_factory=dict)
    column: Column | None = None
    decimals: int | None = None
    longest: float | None = None


def places_of(look: Look) -> list[Place]:
    """Return the places of all that a benchmark shows, each once."""
    found = [point.place for point in look.headline]
    for chart in look.charts:
        found += [point.place for panel in chart.panels for point in panel.points]
    found += [point.place for point in look.gap]
    if look.ladder is not None:
        found += [point.place for point in look.ladder.points]
    return list(dict.fromkeys(found))


def _trees_at(points: Sequence[Point], trees: Mapping[Place, Tree]) -> list[Leaf | Mean]:
    """Return the trees at some points; [] unless each is a mean."""
    own = [tree for one in points if isinstance(tree := trees.get(one.place), Leaf | Mean)]
    return own if len(own) == len(points) else []


def _protocol(column: Column, look: Look, modes: Sequence[str]) -> tuple[str, str, str]:
    """Return the mode that fits, whether the run is official in it, and why it is not."""
    table, benchmark = column.table, benchmarks()[column.table.info.benchmark]
    whys = []
    for mode in modes:
        verdicts = [
            verdict_of(table, benchmark.tasks_of(table.info, point.place), mode, column.run)
            for point in look.headline
        ]
        reasons = [verdict.reason for verdict in verdicts if verdict.reason]
        if len(reasons) < len(verdicts):
            unknown = verdicts[-1].unknown
            return mode, UNKNOWN if unknown else YES, several([*reasons, unknown])
        whys += reasons[:1]
    return modes[0], NO, whys[0] if whys else ""


def _cut(column: Column) -> str:
    """Return the limits at which prompts were cut, as far as they are known."""
    facts, found = column.table.facts, list[Any]()
    for task in facts.tasks:
        limit = facts.signature_of(task).get("limit")
        found += limit if isinstance(limit, list) else [limit]
    return ", ".join(dict.fromkeys(str(one) for one in found if isinstance(one, int)))


def run_entry(
    column: Column, look: Look, taken: set[str], share: float, by_tokens: ByTokens | None = None
) -> PageEntry:
    """Return the entry of one table of a run.

    Args:
        column: the table.
        look: of its benchmark.
        taken: modes that other tables of the run have already.
        share: of the effective context length.
        by_tokens: its score by measured length; None: lengths are not known.
    """
    table, info = column.table, column.table.info
    benchmark = benchmarks()[info.benchmark]
    mode, official, why = _protocol(column, look, info.published or (info.mode,))
    if not info.published or mode in taken:
        mode = info.mode
    figures = {figure.place: figure for figure in benchmark.chart_figures(table.answers)}
    figures |= {figure.place: figure for figure in shares(table.answers)}
    entry = PageEntry(column.run.name, mode, True, official=official, why=why, column=column)
    entry.trees = {place: figure.tree for place, figure in figures.items()}
    wanted = [*places_of(look), *(place for place in figures if place[0] == SHARES)]
    for place in wanted:
        if place in figures:
            found = estimate(figures[place].tree)
            entry.values[place] = number(found, figures[place].unit.shown_factor)
    if gap := _trees_at(look.gap, entry.trees):
        shown = number(estimate(Contrast(gap[0], gap[1])), benchmark.unit.shown_factor)
        entry.values[GAP_PLACE] = shown
    if look.ladder is not None and (trees := _trees_at(look.ladder.points, entry.trees)):
        entry.values[EFFECTIVE_PLACE] = _of_effective(effective(trees, share), look.ladder)
    if by_tokens is not None and look.tokens is not None:
        entry.values[TOKENS_PLACE] = _of_effective(by_tokens.effective(share), look.tokens)
        entry.longest = round(by_tokens.longest, _DIGITS)
    entry.facts = {
        "cut": _cut(column),
        "signature": str(table.facts.signature.get("line") or ""),
        "data": table.facts.data_text,
    }
    entry.notes = [note_on_column(column, signed=False)]
    if warning := warning_of(table):
        entry.notes.append(listed([warning, ""], ".", "。"))
    return entry


_SUMMARY = "an official summary, which does not tell its protocol"


def _from_means(
    entry: PageEntry, values: Mapping[Place, float], benchmark: Benchmark, look: Look, share: float
) -> None:
    """Give an entry what follows from means alone, in the benchmark's unit."""
    unit = benchmark.unit
    scale = unit.shown_factor / unit.factor
    for place in places_of(look):
        if place in values:
            entry.values[place] = number(values[place], scale)
    if look.gap and all(point.place in values for point in look.gap):
        one, other = (values[point.place] for point in look.gap)
        entry.values[GAP_PLACE] = number(one - other, scale)
    if look.ladder is not None:
        own = [values.get(point.place) for point in look.ladder.points]
        known = [None if value is None else value / unit.factor for value in own]
        found = effective_of_published(known, look.ladder.questions, share)
        entry.values[EFFECTIVE_PLACE] = _of_effective(found, look.ladder)


# Columns of published files by what a page calls them.
_FACTS = {
    "type": "type",
    "context_length": "context",
    "truncated_to": "cut",
    "date": "date",
    "organization": "organization",
    "params": "size",
}


def stated_entry(
    row: PublishedRow, benchmark: Benchmark, look: Look, share: float, *, is_run: bool
) -> PageEntry:
    """Return the entry of a published row, or of an official summary, which is of a run."""
    official = UNKNOWN if is_run else NO if row.caveat else YES
    why = sentence(_SUMMARY) if is_run else row.caveat
    entry = PageEntry(row.model, row.mode, is_run, official=official, why=why)
    _from_means(entry, row.values, benchmark, look, share)
    stated = [row.decimals[point.place] for point in look.headline if point.place in row.decimals]
    if stated:  # shown numbers have the digits of these, less those that a factor moves
        factor = benchmark.unit.shown_factor / benchmark.unit.factor
        entry.decimals = max(0, max(stated) - round(math.log10(factor)))
    facts = {new: row.facts[old] for old, new in _FACTS.items() if old in row.facts}
    if row.facts.get("thinking") == "yes":
        facts.setdefault("type", "Thinking")
    entry.facts = {**facts, "source": row.source}
    asked = next(iter(benchmark.tables.values())).questions * int(row.facts.get("runs", "0"))
    asked = int(row.facts.get("samples", asked))
    if "failed" in row.facts and asked:
        entry.values[SHARES, "failed"] = number(100 * int(row.facts["failed"]) / asked)
    return entry
