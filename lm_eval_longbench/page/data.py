"""All that a page shows, as plain JSON values: the leaderboards, charts, differences and notes."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lm_eval_longbench.benchmarks.base import Benchmark, Place
from lm_eval_longbench.benchmarks.parts import BARS, Chart, Ladder, Look, Point, Text, same
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
    Number,
    PageEntry,
    Summary,
    number,
    places_of,
    published_entry,
    run_entry,
    summary_entry,
)
from lm_eval_longbench.page.samples import Lengths, measured
from lm_eval_longbench.reporting.notes import Column, method_of, remarks_by_table
from lm_eval_longbench.reporting.published import leaderboard, published_rows
from lm_eval_longbench.reporting.report import columns_of, pairs_of
from lm_eval_longbench.reporting.scored_run import ScoredRun
from lm_eval_longbench.statistics.counts import CAPPED, FAILED, LOSS, SHARES, TRUNCATED
from lm_eval_longbench.statistics.effective import SHARE
from lm_eval_longbench.statistics.tree import Difference, Pairing
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
# How lengths are known, where there are two ways.
_BY_RANGE: Text = (" by official length ranges", "（按官方长度区间）")
_BY_TOKENS: Text = (" by measured prompt tokens", "（按实测提示词token数）")
_GAIN: Text = ("{last} less {first}", "{last}减{first}")


class _Places:
    """The numbers that an entry may have, by their index."""

    def __init__(self, places: Iterable[Place]) -> None:
        self._index = {place: number for number, place in enumerate(dict.fromkeys(places))}

    def __getitem__(self, place: Place) -> int:
        return self._index[place]

    def as_json(self) -> list[list[str]]:
        return [list(place) for place in self._index]

    def values(self, values: Mapping[Place, Number]) -> list[Number]:
        return [values.get(place) for place in self._index]


def _point(point: Point, places: _Places) -> dict[str, Any]:
    return {"at": places[point.place], "label": list(point.label)}


def _chart(chart: Chart, places: _Places) -> dict[str, Any]:
    return {
        "name": chart.name,
        "kind": chart.kind,
        "title": list(chart.title),
        "signed": chart.signed,
        "panels": [
            {
                "title": list(panel.title),
                "points": [_point(point, places) for point in panel.points],
            }
            for panel in chart.panels
        ],
    }


def _ladder(ladder: Ladder | None) -> dict[str, Any] | None:
    if ladder is None:
        return None
    return {
        "labels": [list(point.label) for point in ladder.points],
        "shortest": ladder.shortest,
    }


def _own_chart(
    name: str, kind: str, title: Text, points: Iterable[Point], places: _Places, **more: Any
) -> dict[str, Any]:
    own = [_point(point, places) for point in points]
    panels = [{"title": ["", ""], "points": own}]
    base = {"name": name, "kind": kind, "title": list(title), "signed": kind == _DOTS}
    return {**base, "panels": panels, **more}


def _gain_title(look: Look) -> Text:
    (_, first), (_, last) = look.modes[0], look.modes[-1]
    english, chinese = (
        text.format(first=one, last=other)
        for text, one, other in zip(_GAIN, first, last, strict=True)
    )
    return english, chinese


def _charts(look: Look, entries: Sequence[PageEntry], places: _Places, share: float) -> list[Any]:
    """Return the benchmark's charts that some entry has a number for, and those all have."""
    has = {place for entry in entries for place, value in entry.values.items() if value}
    found = [_chart(chart, places) for chart in look.charts]
    text = f"{100 * share:g}%"
    both = look.tokens is not None
    for name, axis, place, by in (
        (EFFECTIVE, EFFECTIVE, EFFECTIVE_PLACE, _BY_RANGE if both else same("")),
        ("effective-tokens", TOKENS, TOKENS_PLACE, _BY_TOKENS),
    ):
        if place in has:
            title = (
                f"Effective context length{by[0]}: {text} of the score at the shortest length is "
                "kept",
                f"有效上下文长度{by[1]}：保持最短长度得分的{text}",
            )
            point = Point(place, ("Length", "长度"))
            found.append(_own_chart(name, _DOTS, title, [point], places, axis=axis, signed=False))
    if GAP_PLACE in has:
        title = ("Language gap: " + look.gap_title[0], "语言差距：" + look.gap_title[1])
        found.append(_own_chart("gap", _DOTS, title, [Point(GAP_PLACE, look.gap_title)], places))
    if GAIN_PLACE in has:
        title = ("Gain: " + _gain_title(look)[0], "增益：" + _gain_title(look)[1])
        point = Point(GAIN_PLACE, _gain_title(look))
        found.append(_own_chart("gain", _DOTS, title, [point], places))
    if (SHARES, LOSS) in has:
        title = (
            "Truncation loss: score of questions with a cut prompt less that of the others",
            "截断损失：提示被截断的问题得分减其余问题得分",
        )
        point = Point((SHARES, LOSS), ("Loss", "损失"))
        found.append(_own_chart("loss", _DOTS, title, [point], places))
    own = [Point((SHARES, name), text) for name, text in _SHARES.items() if (SHARES, name) in has]
    if own:
        title = ("Failed, capped and truncated, percent", "失败、达到上限与截断的比例（%）")
        found.append(_own_chart("shares", BARS, title, own, places))
    points = (
        (chart, [p["at"] for own in chart["panels"] for p in own["points"]]) for chart in found
    )
    known = {places[place] for place in has}
    return [chart for chart, own in points if known & set(own)]


def _look(benchmark: Benchmark, columns: Sequence[Column]) -> Look:
    """Return what a benchmark shows; of one that does not say, the first figure of its answers."""
    if benchmark.look.headline:
        return benchmark.look
    if benchmark.published is not None:
        places = list(benchmark.published.shown)
    else:
        figures = [own for one in columns[:1] for own in benchmark.figures(one.table.answers)]
        places = [figure.place for figure in figures if not figure.hidden][:1]
    return replace(
        benchmark.look, headline=tuple(Point(place, same(place[1] or place[0])) for place in places)
    )


def _difference(found: Difference | None, factor: float) -> list[float | int | None] | None:
    if found is None or found.value is None:
        return None
    low, high = (None if end is None else factor * end for end in (found.low, found.high))
    shown = number(factor * found.value, low, high, found.n) or []
    return [*shown, found.p_value]


def _differences(
    runs: Sequence[tuple[int, PageEntry]], wanted: Sequence[Place], factor: float
) -> list[dict[str, Any]]:
    """Return the paired differences of runs: of all pairs, or of each run's own tables."""
    compared = {"": list(runs)}
    if len(runs) > MOST_COMPARED:
        compared = {}
        for run in runs:
            compared.setdefault(run[1].model, []).append(run)
    pairs = (pair for own in compared.values() for pair in itertools.combinations(own, 2))
    found = []
    for (first, one), (second, other) in sorted(pairs, key=lambda pair: (pair[0][0], pair[1][0])):
        assert one.column is not None and other.column is not None
        (pair,) = pairs_of([one.column, other.column])
        pairing = Pairing()
        values: list[Any] = []
        for place in wanted:
            known = not pair.reason and place in one.trees and place in other.trees
            difference = pairing.difference(one.trees[place], other.trees[place]) if known else None
            values.append(_difference(difference, factor))
        found.append(
            {
                "first": first,
                "second": second,
                "shared": pair.shared,
                "reason": pair.reason,
                "by_line": pair.by_line,
                "values": values,
            }
        )
    return found


def _gains(
    look: Look, entries: Sequence[PageEntry], differences: Sequence[Mapping[str, Any]]
) -> None:
    """Give the entry of each model's last mode its gain over the first."""
    if len(look.modes) < 2 or not look.headline:
        return
    first, last = look.modes[0][0], look.modes[-1][0]
    by_model = {(one.model, one.run, one.mode): place for place, one in enumerate(entries)}
    by_ends = {(one["first"], one["second"]): one["values"][0] for one in differences}
    for place, entry in enumerate(entries):
        start = by_model.get((entry.model, entry.run, first))
        if entry.mode != last or start is None:
            continue
        base = entries[start]
        if entry.column is not None:
            sign = 1 if start < place else -1
            shown = by_ends.get((min(start, place), max(start, place)))
            if shown:
                low, high = (
                    sorted((sign * shown[1], sign * shown[2]))
                    if shown[1] is not None
                    else (None, None)
                )
                entry.values[GAIN_PLACE] = number(sign * shown[0], low, high, shown[3])
            continue
        one, other = (own.values.get(look.headline[0].place) for own in (entry, base))
        if one and other and one[0] is not None and other[0] is not None:
            entry.values[GAIN_PLACE] = number(one[0] - other[0], None, None, None)


def _ranks(benchmark: Benchmark, look: Look, entries: Sequence[PageEntry]) -> dict[int, str]:
    """Return the ranks that runs of the official protocol take among the published rows."""
    found: dict[int, str] = {}
    for name in benchmark.tables:
        own = {
            entry.column.label: (number, entry)
            for number, entry in enumerate(entries)
            if entry.column is not None and entry.column.table.info.name == name
        }
        runs = []
        for label, (_, entry) in own.items():
            assert entry.column is not None
            values: dict[Place, float | None] = {
                place: benchmark.unit.scaled(tree.value) for place, tree in entry.trees.items()
            }
            runs.append((label, entry.column.run, values))
        for rank in leaderboard(name, runs).ranks if runs else ():
            number, entry = own[rank.column]
            if rank.rank is not None and rank.figure == look.headline[0].place:
                text = f"{rank.rank} / {rank.of}"
                if rank.mode == entry.mode or number not in found:
                    found[number] = text
    return found


def _entry(entry: PageEntry, places: _Places, rank: str) -> dict[str, Any]:
    facts = {name: value for name, value in entry.facts.items() if value}
    return {
        "model": entry.model,
        "mode": entry.mode,
        "run": entry.run,
        "official": entry.official,
        "why": entry.why,
        "rank": rank,
        **facts,
        **({} if entry.decimals is None else {"decimals": entry.decimals}),
        **({} if entry.longest is None else {"longest": entry.longest}),
        "notes": entry.notes,
        "values": places.values(entry.values),
    }


def _benchmark(
    benchmark: Benchmark,
    runs: Sequence[ScoredRun],
    about: Mapping[str, Mapping[str, str]],
    share: float,
    summaries: Sequence[Summary],
    lengths: Mapping[str, Lengths],
    *,
    published: bool,
) -> dict[str, Any] | None:
    columns, unit = columns_of(benchmark.name, runs), benchmark.unit
    look = _look(benchmark, columns)
    entries: list[PageEntry] = []
    taken: dict[str, set[str]] = {}
    for column in columns:
        own = taken.setdefault(column.run.name, set())
        by_tokens = measured(column.table, lengths.get(column.run.name, {}))
        entry = run_entry(column, look, own, share, by_tokens)
        own.add(entry.mode)
        entry.facts |= about.get(entry.model, {})
        entries.append(entry)
    own_summaries = [one for one in summaries if one.benchmark is benchmark]
    entries += [summary_entry(one, look, share) for one in own_summaries]
    rows = published_rows(benchmark.name) if published else ()
    entries += [published_entry(row, benchmark, look, share) for row in rows]
    if not entries:
        return None
    wanted = places_of(look)
    factor = unit.shown_factor
    own_runs = [(number, entry) for number, entry in enumerate(entries) if entry.column]
    differences = _differences(own_runs, wanted, factor)
    _gains(look, entries, differences)
    extra = [(SHARES, name) for name in (*_SHARES, LOSS)]
    places = _Places([*wanted, *extra, EFFECTIVE_PLACE, TOKENS_PLACE, GAP_PLACE, GAIN_PLACE])
    ranks = _ranks(benchmark, look, entries) if look.headline else {}
    modes = [[name, list(text)] for name, text in look.modes]
    further = dict.fromkeys(
        entry.mode for entry in entries if entry.mode not in {name for name, _ in look.modes}
    )
    used = {entry.mode for entry in entries}
    return {
        "name": benchmark.name,
        "title": benchmark.title,
        "note": sentence(benchmark.unit_note),
        "remarks": [text for name, text in remarks_by_table(runs) if name in benchmark.tables],
        "decimals": unit.decimals,
        "modes": [own for own in modes if own[0] in used]
        + [[name, [name, name]] for name in further],
        "places": places.as_json(),
        "headline": [_point(point, places) for point in look.headline],
        "charts": _charts(look, entries, places, share),
        "ladder": _ladder(look.ladder),
        "tokens": _ladder(look.tokens),
        "special": {
            EFFECTIVE: places[EFFECTIVE_PLACE],
            TOKENS: places[TOKENS_PLACE],
            GAP: places[GAP_PLACE],
            GAIN: places[GAIN_PLACE],
            **{name: places[SHARES, name] for name in (FAILED, CAPPED, TRUNCATED)},
        },
        "compared": [places[place] for place in wanted],
        "entries": [
            _entry(entry, places, ranks.get(number, "")) for number, entry in enumerate(entries)
        ],
        "differences": differences,
    }


def page_data(
    runs: Sequence[ScoredRun],
    *,
    published: bool = False,
    only: Collection[str] = (),
    share: float = SHARE,
    about: Mapping[str, Mapping[str, str]] | None = None,
    unconfirmed: Sequence[Mapping[str, Any]] = (),
    summaries: Sequence[Summary] = (),
    lengths: Mapping[str, Lengths] | None = None,
) -> dict[str, Any]:
    """Return all that a page shows, without control characters.

    Args:
        runs: scored runs, with distinct names.
        published: whether published rows stand beside them.
        only: names of benchmarks to show; (): those of the runs, without runs all.
        share: of the effective context length, above 0 and at most 1.
        about: further facts of runs, by the run's name.
        unconfirmed: runs that `verify` does not confirm, with its reasons.
        summaries: of the official evaluation.
        lengths: of the prompts of runs, by the run's name; see `samples.lengths_of`.

    Raises:
        DataError: there is nothing to show.
    """
    found = []
    of_runs = {tables()[name].benchmark for run in runs for name in run.tables}
    of_runs |= {one.benchmark.name for one in summaries}
    for benchmark in benchmarks().values():
        if benchmark.name in (only or of_runs or benchmarks()):
            given = (runs, about or {}, share, summaries, lengths or {})
            own = _benchmark(benchmark, *given, published=published)
            found += [] if own is None else [own]
    if not found and not unconfirmed:
        raise DataError(
            "There is nothing to show: no run is given. Give scored runs, or --against published."
        )
    data = {
        "format": FORMAT,
        "package": f"lm-eval-longbench {__version__}",
        "share": share,
        "benchmarks": found,
        "method": list(method_of(differences=any(own["differences"] for own in found))),
        "unconfirmed": [dict(one) for one in unconfirmed],
    }
    return cleaned({**data, "chinese": dict(_chinese(data))})


def _chinese(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the reasons and notes of a page with their Chinese."""
    if isinstance(value, Sentence) and value != value.chinese:
        yield value, value.chinese
    if isinstance(value, Mapping | list | tuple):
        for own in value.values() if isinstance(value, Mapping) else value:
            yield from _chinese(own)
