"""Figures that were published for other models, and the rank that a run would take among them.

Sources and layouts stand in the module of each benchmark.
"""

from __future__ import annotations

import csv
import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lm_eval_longbench.benchmarks.registry import benchmark_of_table, benchmarks, tables
from lm_eval_longbench.language import Sentence, listed, sentence, several
from lm_eval_longbench.reporting.scored_run import ScoredRun, ScoredTable
from lm_eval_longbench.signature.protocol import MOST_COPIES, departures
from lm_eval_longbench.statistics.figure import Place

# Tasks named in a reason.
_NAMED = 3
# The published mode of LongBench Pro that has a larger output budget.
THINKING = "thinking"
# Columns that have an attribute of their own.
_OWN = ("model", "source", "caveat")
_NOT_OFFICIAL = "it is no run of the official protocol: {}"
# What ingredients are called that stand for more than their name.
_WORDS = {"data_sha256": "data", "generation": "generation arguments"}


@dataclass(frozen=True)
class PublishedRow:
    """The figures of one model in one mode.

    Attributes:
        model: as published.
        mode: LongBench Pro: "nonthinking" or "thinking"; v2: "direct" or "CoT"; "" where it is
            not stated or there is only one.
        values: in the benchmark's unit (percent; Pro: share), by place in the report.
        decimals: digits after the point of each value.
        source: where the row is from.
        caveat: why it is shown and not counted in ranks; "" for none.
        facts: what else is published of it, by column: its type, its context length, ...
    """

    model: str
    mode: str
    values: Mapping[Place, float]
    decimals: Mapping[Place, int]
    source: str
    caveat: str
    facts: Mapping[str, str] = field(default_factory=dict)


@functools.cache
def published_rows(benchmark: str) -> tuple[PublishedRow, ...]:
    """Return every published row of a benchmark; none if nothing is published for it."""
    known = benchmarks()[benchmark].published
    if known is None:
        return ()
    lines: list[dict[str, str]] = []
    for file in (known.file, *known.papers):
        with file.open(encoding="utf-8", newline="") as handle:
            lines += csv.DictReader(handle)
    rows = []
    for line in lines:
        texts, facts = {}, {}
        for name, text in line.items():
            place = known.place_of(name)
            if text and place:
                texts[place] = text
            elif text and name not in _OWN:
                facts[name] = text
        rows.append(
            PublishedRow(
                line["model"],
                known.modes.get(line.get(known.mode_column, ""), ""),
                {place: float(text) for place, text in texts.items()},
                {place: len(text.partition(".")[2]) for place, text in texts.items()},
                sentence(line.get("source") or known.source),
                sentence(line.get("caveat") or ""),
                facts,
            )
        )
    return tuple(rows)


@dataclass(frozen=True)
class Rank:
    """The rank of one figure of a run.

    Attributes:
        column: the run, as the report calls it.
        figure: section and name.
        mode: of the published rows; "" where there is only one.
        rank: 1 for the best; None if there is none.
        of: models ranked, the run among them.
        ties: published models with the same figure, at the precision it was published with.
        reason: why there is no rank; "" otherwise.
        unknown: what is not known of the protocol of a run that has a rank; "" for nothing.
    """

    column: str
    figure: Place
    mode: str
    rank: int | None
    of: int
    ties: tuple[str, ...]
    reason: str = ""
    unknown: str = ""


def why_not_ranked(table: ScoredTable, tasks: Iterable[str]) -> str:
    """Return why figures over some tasks cannot be ranked whatever the protocol was, or "".

    They must be of the official data, with all of their questions, each once, repeats and scores.
    """
    facts, tasks = table.facts, tuple(tasks)
    if not facts.is_official:
        return sentence("its data is not the official set (data: {})", facts.data_in_short)
    asked = ((task, facts.tasks.get(task, {}).get("questions", 0)) for task in tasks)
    short = [
        sentence("{} has {} of {} questions", task, number, table.info.tasks[task].questions)
        for task, number in asked
        if number != table.info.tasks[task].questions
    ]
    if short:
        return sentence("it is incomplete: {}", _first(short))
    copied = [text for task in tasks if (text := _copied(table, task))]
    if copied:
        return sentence("its questions are not distinct: {}", _first(copied))
    lacking = facts.counts.get("inconsistent") or 0
    return sentence("it is incomplete: {} questions lack repeats", lacking) if lacking else ""


def _copied(table: ScoredTable, task: str) -> str:
    """Return what shows that questions of a task are copies of others, or "".

    Some official questions are alike; see `protocol.MOST_COPIES`.
    """
    own = table.facts.tasks.get(task, {})
    copies = own.get("copies", 0)
    if copies is None and table.answers.ids_are_lines:
        return sentence("{} cannot be told, for its lines do not state their length", task)
    if (copies or 0) > MOST_COPIES:
        return sentence("{} of {} of {} are copies", copies, own.get("questions"), task)
    return ""


def _first(texts: Sequence[str]) -> Sentence:
    """Return some texts, and of how many more there are one like them."""
    named = listed(texts[:_NAMED], chinese="，")
    more = len(texts) - _NAMED
    return sentence("{} and {} more tasks", named, more) if more > 0 else named


@dataclass(frozen=True)
class ProtocolVerdict:
    """Whether figures are of the official protocol.

    Attributes:
        unlike: why they cannot be ranked whatever the protocol was; "" if they can.
        departs: in what they depart from the protocol.
        unknown: what is not known of it; "" for nothing.
    """

    unlike: str
    departs: tuple[Sentence, ...]
    unknown: str

    @property
    def reason(self) -> str:
        """Why they are not official; "" where nothing is known against it."""
        return self.unlike or several(self.departs)


def protocol_of_run(
    tables: Sequence[tuple[ScoredTable, Sequence[str]]], mode: str, lacking: Sequence[str] = ()
) -> tuple[tuple[Sentence, ...], str]:
    """Return in what a figure departs from the official protocol, and what is not known of it.

    Args:
        tables: with the tasks that the figure is made of.
        mode: of the published rows that it is compared with.
        lacking: what else is not known.

    Returns:
        Phrases, and one of what is not known; "" for nothing.
    """
    where: dict[Sentence, list[str]] = {}
    unknown: dict[str, None] = {}
    known = False
    for table, tasks in tables:
        facts = table.facts
        for task in tasks:
            signature = facts.signature_of(task)
            own = departures(
                benchmark_of_table(table.info.name),
                table.info.tasks[task],
                signature,
                facts.repeats,
                thinking=mode == THINKING,
            )
            for text in own.found:
                where.setdefault(text, []).append(task)
            unknown |= dict.fromkeys(own.unknown)
            known = known or not own.nothing_known
    number = sum(len(tasks) for _, tasks in tables)
    texts = []
    for text, tasks in where.items():
        if number > len(tasks) > _NAMED:
            text = sentence("{} in {} of {} tasks", text, len(tasks), number)
        elif len(tasks) < number:
            text = sentence("{} in {}", text, listed(tasks))
        texts.append(text)
    if unknown and not known:
        return tuple(texts), sentence("protocol not known")
    names = [sentence(_WORDS.get(name, name)) for name in [*unknown, *lacking]]
    return tuple(texts), sentence("not known: {}", listed(names)) if names else ""


def verdict_of(
    table: ScoredTable, tasks: Sequence[str], mode: str, run: ScoredRun | None = None
) -> ProtocolVerdict:
    """Return whether figures over some tasks of a table are of the official protocol.

    Args:
        table: of a run.
        tasks: that the figures are made of.
        mode: of the published rows that they are compared with.
        run: of the table, whose first pass with chain of thought counts too; None: it does not.
    """
    passes, lacking = [(table, tasks)], []
    if run is not None and lacks_first_pass(run, table):
        lacking = ["the first pass"]
    elif run is not None and table.info.first_pass:
        first = run.tables[table.info.first_pass]
        passes.append((first, list(first.info.tasks)))
    return ProtocolVerdict(why_not_ranked(table, tasks), *protocol_of_run(passes, mode, lacking))


def lacks_first_pass(run: ScoredRun, table: ScoredTable) -> bool:
    """Whether answers rest on a first pass with chain of thought that is not in their run.

    It may be of another model, or asked in another way.
    """
    return bool(table.info.first_pass) and table.info.first_pass not in run.tables


def rank_of(
    column: str,
    place: Place,
    mode: str,
    value: float | None,
    rows: Sequence[PublishedRow],
    reason: str = "",
    unknown: str = "",
) -> Rank:
    """Return the rank of a value among published rows.

    The value is rounded to the digits that were published; the rank is 1 plus the number of rows
    above it, so that a run that ties with others takes the best of their ranks.

    Args:
        column: the run.
        place: of the figure.
        mode: of the rows.
        value: in the benchmark's unit; None if it has none.
        rows: published rows of the mode; those with a caveat or without the figure do not count.
        reason: why it cannot be ranked; "" if it can.
        unknown: what is not known of its protocol.
    """
    rows = [row for row in rows if place in row.values and not row.caveat]
    of = len(rows) + 1
    if not reason and value is None:
        reason = sentence("it has no such figure (a sample is unscored)")
    if not reason and not rows:
        reason = sentence("no published figure of this mode can be counted")
    if reason or value is None:
        return Rank(column, place, mode, None, of, (), reason)
    digits = max(row.decimals[place] for row in rows)
    rounded = round(value, digits)
    above = sum(row.values[place] > rounded for row in rows)
    ties = tuple(row.model for row in rows if row.values[place] == rounded)
    return Rank(column, place, mode, above + 1, of, ties, unknown=unknown)


@dataclass(frozen=True)
class Entry:
    """One line: a published row, or a run.

    Attributes:
        name: model, or column of the run.
        values: in the benchmark's unit; None where there is none.
        published: the row it is, None for a run.
    """

    name: str
    values: tuple[float | None, ...]
    published: PublishedRow | None


@dataclass(frozen=True)
class Leaderboard:
    """The published rows comparable with one table, and the runs.

    Attributes:
        table: its name.
        mode: of the published rows.
        places: the figures that are shown.
        entries: the best first by the first figure; published rows before runs that tie.
        ranks: of the runs; those that have one, also in other modes that fit.
        reason: why there is nothing to compare with; "" otherwise.
    """

    table: str
    mode: str
    places: tuple[Place, ...]
    entries: tuple[Entry, ...]
    ranks: tuple[Rank, ...]
    reason: str = ""


def leaderboard(
    name: str, runs: Sequence[tuple[str, ScoredRun, Mapping[Place, float | None]]]
) -> Leaderboard:
    """Return the published rows of a table with runs of it.

    Rows whose mode is not stated are shown with every mode and counted in none.

    Args:
        name: the table.
        runs: column, the run, which has the table, and figures in the benchmark's unit.
    """
    own_table = tables()[name]
    benchmark = own_table.benchmark
    known = benchmarks()[benchmark].published
    if not own_table.published or known is None:
        title = f"{own_table.title} {own_table.mode}".strip()
        lacking = sentence("no figures of {} are published here", title)
        return Leaderboard(name, "", (), (), (), lacking)
    modes, ranked = own_table.published, known.shown[: known.ranked]
    rows = [row for row in published_rows(benchmark) if row.mode in ("", modes[0])]
    there = {place for _, _, own in runs for place in own if own[place] is not None}
    places = tuple(place for place in known.shown if place in there)
    if not there.intersection(ranked):
        # Of a run of some datasets these are what others can be compared with.
        named = dict.fromkeys(place for row in rows for place in row.values)
        places = tuple(place for place in named if place in there)
        rows = [row for row in rows if any(place in row.values for place in places)]
    entries = [Entry(row.model, tuple(map(row.values.get, places)), row) for row in rows]
    entries += [Entry(column, tuple(map(own.get, places)), None) for column, _, own in runs]
    entries.sort(key=lambda entry: -(entry.values[0] if entry.values[0] is not None else -1))
    ranks = []
    for column, run, own in runs:
        table = run.tables[name]
        for place in ranked:
            tasks = benchmarks()[benchmark].tasks_of(own_table, place)
            found = []
            for mode in modes:
                verdict = verdict_of(table, tasks, mode, run)
                published = [row for row in published_rows(benchmark) if row.mode == mode]
                reason = verdict.unlike
                if verdict.departs and not reason:
                    reason = sentence(_NOT_OFFICIAL, verdict.reason)
                value = own.get(place)
                found.append(
                    rank_of(column, place, mode, value, published, reason, verdict.unknown)
                )
            ranks += [rank for rank in found if rank.rank or rank.mode == modes[0]]
    return Leaderboard(name, modes[0], places, tuple(entries), tuple(ranks))
