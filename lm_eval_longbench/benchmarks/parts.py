"""What a benchmark has besides its tasks: charts, published rows, official settings.

Each point of a chart names a figure by its place, so that runs and published rows are drawn alike.
Texts are pairs: English and Chinese.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lm_eval_longbench.statistics.figure import Figure

# Section and name of a figure in reports.
Place = tuple[str, str]


@dataclass(frozen=True)
class Published:
    """How the published rows of a benchmark are laid out.

    Attributes:
        file: CSV with one row a model.
        place_of: section and name of the figure in a column; None: no figure.
        mode_column: column with a row's mode; "" for none.
        modes: name of each mode by what stands in that column.
        source: where all rows are from; "": each row says it.
        shown: figures that stand in a leaderboard.
        ranked: how many of them, from the first, are ranked.
        papers: further files of the same layout, whose rows have a source and a caveat each.
    """

    file: Path
    place_of: Callable[[str], Place | None]
    mode_column: str
    modes: Mapping[str, str]
    source: str
    shown: tuple[Place, ...]
    ranked: int
    papers: tuple[Path, ...] = ()


def nested(figures: Sequence[Figure], part: str) -> dict[str, Any]:
    """Return the official values of a part's figures, nested by their paths."""
    found: dict[str, Any] = {}
    for figure in figures:
        if figure.path[:1] == (part,):
            place = found
            for name in figure.path[1:-1]:
                place = place.setdefault(name, {})
            place[figure.path[-1]] = figure.official
    return found


# ---------------------------------------------------------------------- what pages and papers show

# The same in English and in Chinese.
Text = tuple[str, str]
LINES, BARS, RADAR, HEAT, INSIDE = "lines", "bars", "radar", "heat", "inside"
KINDS = (LINES, BARS, RADAR, HEAT, INSIDE)


def same(name: str) -> Text:
    """Return a text that is the same in both languages, as official names are."""
    return name, name


@dataclass(frozen=True)
class Point:
    """One figure on an axis.

    Attributes:
        place: of the figure.
        label: in print.
    """

    place: Place
    label: Text


def points(section: str, names: Iterable[str]) -> tuple[Point, ...]:
    """Return the figures of a section under their own names."""
    return tuple(Point((section, name), same(name)) for name in names)


@dataclass(frozen=True)
class Panel:
    """One coordinate system of a chart.

    Attributes:
        title: over it; empty where the chart has one panel only.
        points: its axis, in order.
    """

    title: Text
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Chart:
    """One chart.

    Attributes:
        name: in names of files.
        kind: "lines" over an ordered axis; "bars", a group a point; "radar"; "heat", a map with a
            row a model; "inside": a bar of the first point with a narrow one of the second in it.
        title: over it.
        panels: side by side, all with the same scale.
        signed: whether figures are relative, so that the scale has 0 within.
    """

    name: str
    kind: str
    title: Text
    panels: tuple[Panel, ...]
    signed: bool = False


def chart(name: str, kind: str, title: Text, own: Iterable[Point]) -> Chart:
    """Return a chart of one panel."""
    return Chart(name, kind, title, (Panel(same(""), tuple(own)),))


@dataclass(frozen=True)
class Ladder:
    """The lengths along which a score is followed.

    Attributes:
        points: one a length, the shortest first.
        shortest: of the first one in thousands of tokens, where each is twice the one before; 0:
            lengths are ranges, which have names only.
        questions: official questions of each, for published rows; (): not known.
    """

    points: tuple[Point, ...]
    shortest: int = 0
    questions: tuple[int, ...] = ()


# Measured lengths of prompts, where official lengths are ranges; see `figures.effective`.
TOKENS = Ladder(points("tokens", [f"{8 << step}k" for step in range(8)]), shortest=8)


@dataclass(frozen=True)
class Look:
    """What pages and papers show of a benchmark.

    Attributes:
        headline: figures of the leaderboard, the first of which orders it.
        charts: in the order of the page.
        ladder: lengths for the effective context length; None: none.
        tokens: measured lengths for the same, where logs tell how long prompts are; None: none.
        gap: two figures of different questions, the first less the second; (): none.
        gap_title: of their difference.
        modes: names in print of the modes that scores of one model differ in, in the order of
            columns; {"": ...} where there is one only. The gain is that of the last over the first.
    """

    headline: tuple[Point, ...] = ()
    charts: tuple[Chart, ...] = ()
    ladder: Ladder | None = None
    tokens: Ladder | None = None
    gap: tuple[Point, ...] = ()
    gap_title: Text = ("", "")
    modes: tuple[tuple[str, Text], ...] = (("", ("", "")),)
