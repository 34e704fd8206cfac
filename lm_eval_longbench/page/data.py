"""All that a page shows, as plain JSON values: the leaderboards, charts, differences and notes."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lm_eval_longbench.benchmarks.base import Benchmark
from lm_eval_longbench.benchmarks.charts import BARS, Chart, Ladder, Look, Point, Text, chart, same
from lm_eval_longbench.benchmarks.registry import benchmarks, tables
from lm_eval_longbench.errors import DataError
from lm_eval_longbench.language import Sentence, sentence
from lm_eval_longbench.page.build import cleaned
from lm_eval_longbench.page.entries import (
    EFFECTIVE,
    EFFECTIVE_PLACE,
    GAIN,
    GAIN_PLACE,
    GAP,
    GAP_PLACE,
    TOKENS,
    TOKENS_PLACE,
    PageEntry,
    Summary,
    number,
    places_of,
    run_entry,
    stated_entry,
)
from lm_eval_longbench.page.samples import Lengths, measured
from lm_eval_longbench.reporting.notes import Column, method_of, remarks_by_table
from lm_eval_longbench.reporting.published import leaderboard, published_rows
from lm_eval_longbench.reporting.report import columns_of, pair_of
from lm_eval_longbench.reporting.scored_run import ScoredRun
from lm_eval_longbench.statistics.effective import SHARE
from lm_eval_longbench.statistics.figure import CAPPED, FAILED, LOSS, SHARES, TRUNCATED, Place
from lm_eval_longbench.statistics.tree import Pairing
from lm_eval_longbench.version import __version__

FORMAT = 1
# Tables of one benchmark beyond which only those of one run are compared: pairs grow as squares.
MOST_COMPARED = 8
_DOTS = "dots"
_SHARES: dict[str, Text] = {
    FAILED: ("Failed", "失败"),
    CAPPED: ("Capped", "达到输出上限"),
    TRUNCATED: ("Truncated", "提示被截断"),
}
_KEPT: Text = (
    "Effective context length{}: {} of the score at the shortest length is kept",
    "有效上下文长度{}：保持最短长度得分的{}",
)
# How lengths are known, where there are two ways.
_BY_RANGE: Text = (" by official length ranges", "（按官方长度区间）")
_BY_TOKENS: Text = (" by measured prompt tokens", "（按实测提示词token数）")
_GAIN: Text = ("{} less {}", "{}减{}")
_LOSS: Text = (
    "Truncation loss: score of questions with a cut prompt less that of the others",
    "截断损失：提示被截断的问题得分减其余问题得分",
)


@dataclass(frozen=True)
class PageInput:
    """What a page is made of.

    Attributes:
        runs: scored runs, with distinct names.
        published: whether published rows stand beside them.
        only: names of benchmarks to show; (): those of the runs, without runs all.
        share: of the effective context length, above 0 and at most 1.
        about: further facts of runs, by the run's name.
        unconfirmed: runs that `verify` does not confirm, with its reasons.
        summaries: of the official evaluation.
        lengths: of the prompts of runs, by the run's name; see `samples.lengths_of`.
    """

    runs: Sequence[ScoredRun]
    published: bool = False
    only: Collection[str] = ()
    share: float = SHARE
    about: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    unconfirmed: Sequence[Mapping[str, Any]] = ()
    summaries: Sequence[Summary] = ()
    lengths: Mapping[str, Lengths] = field(default_factory=dict)


# ---------------------------------------------------------------------- charts


def _filled(text: Text, *parts: Text) -> Text:
    """Return a text in both languages, its `{}` filled in."""
    english, chinese = (own.format(*each) for own, *each in zip(text, *parts, strict=True))
    return english, chinese


def _own_charts(look: Look, share: float) -> Iterator[tuple[Chart, dict[str, Any]]]:
    """Yield the charts that every benchmark has, with what sets them apart for the script."""
    text, length = same(f"{100 * share:g}%"), ("Length", "长度")
    by_range = _BY_RANGE if look.tokens is not None else same("")
    for name, axis, way, place in (
        ("effective", EFFECTIVE, by_range, EFFECTIVE_PLACE),
        ("effective-tokens", TOKENS, _BY_TOKENS, TOKENS_PLACE),
    ):
        yield chart(name, _DOTS, _filled(_KEPT, way, text), [Point(place, length)]), {"axis": axis}
    gain = _filled(_GAIN, look.modes[-1][1], look.modes[0][1])
    for name, start, own, place in (
        ("gap", ("Language gap: {}", "语言差距：{}"), look.gap_title, GAP_PLACE),
        ("gain", ("Gain: {}", "增益：{}"), gain, GAIN_PLACE),
        ("loss", _LOSS, ("Loss", "损失"), (SHARES, LOSS)),
    ):
        yield chart(name, _DOTS, _filled(start, own), [Point(place, own)]), {"signed": True}
    points = [Point((SHARES, name), own) for name, own in _SHARES.items()]
    title = ("Failed, capped and truncated, percent", "失败、达到上限与截断的比例（%）")
    yield chart("shares", BARS, title, points), {}


def _point(point: Point, places: Mapping[Place, int]) -> dict[str, Any]:
    return {"at": places[point.place], "label": list(point.label)}


def _charts(
    look: Look, entries: Sequence[PageEntry], places: Mapping[Place, int], share: float
) -> Iterator[dict[str, Any]]:
    """Yield the benchmark's charts, and those that all have, that some entry has a number for."""
    has = {place for entry in entries for place, value in entry.values.items() if value}
    for one, more in [*((one, {}) for one in look.charts), *_own_charts(look, share)]:
        panels = []
        for panel in one.panels:
            points = [point for point in panel.points if one.name != SHARES or point.place in has]
            shown = [_point(point, places) for point in points]
            panels.append({"title": list(panel.title), "points": shown})
        if has & {point.place for panel in one.panels for point in panel.points}:
            base = {"name": one.name, "kind": one.kind, "title": list(one.title)}
            yield {**base, "signed": one.signed, "panels": panels, **more}


def _ladder(ladder: Ladder | None) -> dict[str, Any] | None:
    if ladder is None:
        return None
    return {"labels": [list(own.label) for own in ladder.points], "shortest": ladder.shortest}


# ---------------------------------------------------------------------- one benchmark


def _look(benchmark: Benchmark, columns: Sequence[Column]) -> Look:
    """Return what a benchmark shows; of one that does not say, the first figure of its answers."""
    if benchmark.look.headline:
        return benchmark.look
    if benchmark.published is not None:
        places = list(benchmark.published.shown)
    else:
        figures = [own for one in columns[:1] for own in benchmark.figures(one.table.answers)]
        places = [figure.place for figure in figures if not figure.hidden][:1]
    headline = tuple(Point(place, same(place[1] or place[0])) for place in places)
    return replace(benchmark.look, headline=headline)


def _difference(
    one: PageEntry, other: PageEntry, wanted: Sequence[Place], factor: float
) -> dict[str, Any]:
    """Return the paired differences of two runs, the second less the first."""
    assert one.column is not None and other.column is not None
    pair, pairing = pair_of([one.column, other.column], 0, 1), Pairing()
    values: list[Any] = []
    for place in wanted:
        found = None
        if not pair.reason and place in one.trees and place in other.trees:
            found = pairing.difference(one.trees[place], other.trees[place])
        shown = number(found, factor) if found is not None else None
        values.append(None if shown is None or found is None else [*shown, found.p_value])
    reason = {"shared": pair.shared, "reason": pair.reason, "by_line": pair.by_line}
    return {**reason, "values": values}


def _differences(
    entries: Sequence[PageEntry], wanted: Sequence[Place], factor: float
) -> list[dict[str, Any]]:
    """Return the paired differences of runs: of all pairs, or of each run's own tables."""
    runs = [(place, own) for place, own in enumerate(entries) if own.column is not None]
    few = len(runs) <= MOST_COMPARED
    return [
        {"first": first, "second": second, **_difference(one, other, wanted, factor)}
        for (first, one), (second, other) in itertools.combinations(runs, 2)
        if few or one.model == other.model
    ]


def _gains(look: Look, entries: Sequence[PageEntry], factor: float) -> None:
    """Give the entry of each model's last mode its gain over the first."""
    if len(look.modes) < 2 or not look.headline:
        return
    first, last, place = look.modes[0][0], look.modes[-1][0], look.headline[0].place
    by_model = {(one.model, one.run, one.mode): one for one in entries}
    for entry in entries:
        base = by_model.get((entry.model, entry.run, first))
        if entry.mode != last or base is None:
            continue
        if entry.column is not None and base.column is not None:
            (shown,) = _difference(base, entry, [place], factor)["values"]
            entry.values[GAIN_PLACE] = shown and shown[:4]
        elif entry.column is None:
            one, other = (own.values.get(place) for own in (entry, base))
            if one and other and one[0] is not None and other[0] is not None:
                entry.values[GAIN_PLACE] = number(one[0] - other[0])


def _ranks(benchmark: Benchmark, look: Look, entries: Sequence[PageEntry]) -> dict[str, str]:
    """Return by column the ranks that official runs take among the published rows."""
    found: dict[str, str] = {}
    own = {entry.column.label: entry for entry in entries if entry.column is not None}
    for name in benchmark.tables:
        runs = []
        for label, entry in own.items():
            if entry.column is not None and entry.column.table.info.name == name:
                scaled = benchmark.unit.scaled
                values = {place: scaled(tree.value) for place, tree in entry.trees.items()}
                runs.append((label, entry.column.run, values))
        for rank in leaderboard(name, runs).ranks if runs and look.headline else ():
            is_shown = rank.rank is not None and rank.figure == look.headline[0].place
            if is_shown and (rank.column not in found or rank.mode == own[rank.column].mode):
                found[rank.column] = f"{rank.rank} / {rank.of}"
    return found


def _entry(entry: PageEntry, places: Collection[Place], ranks: Mapping[str, str]) -> dict[str, Any]:
    further = {"decimals": entry.decimals, "longest": entry.longest}
    return {
        **{name: getattr(entry, name) for name in ("model", "mode", "run", "official", "why")},
        "rank": ranks.get(entry.column.label, "") if entry.column is not None else "",
        **{name: value for name, value in entry.facts.items() if value},
        **{name: value for name, value in further.items() if value is not None},
        "notes": entry.notes,
        "values": [entry.values.get(place) for place in places],
    }


def _entries(benchmark: Benchmark, look: Look, given: PageInput) -> list[PageEntry]:
    """Return runs, official summaries and published rows of a benchmark."""
    entries: list[PageEntry] = []
    taken: dict[str, set[str]] = {}
    for column in columns_of(benchmark.name, given.runs):
        modes = taken.setdefault(column.run.name, set())
        by_tokens = measured(column.table, given.lengths.get(column.run.name, {}))
        entry = run_entry(column, look, modes, given.share, by_tokens)
        modes.add(entry.mode)
        entry.facts |= given.about.get(entry.model, {})
        entries.append(entry)
    entries += [
        stated_entry(row, benchmark, look, given.share, is_run=True)
        for own, row in given.summaries
        if own is benchmark
    ]
    rows = published_rows(benchmark.name) if given.published else ()
    entries += [stated_entry(row, benchmark, look, given.share, is_run=False) for row in rows]
    return entries


def _benchmark(benchmark: Benchmark, given: PageInput) -> dict[str, Any] | None:
    unit, look = benchmark.unit, _look(benchmark, columns_of(benchmark.name, given.runs))
    entries = _entries(benchmark, look, given)
    if not entries:
        return None
    wanted = places_of(look)
    _gains(look, entries, unit.shown_factor)
    special = {EFFECTIVE: EFFECTIVE_PLACE, TOKENS: TOKENS_PLACE, GAP: GAP_PLACE, GAIN: GAIN_PLACE}
    shares = {name: (SHARES, name) for name in _SHARES}
    all_places = dict.fromkeys([*wanted, *shares.values(), (SHARES, LOSS), *special.values()])
    places = {place: number for number, place in enumerate(all_places)}
    ranks = _ranks(benchmark, look, entries)
    modes, used = dict(look.modes), {entry.mode: same(entry.mode) for entry in entries}
    known = {name: text for name, text in modes.items() if name in used}
    shown_modes = {**known, **{name: text for name, text in used.items() if name not in known}}
    remarks = remarks_by_table(given.runs)
    return {
        "name": benchmark.name,
        "title": benchmark.title,
        "note": sentence(benchmark.unit_note),
        "remarks": [text for name, text in remarks if name in benchmark.tables],
        "decimals": unit.decimals,
        "modes": [[name, list(text)] for name, text in shown_modes.items()],
        "places": list(map(list, places)),
        "headline": [_point(point, places) for point in look.headline],
        "charts": list(_charts(look, entries, places, given.share)),
        "ladder": _ladder(look.ladder),
        "tokens": _ladder(look.tokens),
        "special": {name: places[place] for name, place in {**special, **shares}.items()},
        "compared": [places[place] for place in wanted],
        "entries": [_entry(entry, places, ranks) for entry in entries],
        "differences": _differences(entries, wanted, unit.shown_factor),
    }


# ---------------------------------------------------------------------- the page


def page_data(runs: Sequence[ScoredRun], **more: Any) -> dict[str, Any]:
    """Return all that a page shows, without control characters.

    Args:
        runs: scored runs, with distinct names.
        more: see `PageInput`.

    Raises:
        DataError: there is nothing to show.
    """
    given = PageInput(runs, **more)
    of_runs = {tables()[name].benchmark for run in runs for name in run.tables}
    wanted = given.only or of_runs | {own.name for own, _ in given.summaries} or benchmarks()
    made = (_benchmark(own, given) for own in benchmarks().values() if own.name in wanted)
    found = [own for own in made if own is not None]
    if not found and not given.unconfirmed:
        raise DataError(
            "There is nothing to show: no run is given. Give scored runs, or --against published."
        )
    data = {
        "format": FORMAT,
        "package": f"lm-eval-longbench {__version__}",
        "share": given.share,
        "benchmarks": found,
        "method": method_of(differences=any(own["differences"] for own in found)),
        "unconfirmed": given.unconfirmed,
    }
    return cleaned({**data, "chinese": dict(_chinese(data))})


def _chinese(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the reasons and notes of a page with their Chinese."""
    if isinstance(value, Sentence) and value != value.chinese:
        yield value, value.chinese
    if isinstance(value, Mapping | list | tuple):
        for own in value.values() if isinstance(value, Mapping) else value:
            yield from _chinese(own)
